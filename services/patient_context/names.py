"""Names of patients in a message, as whoever reads the records knows them."""

from collections.abc import Collection
from typing import Protocol

from data_models.identifiers import PatientId


class RosterNames(Protocol):
    """Finds patients who are named without their id."""

    async def named_in(
        self, text: str, *, among: Collection[PatientId], active: PatientId
    ) -> Collection[PatientId]:
        """Return whom of `among` the text names, by a name that is not the active patient's too.

        Nobody where that cannot be told just now: the turn waits for no records.
        """
        ...


class NoNames:
    """A `RosterNames` without records."""

    async def named_in(
        self, text: str, *, among: Collection[PatientId], active: PatientId
    ) -> Collection[PatientId]:
        """See `RosterNames.named_in`."""
        return ()
