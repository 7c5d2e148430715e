"""Whom a round is for: typed names and numbers, or who is seen on a day."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from data_models.errors import (
    InvalidIdentifierError,
    RecordNotFoundError,
    RecordReplacedError,
    RecordsError,
    RoundsListError,
)
from data_models.identifiers import PatientId, storable_patient_id
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import Directory, Sought
from services.language.full_dates import full_dates
from services.language.letters import folded
from services.patient_context.pattern import PatientIdPattern
from services.records.need import EVERYTHING
from services.records.ports import PatientRecords
from services.records.visits import is_on
from services.rounds.round_list import PATIENTS_LIMIT
from services.views.patient_finder import QUERY_LIMIT_CHARS, FoundPatient, PatientFinder
from services.views.visits_by_day import DayOnServer

_LOADED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Finds the patients of a list. Nobody is guessed: what fits several is refused.

    Attributes:
        on_server: Who is seen on a day, where a server knows; None: the folder's charts are read.
    """

    finder: PatientFinder
    directory: Directory
    records: PatientRecords
    guard: ChartGuard
    pattern: PatientIdPattern
    on_server: DayOnServer | None = None

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
            RoundsListError: nobody has, or there are too many.
            RecordsError: the directory has no answer.
        """
        if self.on_server is None:
            found = await self._find_seen_in_folder(day, owner)
        else:
            seen = await self.on_server.find_seen_on(day)
            found = [one for one in seen if await self.guard.may_open(owner, one)]
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

    async def _find_seen_in_folder(self, day: date, owner: str) -> list[PatientId]:
        people = (await self.directory.people_for(Sought())).people
        known = sorted(one.patient_id for one in people if one.patient_id and one.is_active)
        free = asyncio.Semaphore(_LOADED_AT_ONCE)
        seen = await asyncio.gather(*(self._is_seen(one, day, owner, free) for one in known))
        return [one for one, is_seen in zip(known, seen, strict=True) if is_seen]

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

    async def _is_seen(
        self, patient_id: PatientId, day: date, owner: str, free: asyncio.Semaphore
    ) -> bool:
        async with free:
            if not await self.guard.may_open(owner, patient_id):
                return False
            try:
                record = await self.records.load(patient_id, EVERYTHING)
            except (RecordNotFoundError, RecordReplacedError):
                return False
            except RecordsError:
                return True  # whose chart cannot be read now is on the list, and their card says so
            entries = record.entries_of("Encounter", "Appointment")
            return any(is_on(entry, day) for entry in entries)


def _is_named(row: FoundPatient, entry: str) -> bool:
    """Whether each word of the entry is a whole word of the name: who is nearly named is asked."""
    rest, end = list[str](), 0
    for one in full_dates(entry):
        rest.append(entry[end : one.start])
        end = one.end
    words = _parts(" ".join([*rest, entry[end:]]))
    names = {folded(part) for part in _parts(row.name)}
    return all(folded(word) in names for word in words if not any(sign.isdigit() for sign in word))


def _parts(text_: str) -> list[str]:
    return text_.replace("-", " ").replace(",", " ").replace(";", " ").split()
