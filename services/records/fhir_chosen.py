"""The client of the FHIR server that the settings name."""

import aiohttp

from data_models.clock import Clock
from services.records.base_url import checked_base_url
from services.records.fhir_client import FhirClient, FhirLimits, TokenSource
from services.records.fhir_identity import ManagedIdentity
from services.records.fhir_sign_in import (
    Client,
    ClientCredentials,
    OwnToken,
    Tokens,
    key_in,
)
from settings import Settings


def fhir_client_for(
    settings: Settings, *, session: aiohttp.ClientSession, clock: Clock
) -> FhirClient:
    """Return the client of `FHIR_BASE_URL`, which signs in as the settings say.

    Raises:
        ConfigurationError: the address or the key is not usable.
    """
    return FhirClient(
        base_url=checked_base_url(settings.fhir_base_url or ""),
        tokens=_tokens(settings, session=session, clock=clock),
        session=session,
        clock=clock,
        limits=FhirLimits(),
    )


def _tokens(
    settings: Settings, *, session: aiohttp.ClientSession, clock: Clock
) -> TokenSource | None:
    base_url = checked_base_url(settings.fhir_base_url or "")
    if settings.fhir_token is not None:
        return OwnToken(token=settings.fhir_token.get_secret_value())
    if settings.fhir_managed_identity:
        scope = f"{base_url.origin()}/.default"
        return Tokens(sign_in=ManagedIdentity(scope=scope, clock=clock), clock=clock)
    if settings.fhir_client_id is None:
        return None
    secret, file = settings.fhir_client_secret, settings.fhir_client_key_file
    client = Client(
        client_id=settings.fhir_client_id,
        scope=settings.fhir_scope,
        token_url=settings.fhir_token_url,
        secret=secret.get_secret_value() if secret else None,
        key=key_in(file, key_id=settings.fhir_client_key_id) if file else None,
    )
    sign_in = ClientCredentials(client=client, base_url=base_url, session=session, clock=clock)
    return Tokens(sign_in=sign_in, clock=clock)
