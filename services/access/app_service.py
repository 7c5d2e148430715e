"""`AUTH_MODE=app_service`: users whom the platform's proxy has signed in."""

from base64 import b64decode
from collections.abc import Collection
from datetime import UTC, datetime

from pydantic import BaseModel, ValidationError

from data_models.clock import Clock
from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access.handshake import TOKEN_LIMIT_CHARS, Handshake
from services.access.principal import Principal, practitioner_in, roles_of_user, user_id

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

    def __init__(
        self,
        *,
        tenants: Collection[str],
        operators: Collection[str],
        orderers: Collection[str] = (),
        clock: Clock,
        home: str | None = None,
        practitioner_claim: str = "",
    ) -> None:
        self._tenants = frozenset(tenant.lower() for tenant in tenants)
        self._operators = frozenset(operators)
        self._orderers = frozenset(orderers)
        self._clock = clock
        self._home = home
        self._practitioner_claim = practitioner_claim

    async def authenticate(self, handshake: Handshake) -> Principal:
        """See `Authenticator.authenticate`."""
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
        return Principal(
            id=user_id(tenant, object_id),
            name=shown.first("name", "preferred_username") or object_id,
            kind="app_service",
            roles=roles_of_user(
                tenant, object_id, self._operators, self._orderers, home=self._home
            ),
            practitioner=practitioner_in(
                {self._practitioner_claim: shown.first(self._practitioner_claim)},
                self._practitioner_claim,
            ),
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
