"""Keeps turns out of a conversation while a command rewrites its documents (DESIGN: the claim)."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Self, TypeAlias

from data_models.conversations.claim import Claim
from data_models.identifiers import PatientId, storable_patient_id

_PREFIX, _SUFFIX = "patient_", "_context.json"

FolderHolding: TypeAlias = Callable[[str], AbstractAsyncContextManager[Claim | None]]
"""Holds the conversation of a folder; None where there is none that a turn could run in."""


class Unclaimed:
    """For a conversation that has no claim: no turn of this server has ever run in it."""

    async def hold(self) -> None:
        """Return: conditional writes are what keeps a first turn apart."""

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Self]:
        """Hold nothing."""
        yield self


class Claimed:
    """Holds documents by their conversation's claim."""

    def __init__(self, *, holding: FolderHolding) -> None:
        self._holding = holding

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Claim | Unclaimed]:
        """Hold the conversation of the context document `name`.

        Raises:
            ConversationBusyError: its turns took too long.
        """
        folder, _, inner = name.rpartition("/")
        async with self._holding(folder) as claim:
            if claim is None:
                yield Unclaimed()
                return
            # Whoever takes over rewrites this very document, so that our write would fail.
            await claim.name_patient(_patient_of(inner))
            yield claim


Holding: TypeAlias = Unclaimed | Claimed
"""Who keeps turns out."""


def _patient_of(inner: str) -> PatientId | None:
    if not inner.startswith(_PREFIX):
        return None
    return storable_patient_id(inner.removeprefix(_PREFIX).removesuffix(_SUFFIX))
