"""Keeps turns out of a conversation while a command rewrites its documents (DESIGN: the claim)."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from data_models.claim import Claim
from data_models.identifiers import PatientId, storable_patient_id

_PREFIX, _SUFFIX = "patient_", "_context.json"


class Hold(Protocol):
    """The right to write a document, as long as it lasts."""

    async def hold(self) -> None:
        """Return if the document may be written now.

        Raises:
            ClaimLostError: we stood still so long that somebody took the conversation over.
        """
        ...


class Holding(Protocol):
    """Who gives that right."""

    def of(self, name: str) -> AbstractAsyncContextManager[Hold]:
        """Hold the conversation of the context document `name`.

        Raises:
            ConversationBusyError: its turns took too long.
        """
        ...


class Unclaimed:
    """For a conversation that has no claim: no turn of this server has ever run in it."""

    async def hold(self) -> None:
        """See `Hold.hold`; conditional writes are what keeps a first turn apart."""

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Hold]:
        """See `Holding.of`."""
        yield self


class Maintenance(Protocol):
    """Claims conversations as turns do."""

    def holding(self, folder: str) -> AbstractAsyncContextManager[Claim | None]:
        """Hold the conversation of `folder`; None where there is none that a turn could run in."""
        ...


class Claimed:
    """Holds documents by their conversation's claim."""

    def __init__(self, *, maintenance: Maintenance) -> None:
        self._maintenance = maintenance

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[Hold]:
        """See `Holding.of`."""
        folder, _, inner = name.rpartition("/")
        async with self._maintenance.holding(folder) as claim:
            if claim is None:
                yield Unclaimed()
                return
            # Whoever takes over rewrites this very document, so that our write would fail.
            await claim.name_patient(_patient_of(inner))
            yield claim


def _patient_of(inner: str) -> PatientId | None:
    if not inner.startswith(_PREFIX):
        return None
    return storable_patient_id(inner.removeprefix(_PREFIX).removesuffix(_SUFFIX))
