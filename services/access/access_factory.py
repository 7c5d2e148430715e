"""The access parts that the settings ask for."""

from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from data_models.errors import ConfigurationError, RateLimitedError
from services.access.authenticators import (
    ApiKeyAuthenticator,
    AppServiceAuthenticator,
    DevAuthenticator,
    EntraAuthenticator,
    KeyFile,
)
from services.access.limits import MessageRate, OriginPolicy, OutboundPolicy
from services.access.on_behalf import OnBehalf, OnBehalfGrant
from services.access.principal import Authenticator, UserRules
from services.access.sign_in.oidc import OidcRules, OidcSignIn
from services.access.sign_in.oidc_provider import OidcProvider
from services.access.sign_in.sign_in_sessions import SignInSessions
from services.access.sign_in.smart import SmartLaunch
from services.access.signing_keys import SigningKeys, download_keys
from services.basis import Basis
from settings import Settings


class SignIns(NamedTuple):
    """What signs users in with a browser: our own page's way, and that of record systems."""

    page: OidcSignIn | None = None
    smart: SmartLaunch | None = None


def key_file_for(settings: Settings) -> KeyFile | None:
    """Return the file of API keys, None without one.

    Raises:
        ConfigurationError: it cannot be read, or is not of its form.
    """
    return None if settings.api_keys_file is None else KeyFile(path=settings.api_keys_file)


def authenticator_for(
    basis: Basis, *, keys: KeyFile | None = None, sign_in: OidcSignIn | None = None
) -> Authenticator:
    """Return the authenticator of `AUTH_MODE`."""
    if sign_in is not None:
        return sign_in
    settings, clock = basis.settings, basis.clock
    match settings.auth_mode:
        case "dev":
            return DevAuthenticator(operators=settings.operators)
        case "api_key":
            return _by_key(basis, keys=keys)
        case "oidc":
            raise ConfigurationError("AUTH_MODE: oidc needs a store for sessions")
        case "entra":
            if settings.entra_tenant_id is None:
                raise ConfigurationError("ENTRA_TENANT_ID: is needed with AUTH_MODE=entra")
            url = f"{settings.entra_authority}/{settings.entra_tenant_id}/discovery/v2.0/keys"
            return EntraAuthenticator(
                keys=_signing_keys(basis, url),
                authority=settings.entra_authority,
                tenants=_tenants(settings),
                audiences=settings.entra_audience,
                scope=settings.entra_scope,
                users=_users(settings),
                clock=clock,
            )
        case "app_service":
            return AppServiceAuthenticator(
                tenants=_tenants(settings), users=_users(settings), clock=clock
            )


def sign_in_for(basis: Basis, *, keys: KeyFile | None = None) -> SignIns:
    """Return what signs users in with a browser; nothing where they come otherwise.

    `AUTH_MODE=oidc`, the `OIDC_…` and the `SMART_…` decide. Programs' `keys` stay valid.
    """
    settings = basis.settings
    issuer, secret = settings.oidc_issuer, settings.oidc_client_secret
    if settings.auth_mode != "oidc" or issuer is None or secret is None:
        return SignIns()
    client_secret = secret.get_secret_value()
    has_keys = bool(settings.api_keys) or keys is not None
    sessions = SignInSessions(store=basis.users, secret=client_secret)
    page = OidcSignIn(
        provider=OidcProvider(
            issuer=issuer,
            client_id=settings.oidc_client_id or "",
            client_secret=client_secret,
            session=basis.session,
            clock=basis.clock,
        ),
        sessions=sessions,
        rules=_rules(settings),
        secret=client_secret,
        base=settings.public_base_url or "",
        clock=basis.clock,
        keys=_by_key(basis, keys=keys) if has_keys else None,
    )
    return SignIns(page, _smart(basis, sessions, client_secret))


def _smart(basis: Basis, sessions: SignInSessions, secret: str) -> SmartLaunch | None:
    settings = basis.settings
    own = settings.smart_client_secret
    providers = {
        issuer: OidcProvider(
            issuer=issuer,
            client_id=settings.smart_client_id or "",
            client_secret=None if own is None else own.get_secret_value(),
            session=basis.session,
            clock=basis.clock,
            is_smart=True,
        )
        for issuer in settings.smart_issuers
    }
    if not providers:
        return None
    return SmartLaunch(
        providers=providers,
        sessions=sessions,
        rules=_rules(settings),
        records=settings.fhir_base_url,
        secret=secret,
        base=settings.public_base_url or "",
        session=basis.session,
        clock=basis.clock,
        hub=settings.fhircast_hub_url,
    )


def on_behalf_for(basis: Basis) -> OnBehalf | None:
    """Return what has users' own tokens, None where nobody is asked to sign in for them."""
    settings = basis.settings
    app, secret = settings.sign_in_client
    if settings.bot_sign_in_connection is None or app is None or secret is None:
        return None
    home, authority = settings.microsoft_app_tenant_id, settings.entra_authority
    url = f"{authority}/{home or 'organizations'}/discovery/v2.0/keys"
    check = EntraAuthenticator(
        keys=_signing_keys(basis, url),
        authority=authority,
        tenants=[*settings.additional_allowed_tenant_ids, *([home] if home else [])],
        audiences=[settings.sign_in_audience, app],
        scope=settings.entra_scope,
        users=UserRules(),
        clock=basis.clock,
    )
    grant = OnBehalfGrant(
        authority=authority,
        client_id=app,
        client_secret=secret.get_secret_value(),
        session=basis.session,
    )
    return OnBehalf(check=check, grant=grant, scopes=settings.user_scopes, clock=basis.clock)


def origin_policy_for(settings: Settings) -> OriginPolicy:
    """Return the policy on browser pages."""
    public = settings.public_base_url
    return OriginPolicy(
        allowed=settings.allowed_origins,
        public_host=urlsplit(public).netloc if public else None,
        loopback_only=settings.is_dev,
    )


def outbound_policy_for(settings: Settings) -> OutboundPolicy:
    """Return the policy on calls out of the process."""
    return OutboundPolicy(
        hosts=settings.outbound_hosts,
        networks=settings.allowed_outbound_networks,
        allow_loopback=settings.is_dev,
    )


def rate_for(basis: Basis, per_minute: int, error: type[RateLimitedError]) -> MessageRate:
    """Return a limit that refuses with `error`; in dev there is none."""
    bound = None if basis.settings.is_dev else per_minute
    return MessageRate(per_minute=bound, clock=basis.clock, error=error)


def _users(settings: Settings) -> UserRules:
    return UserRules(
        operators=settings.operators,
        orderers=settings.orderers,
        home=settings.entra_tenant_id,
        practitioner_claim=settings.practitioner_claim,
    )


def _rules(settings: Settings) -> OidcRules:
    return OidcRules(
        roles_claim=settings.oidc_roles_claim or "",
        users=_users(settings),
        authority=settings.entra_authority,
        idle_seconds=settings.idle_logoff_seconds,
    )


def _by_key(basis: Basis, *, keys: KeyFile | None) -> ApiKeyAuthenticator:
    return ApiKeyAuthenticator(
        keys=basis.settings.api_keys,
        operators=basis.settings.operators,
        orderers=basis.settings.orderers,
        file=keys,
        clock=basis.clock,
    )


def _signing_keys(basis: Basis, url: str) -> SigningKeys:
    return SigningKeys(download=partial(download_keys, basis.session, url), clock=basis.clock)


def _tenants(settings: Settings) -> list[str]:
    own = [settings.entra_tenant_id] if settings.entra_tenant_id else []
    return [*own, *settings.entra_allowed_tenant_ids]
