"""Who is seen on a day, whatever the records are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Literal, Protocol, TypeAlias

from data_models.identifiers import PatientId
from services.identity.person import Person
from services.records.entry import Entry

DayState: TypeAlias = Literal["listed", "not_searchable", "too_many"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A patient with a visit or an appointment."""

    person: Person
    entry: Entry

    @property
    def patient_id(self) -> PatientId:
        """Whose chart it is; a person without one is not seen."""
        return PatientId(self.person.patient_id or "")


@dataclass(frozen=True, slots=True)
class DaySeen:
    """Every visit and appointment of a day, or why nobody can list them: a part is no list."""

    seen: Sequence[Seen] = ()
    state: DayState = "listed"


class VisitsByDay(Protocol):
    """Records that can be asked for a day."""

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        """Return who has a visit or an appointment on `day`, or has a visit that goes on then.

        Args:
            zone: Whose day it is; None: each moment's own offset decides.

        Raises:
            RecordsError: they have no answer.
        """
        ...
