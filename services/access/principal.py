"""The verified caller, and what it may see."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

PrincipalKind: TypeAlias = Literal["dev", "api_key", "entra", "app_service"]
Role: TypeAlias = Literal["operator"]

_OPERATOR: frozenset[Role] = frozenset({"operator"})


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody or something whose identity was verified for this request.

    Attributes:
        id: Name of the principal in documents and the audit trail; unique over all kinds.
        name: For people to read; never decides anything, since users can change theirs.
        tenant: Directory of an Entra ID user.
        expires_at: When the proof of identity ends; None for kinds without an end.
    """

    id: str
    name: str
    kind: PrincipalKind
    roles: frozenset[Role] = frozenset()
    tenant: str | None = None
    expires_at: datetime | None = None

    @property
    def is_operator(self) -> bool:
        """Whether the operator pages and commands are open to it."""
        return "operator" in self.roles


def user_id(tenant: str, object_id: str) -> str:
    """Return the principal id of an Entra ID user, the same over web and Teams."""
    return f"entra:{tenant.lower()}:{object_id.lower()}"


def roles_of(subject: str, operators: Collection[str]) -> frozenset[Role]:
    """Return the roles of `subject`, an API key's name or a user's object id."""
    listed = subject.lower() in {operator.lower() for operator in operators}
    return _OPERATOR if listed else frozenset()


def log_off_at(principal: Principal, *, active_at: datetime, idle_seconds: float) -> datetime:
    """Return when a socket of `principal`, last used at `active_at`, has to be closed (4401).

    In dev there is nobody to log off: the answer is the end of time.
    """
    if principal.kind == "dev":
        return datetime.max.replace(tzinfo=active_at.tzinfo)
    idle = active_at + timedelta(seconds=idle_seconds)
    return idle if principal.expires_at is None else min(idle, principal.expires_at)
