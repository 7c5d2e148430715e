"""Which Microsoft 365 user a principal is, so that nobody reads another's mailbox."""

import re
from collections.abc import Mapping
from typing import Protocol

from data_models.errors import AssistantRefusedError
from services.assistant.graph_wire import segment

_ENTRA = re.compile(r"entra:([0-9a-z.-]+):([0-9a-f-]{36})")


class GraphUsers(Protocol):
    """Finds the part of Graph that is a principal's own."""

    def root(self, principal_id: str) -> str:
        """Return `me`, or `users/{id}`.

        Raises:
            AssistantRefusedError: this principal has none.
        """
        ...


class OnlyMe:
    """Everybody is the user whose delegated token it is; for one person at one machine."""

    def root(self, principal_id: str) -> str:
        """See `GraphUsers.root`."""
        return "me"


class MappedUsers:
    """Users of our own directory are themselves; others are who the operator says.

    Args:
        tenant: The directory of the mailboxes, an id in lower case.
        named: Users' ids or principal names by principal id.
    """

    def __init__(self, *, tenant: str, named: Mapping[str, str]) -> None:
        self._tenant = tenant
        self._named = dict(named)

    def root(self, principal_id: str) -> str:
        """See `GraphUsers.root`."""
        user = self._named.get(principal_id) or self._own(principal_id)
        if user is None:
            raise AssistantRefusedError("no Microsoft 365 user is set for this caller")
        return f"users/{segment(user)}"

    def _own(self, principal_id: str) -> str | None:
        match = _ENTRA.fullmatch(principal_id)
        return match[2] if match and match[1] == self._tenant.lower() else None
