"""Whom a round is for: typed names and numbers, or who is seen on a day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from data_models.errors import InvalidIdentifierError, RoundsListError
from data_models.identifiers import PatientId, storable_patient_id
from services.language.words.letters import folded
from services.patient_context.reading.pattern import PatientIdPattern
from services.rounds.round_list import PATIENTS_LIMIT
from services.views.patient_finder import (
    QUERY_LIMIT_CHARS,
    FoundPatient,
    PatientFinder,
    PatientQuery,
    words_of,
)
from services.views.visits_by_day import DayState, VisitsByDay

_REFUSALS: dict[DayState, str] = {
    "not_searchable": "These records cannot be searched by day. Please name the patients.",
    "too_many": "More visits are on that day than a list takes. Please name the patients.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Finds the patients of a list. Nobody is guessed: what fits several is refused."""

    finder: PatientFinder
    pattern: PatientIdPattern
    days: VisitsByDay
    zone: tzinfo

    async def find_named(self, entries: Sequence[str], *, owner: str) -> list[PatientId]:
        """Return whom the entries name, in their order, each once.

        Raises:
            RoundsListError: an entry is nobody's or several people's; the text says which.
            RecordsError: the directory has no answer.
        """
        wanted = [entry.strip() for entry in entries if entry.strip()]
        if not wanted:
            raise RoundsListError("Name at least one patient, by id, or by name and birth date.")
        if len(wanted) > PATIENTS_LIMIT:
            raise RoundsListError(f"A list takes {PATIENTS_LIMIT} patients. Please make two.")
        found = [await self._one(entry, owner) for entry in wanted]
        problems = [one for one in found if isinstance(one, RoundsListError)]
        if problems:
            raise RoundsListError(" ".join(one.user_message for one in problems))
        return list(dict.fromkeys(one for one in found if not isinstance(one, RoundsListError)))

    async def find_seen_on(self, day: date, *, owner: str) -> list[PatientId]:
        """Return who has a visit or an appointment on `day`, of those open to the owner, by id.

        Raises:
            RoundsListError: nobody has, there are too many, or nobody can list them.
            RecordsError: the directory, or the records, have no answer.
        """
        on_day = await self.days.visits_on(day, self.zone)
        if on_day.state != "listed":
            raise RoundsListError(_REFUSALS[on_day.state])
        people = [*(one.person for one in on_day.seen), *on_day.unread]
        # Whose chart cannot be read now is on the list, and their card says so.
        seen = sorted({one.patient_id for one in people if one.patient_id and one.is_in_use})
        found = [one for one in seen if await self.finder.guard.may_open(owner, one)]
        if not found:
            raise RoundsListError(
                f"No patient whose chart is open to you has a visit or an appointment on {day}."
            )
        if len(found) > PATIENTS_LIMIT:
            raise RoundsListError(
                f"{len(found)} patients are seen on {day}, and a list takes {PATIENTS_LIMIT}. "
                "Please name the patients."
            )
        return found

    async def _one(self, entry: str, owner: str) -> PatientId | RoundsListError:
        if len(entry) > QUERY_LIMIT_CHARS:
            return RoundsListError(f"“{entry[:40]}…” is too long for a name and a birth date.")
        if self.pattern.matches(entry):
            try:
                return storable_patient_id(entry)
            except InvalidIdentifierError:
                return RoundsListError(f"“{entry}” is no id of a patient.")
        rows = await self.finder.find(entry, owner=owner)
        exact = [row for row in rows.patients if _is_named(row, entry)]
        if len(exact) == 1 and rows.is_whole:
            return PatientId(exact[0].patient_id)
        if not rows.patients:
            return RoundsListError(f"“{entry}”: nobody was found whose chart is open to you.")
        several = exact or rows.patients
        who = "; ".join(f"{row.name}, born {row.birth_date or 'unknown'}" for row in several[:5])
        return RoundsListError(
            f"“{entry}” may be {who}. Please write the name and the birth date, or the id."
        )


def _is_named(row: FoundPatient, entry: str) -> bool:
    """Whether each word of the entry is a whole word of the name: who is nearly named is asked."""
    names = {folded(word) for word in words_of(row.name)}
    return names.issuperset(map(folded, PatientQuery(text=entry).words))
