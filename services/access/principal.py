"""Who calls: what a caller shows on entering, who verifies it, and what it then may see."""

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeAlias

PrincipalKind: TypeAlias = Literal["dev", "api_key", "entra", "app_service", "oidc"]
Role: TypeAlias = Literal["clinician", "operator", "order", "reviewer", "metrics"]
Scope: TypeAlias = Literal["chat", "read"]

_PRACTITIONER_LIMIT_CHARS = 300
USERS: frozenset[Scope] = frozenset({"chat", "read"})
"""What a user may do, and a key that names no scopes."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody or something whose identity was verified for this request.

    Attributes:
        id: Name of the principal in documents and the audit trail; unique over all kinds.
        name: For people to read; never decides anything, since users can change theirs.
        tenant: Directory of an Entra ID user.
        expires_at: When the proof of identity ends; None for kinds without an end.
        scopes: `chat`: write in conversations and change them; `read`: read them.
        practitioner: The FHIR Practitioner that the sign-in names.
        csrf: What a page that signed in by cookie shows with every write.
    """

    id: str
    name: str
    kind: PrincipalKind
    roles: frozenset[Role] = frozenset()
    tenant: str | None = None
    expires_at: datetime | None = None
    scopes: frozenset[Scope] = USERS
    practitioner: str | None = None
    csrf: str | None = field(default=None, repr=False)

    @property
    def is_operator(self) -> bool:
        """Whether the operator pages and commands are open to it."""
        return "operator" in self.roles

    @property
    def may_review(self) -> bool:
        """Whether it may look through emergencies and say what it found."""
        return not self.roles.isdisjoint({"operator", "reviewer"})

    @property
    def may_watch(self) -> bool:
        """Whether the figures of the server are open to it."""
        return self.kind == "dev" or not self.roles.isdisjoint({"operator", "metrics"})


def user_id(tenant: str, object_id: str) -> str:
    """Return the principal id of an Entra ID user, the same over web and Teams."""
    return f"entra:{tenant.lower()}:{object_id.lower()}"


def roles_of(
    subject: str, operators: Collection[str], orderers: Collection[str] = ()
) -> frozenset[Role]:
    """Return the roles of `subject`, an API key's name or a user's object id."""
    lists: dict[Role, Collection[str]] = {"operator": operators, "order": orderers}
    return frozenset(
        role for role, names in lists.items() if subject.lower() in {name.lower() for name in names}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRules:
    """How verified claims of a user become rights.

    A user is listed by the whole principal id; an object id alone means the home directory's,
    because other directories choose their own.

    Attributes:
        home: The server's own directory; None: the platform lets in one directory only.
        practitioner_claim: Names the user's FHIR Practitioner; "": none does.
    """

    operators: Collection[str] = ()
    orderers: Collection[str] = ()
    home: str | None = None
    practitioner_claim: str = ""

    def roles_of(self, principal_id: str) -> frozenset[Role]:
        """Return the roles of who is listed by this id."""
        return roles_of(principal_id, self.operators, self.orderers)

    def roles_of_user(self, tenant: str, object_id: str) -> frozenset[Role]:
        """Return the roles of a user of a directory."""
        whole = self.roles_of(user_id(tenant, object_id))
        is_home = self.home is None or tenant.lower() == self.home.lower()
        return whole | (self.roles_of(object_id) if is_home else frozenset())

    def practitioner_in(self, claims: Mapping[str, Any]) -> str | None:
        """Return the FHIR Practitioner that verified claims name, None if they name none."""
        said = claims.get(self.practitioner_claim) if self.practitioner_claim else None
        is_usable = isinstance(said, str) and 0 < len(said.strip()) <= _PRACTITIONER_LIMIT_CHARS
        return str(said).strip() if is_usable else None


def log_off_at(principal: Principal, *, active_at: datetime, idle_seconds: float) -> datetime:
    """Return when a socket of `principal`, last used at `active_at`, has to be closed (4401).

    In dev there is nobody to log off: the answer is the end of time.
    """
    if principal.kind == "dev":
        return datetime.max.replace(tzinfo=active_at.tzinfo)
    idle = active_at + timedelta(seconds=idle_seconds)
    return idle if principal.expires_at is None else min(idle, principal.expires_at)


# Directories and users who may talk to the bot: nobody, unless named (spec page 7, R16).

EVERYBODY = "*"


class AllowList:
    """Names that are allowed; `*`, written out, allows all."""

    def __init__(self, *, names: Iterable[str | None]) -> None:
        self._names = frozenset(name.lower() for name in names if name)

    def allows(self, name: str | None) -> bool:
        """Tell whether `name` is allowed; an absent name only if everybody is."""
        everybody = EVERYBODY in self._names
        return everybody or (name is not None and name.lower() in self._names)


TOKEN_LIMIT_CHARS = 16_384
TOKEN_PROTOCOL_PREFIX = "bearer."  # noqa: S105 - a prefix, not a token


@dataclass(frozen=True, slots=True)
class Handshake:
    """The parts of a request that decide who it is from.

    Attributes:
        peer: Address of the other end of the TCP connection.
        forwarded: Whether a proxy says that it passes the request on for somebody.
        fetch_site: The browser's `Sec-Fetch-Site`.
        only_reads: GET or HEAD, and no WebSocket.
        protocols: Requested WebSocket subprotocols; a browser, which cannot set headers there,
            sends its token as `bearer.<token>`.
        writes: Neither GET nor HEAD, nor a WebSocket.
        session_id: The cookie of a user who signed in with a browser.
        csrf: `X-CSRF-Token`.
        client_principal: The proxy's `X-MS-CLIENT-PRINCIPAL`.
    """

    peer: str | None
    host: str
    forwarded: bool = False
    origin: str | None = None
    fetch_site: str | None = None
    only_reads: bool = False
    authorization: str | None = field(default=None, repr=False)
    protocols: tuple[str, ...] = field(default=(), repr=False)
    client_principal: str | None = field(default=None, repr=False)
    writes: bool = False
    session_id: str | None = field(default=None, repr=False)
    csrf: str | None = field(default=None, repr=False)

    @property
    def bearer(self) -> str | None:
        """The bearer token, if there is one of a bearable length."""
        scheme, _, token = (self.authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            token = next(
                (
                    text.removeprefix(TOKEN_PROTOCOL_PREFIX)
                    for text in self.protocols
                    if text.startswith(TOKEN_PROTOCOL_PREFIX)
                ),
                "",
            )
        token = token.strip()
        return token if 0 < len(token) <= TOKEN_LIMIT_CHARS else None


class Authenticator(Protocol):
    """One way to verify who calls."""

    async def authenticate(self, handshake: Handshake) -> Principal:
        """Return who calls.

        Raises:
            UnauthenticatedError: nothing that could be verified was shown.
            ForbiddenError: the caller is known, or its place is, and is not allowed.
            SignInUnavailableError: nothing can be verified at the moment.
        """
        ...


def is_loopback(address: str | None) -> bool:
    """Tell whether `address` is of this machine."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback
