"""`AUTH_MODE=entra`: tokens of Entra ID; `app_service`: users whom the proxy signed in."""

from base64 import b64decode
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from data_models.clock import Clock
from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access.handshake import TOKEN_LIMIT_CHARS, Handshake
from services.access.principal import Principal, UserRules, user_id
from services.access.signing_keys import SigningKey, SigningKeys
from services.access.token_form import read_form, verified_claims


@dataclass(kw_only=True, eq=False, repr=False)
class EntraAuthenticator:
    """Verifies signature, issuer, audience, time, directory and scope of a bearer token.

    Attributes:
        authority: Base address of the issuer, such as `https://login.microsoftonline.com`.
        tenants: Directories whose users may call.
        scope: Delegated scope, or application role, that the token must carry. Without it any
            application of the directory could call, since each can get a token for any audience.
    """

    keys: SigningKeys
    authority: str
    tenants: Collection[str]
    audiences: Collection[str]
    scope: str
    users: UserRules
    clock: Clock

    def __post_init__(self) -> None:
        self._tenants = frozenset(tenant.lower() for tenant in self.tenants)
        self._audiences = list(self.audiences)

    async def authenticate(self, handshake: Handshake) -> Principal:
        if (token := handshake.bearer) is None:
            raise UnauthenticatedError
        form = read_form(token, now=self.clock.now())
        self._check_addressee(form.claims)
        key = await self.keys.find(form.key_id)
        claims = self._verified(token, key)
        if claims["tid"].lower() not in self._tenants or not _carries(claims, self.scope):
            raise ForbiddenError
        return Principal(
            id=user_id(claims["tid"], claims["oid"]),
            name=str(claims.get("name") or claims["oid"]),
            kind="entra",
            roles=self.users.roles_of_user(claims["tid"], claims["oid"]),
            practitioner=self.users.practitioner_in(claims),
            tenant=claims["tid"].lower(),
            expires_at=datetime.fromtimestamp(claims["exp"], UTC),
        )

    def _check_addressee(self, claims: dict[str, Any]) -> None:
        """Turn away what is plainly for others before any key is fetched."""
        tenant, issuer = claims.get("tid"), claims.get("iss")
        issuers = f"{self.authority}/{tenant}/v2.0", f"https://sts.windows.net/{tenant}/"
        if not isinstance(tenant, str) or issuer not in issuers:
            raise UnauthenticatedError
        who = claims.get("oid")
        if claims.get("aud") not in self._audiences or not isinstance(who, str) or not who.strip():
            raise UnauthenticatedError

    def _verified(self, token: str, key: SigningKey) -> dict[str, Any]:
        claims = verified_claims(token, key.key, audience=self._audiences, also=("tid", "oid"))
        if not (key.issuer is None or "{tenantid}" in key.issuer or claims["tid"] in key.issuer):
            raise UnauthenticatedError
        return claims


def _carries(claims: dict[str, Any], scope: str) -> bool:
    roles = claims.get("roles")
    scopes = str(claims.get("scp", "")).split()
    return scope in scopes or (isinstance(roles, list) and scope in roles)


_SCHEMA = "http://schemas.microsoft.com/identity/claims/"


class _Claim(BaseModel):
    typ: str
    val: str


class _ClientPrincipal(BaseModel):
    claims: list[_Claim]

    def first(self, *kinds: str) -> str | None:
        return next((claim.val for claim in self.claims if claim.typ in kinds and claim.val), None)


class AppServiceAuthenticator:
    """Reads `X-MS-CLIENT-PRINCIPAL`, which only a proxy that removes a client's own may carry.

    Args:
        tenants: Directories whose users may call; empty: those the platform lets in.
    """

    def __init__(self, *, tenants: Collection[str], users: UserRules, clock: Clock) -> None:
        self._tenants = frozenset(tenant.lower() for tenant in tenants)
        self._users = users
        self._clock = clock

    async def authenticate(self, handshake: Handshake) -> Principal:
        shown = _read(handshake.client_principal)
        object_id = shown.first("oid", f"{_SCHEMA}objectidentifier")
        tenant = shown.first("tid", f"{_SCHEMA}tenantid")
        expires_at = _time(shown.first("exp"))
        if not object_id or not object_id.strip() or not tenant:
            raise UnauthenticatedError
        if expires_at is not None and expires_at <= self._clock.now():
            raise UnauthenticatedError
        if self._tenants and tenant.lower() not in self._tenants:
            raise ForbiddenError
        named = self._users.practitioner_claim
        return Principal(
            id=user_id(tenant, object_id),
            name=shown.first("name", "preferred_username") or object_id,
            kind="app_service",
            roles=self._users.roles_of_user(tenant, object_id),
            practitioner=self._users.practitioner_in({named: shown.first(named)}),
            tenant=tenant.lower(),
            expires_at=expires_at,
        )


def _read(header: str | None) -> _ClientPrincipal:
    if not header or len(header) > TOKEN_LIMIT_CHARS:
        raise UnauthenticatedError
    try:
        return _ClientPrincipal.model_validate_json(b64decode(header, validate=True))
    except (ValidationError, ValueError):
        # Not `from error`: it may hold who the user is.
        raise UnauthenticatedError from None


def _time(seconds: str | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise UnauthenticatedError from None
