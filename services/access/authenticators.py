"""Who comes in by each `AUTH_MODE` but `oidc`: verified by tokens, a proxy, keys or the machine."""

import hashlib
import hmac
from base64 import b64decode
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from data_models.clock import Clock, SystemClock
from data_models.errors import ForbiddenError, UnauthenticatedError
from data_models.identifiers import PatientId
from data_models.operator_files import WatchedFile, read_written
from services.access import principal
from services.access.signing_keys import SigningKey, SigningKeys, read_form, verified_claims

# `AUTH_MODE=entra`: tokens of Entra ID; `app_service`: users whom the proxy signed in.


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
    users: principal.UserRules
    clock: Clock

    def __post_init__(self) -> None:
        self._tenants = frozenset(tenant.lower() for tenant in self.tenants)
        self._audiences = list(self.audiences)

    async def authenticate(self, handshake: principal.Handshake) -> principal.Principal:
        if (token := handshake.bearer) is None:
            raise UnauthenticatedError
        form = read_form(token, now=self.clock.now())
        self._check_addressee(form.claims)
        key = await self.keys.find(form.key_id)
        claims = self._verified(token, key)
        if claims["tid"].lower() not in self._tenants or not _carries(claims, self.scope):
            raise ForbiddenError
        return principal.Principal(
            id=principal.user_id(claims["tid"], claims["oid"]),
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

    def __init__(
        self, *, tenants: Collection[str], users: principal.UserRules, clock: Clock
    ) -> None:
        self._tenants = frozenset(tenant.lower() for tenant in tenants)
        self._users = users
        self._clock = clock

    async def authenticate(self, handshake: principal.Handshake) -> principal.Principal:
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
        return principal.Principal(
            id=principal.user_id(tenant, object_id),
            name=shown.first("name", "preferred_username") or object_id,
            kind="app_service",
            roles=self._users.roles_of_user(tenant, object_id),
            practitioner=self._users.practitioner_in({named: shown.first(named)}),
            tenant=tenant.lower(),
            expires_at=expires_at,
        )


def _read(header: str | None) -> _ClientPrincipal:
    if not header or len(header) > principal.TOKEN_LIMIT_CHARS:
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


# `AUTH_MODE=api_key`: keys of programs; `dev`: whoever sits at this machine.

ALL = "*"
_EXAMPLE = (
    "Example: API_KEYS_FILE=./keys.yaml with `keys: [{name: alice, sha256: …, scopes: [chat]}]`"
)
_PREFIX = "key:"


class FileKey(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """One key.

    Attributes:
        scopes: `chat` (write, and read), `read` (read alone), `operator`, `reviewer` (of
            emergencies), `order` (confirm drafts of orders, with `chat`).
        patients: Ids that it reaches, `*`: all that the access policy opens.
        expires: The last moment; a date means its end in UTC.
        practitioner: The FHIR Practitioner as whom it acts, with `ACCESS_POLICY=relationship`.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$", repr=False)]
    scopes: Annotated[
        tuple[Literal["chat", "operator", "order", "read", "reviewer"], ...], Field(min_length=1)
    ]
    patients: tuple[str, ...] = (ALL,)
    expires: Annotated[date | datetime | None, Field(union_mode="left_to_right")] = None
    practitioner: str | None = None

    @property
    def expires_at(self) -> datetime | None:
        """When it ends, in UTC; None: never."""
        if self.expires is None:
            return None
        if not isinstance(self.expires, datetime):
            return datetime.combine(self.expires, time.max, UTC)
        return self.expires if self.expires.tzinfo else self.expires.replace(tzinfo=UTC)


class _File(BaseModel, extra="forbid", hide_input_in_errors=True):
    keys: tuple[FileKey, ...]


class KeyFile:
    """The keys as they are now. A file that cannot be read lets no key of it in.

    Raises:
        ConfigurationError: at the start the file cannot be read, or is not of this form.
    """

    def __init__(self, *, path: Path) -> None:
        self._names = {one.name for one in read_keys(path)}
        self._file = WatchedFile[Sequence[FileKey]](
            path=path, read=read_keys, nothing=(), event="api_keys_unread"
        )

    def keys(self) -> Sequence[FileKey]:
        """Return all keys, ended ones too; a name may have two while one is replaced."""
        keys = self._file.now()
        self._names |= {one.name for one in keys}
        return keys

    def is_in_range(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether a principal may reach a patient; users and keys of elsewhere have no range.

        Of two keys of one name the narrower range holds: nobody can tell which one a turn began by.
        """
        mine = self._of(principal_id)
        if not mine and principal_id.removeprefix(_PREFIX) in self._names:
            return not principal_id.startswith(_PREFIX)  # the key is gone, or cannot be read
        return all(ALL in one.patients or patient_id in one.patients for one in mine)

    def practitioner_of(self, principal_id: str) -> str | None:
        """Return as whom a key acts, None for all others."""
        return next((one.practitioner for one in self._of(principal_id) if one.practitioner), None)

    def _of(self, principal_id: str) -> list[FileKey]:
        name = principal_id.removeprefix(_PREFIX)
        return [one for one in self.keys() if principal_id.startswith(_PREFIX) and one.name == name]


def read_keys(path: Path) -> tuple[FileKey, ...]:
    """Return the keys of the file.

    Raises:
        ConfigurationError: it cannot be read, or says what no key has; no line repeats a hash.
    """
    return read_written(path, _File, named="API_KEYS_FILE", example=_EXAMPLE).keys


_KEY_ROLES: tuple[principal.Role, ...] = ("operator", "order", "reviewer")
"""Roles that the file gives beside what a key may do with conversations."""


@dataclass(kw_only=True, eq=False, repr=False)
class ApiKeyAuthenticator:
    """Knows clients by the SHA-256 of their keys; the keys themselves are nowhere.

    Attributes:
        keys: Names and hashes in lower-case hex; a name may have two keys while one is replaced.
        file: Keys with scopes, ranges and ends.
    """

    keys: Iterable[tuple[str, str]]
    operators: Collection[str]
    orderers: Collection[str] = ()
    file: KeyFile | None = None
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        # Names of the settings may have any form.
        self._own = [
            FileKey.model_construct(name=name, sha256=digest, scopes=("chat",))
            for name, digest in self.keys
        ]

    async def authenticate(self, handshake: principal.Handshake) -> principal.Principal:
        shown = hashlib.sha256((handshake.bearer or "").encode(errors="surrogatepass")).digest()
        # Every key is compared, so that the time does not tell which one was close.
        known = [*self._own, *(() if self.file is None else self.file.keys())]
        matching = [one for one in known if hmac.compare_digest(bytes.fromhex(one.sha256), shown)]
        if handshake.bearer is None or not matching:
            raise UnauthenticatedError
        found = self._principal(matching[0])
        if found.expires_at is not None and found.expires_at <= self.clock.now():
            raise UnauthenticatedError
        return found

    def _principal(self, key: FileKey) -> principal.Principal:
        scopes: frozenset[principal.Scope] = (
            principal.USERS if "chat" in key.scopes else frozenset({"read"})
        )
        roles = principal.roles_of(key.name, self.operators, self.orderers)
        return principal.Principal(
            id=f"{_PREFIX}{key.name}",
            name=key.name,
            kind="api_key",
            roles=roles | {role for role in _KEY_ROLES if role in key.scopes},
            expires_at=key.expires_at,
            scopes=scopes if {"chat", "read"} & set(key.scopes) else frozenset(),
            practitioner=key.practitioner,
        )


DEV_PRINCIPAL_ID = "dev"
_OF_DEV: frozenset[principal.Role] = frozenset({"clinician", "order", "reviewer", "metrics"})


class DevAuthenticator:
    """Takes every loopback caller for the principal `dev`."""

    def __init__(self, *, operators: Collection[str]) -> None:
        roles = principal.roles_of(DEV_PRINCIPAL_ID, operators or [DEV_PRINCIPAL_ID])
        self._principal = principal.Principal(
            id=DEV_PRINCIPAL_ID, name="dev", kind="dev", roles=roles | _OF_DEV
        )

    async def authenticate(self, handshake: principal.Handshake) -> principal.Principal:
        """See `Authenticator.authenticate`; a proxy on this machine would let the world in."""
        if handshake.forwarded or not principal.is_loopback(handshake.peer):
            raise ForbiddenError
        return self._principal
