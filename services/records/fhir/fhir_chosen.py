"""The client of the FHIR server that the settings name."""

from yarl import URL

from data_models import errors
from services import own_sign_in
from services.basis import Basis
from services.records.fhir.fhir_client import FhirClient, FhirLimits
from settings import is_loopback_host

# The address of a FHIR server, as an operator writes it.

TOKEN_ERRORS = own_sign_in.TokenErrors(
    refused=errors.RecordsRefusedError,
    busy=errors.RecordsBusyError,
    unreadable=errors.RecordsUnreadableError,
)
_EXAMPLE = "such as https://fhir.hospital.example/r4"


def checked_base_url(text: str) -> URL:
    """Return `text` as the base URL of a FHIR server.

    Raises:
        ConfigurationError: it is not a plain https address; http is for loopback only, because
            the token would travel readable.
    """
    try:
        url = URL(text.rstrip("/"))
    except ValueError:
        raise errors.ConfigurationError(
            f"FHIR_BASE_URL is no address; set one {_EXAMPLE}"
        ) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise errors.ConfigurationError(f"FHIR_BASE_URL must begin with https://, {_EXAMPLE}")
    if url.user or url.password or url.query_string or url.fragment:
        raise errors.ConfigurationError(f"FHIR_BASE_URL must be a plain address, {_EXAMPLE}")
    if url.scheme == "http" and not is_loopback_host(url.host):
        raise errors.ConfigurationError(f"FHIR_BASE_URL must use https, {_EXAMPLE}")
    return url


def fhir_client_for(basis: Basis) -> FhirClient:
    """Return the client of `FHIR_BASE_URL`, which signs in as the settings say.

    Raises:
        ConfigurationError: the address or the key is not usable.
    """
    return fhir_client_with(basis, _tokens(basis))


def fhir_client_with(basis: Basis, tokens: own_sign_in.TokenSource | None) -> FhirClient:
    """Return the client of `FHIR_BASE_URL` that shows the tokens it is given.

    Raises:
        ConfigurationError: the address is not usable.
    """
    return FhirClient(
        base_url=checked_base_url(basis.settings.fhir_base_url or ""),
        tokens=tokens,
        session=basis.session,
        clock=basis.clock,
        limits=FhirLimits(),
    )


def _tokens(basis: Basis) -> own_sign_in.TokenSource | None:
    settings, clock = basis.settings, basis.clock
    base_url = checked_base_url(settings.fhir_base_url or "")
    if settings.fhir_token is not None:
        return own_sign_in.OwnToken(token=settings.fhir_token.get_secret_value())
    if settings.fhir_managed_identity:
        scope = f"{base_url.origin()}/.default"
        return own_sign_in.Tokens(
            sign_in=own_sign_in.ManagedIdentity(
                scope=scope, refused=TOKEN_ERRORS.refused, clock=clock
            ),
            clock=clock,
        )
    if settings.fhir_client_id is None:
        return None
    secret, file = settings.fhir_client_secret, settings.fhir_client_key_file
    client = own_sign_in.Client(
        client_id=settings.fhir_client_id,
        scope=settings.fhir_scope,
        token_url=settings.fhir_token_url,
        base_url=base_url,
        secret=secret.get_secret_value() if secret else None,
        key=own_sign_in.key_in(file, key_id=settings.fhir_client_key_id) if file else None,
    )
    sign_in = own_sign_in.ClientCredentials(
        client=client, errors=TOKEN_ERRORS, session=basis.session, clock=clock
    )
    return own_sign_in.Tokens(sign_in=sign_in, clock=clock)
