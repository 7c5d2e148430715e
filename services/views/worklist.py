"""A user's patients of today: who is seen by the records, and whom the user has pinned.

`worklist/{hash of user}/{patient}.json` is one pin. It stands beside the conversations, in a folder
of its own: whatever stands below `users/` is a conversation.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Literal, TypeAlias

from pydantic import BaseModel

from data_models import errors
from data_models.identifiers import PatientId, hashed, storable_patient_id
from data_models.storage.blob_store import BlobStore, put_blob
from services.audit.trail import Visitor, record_access
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import Directory, Sought
from services.identity.names.person import Person
from services.records.resources.entry import instant, many, text
from services.records.visits import days_of, reason_of, time_of
from services.views.patient_finder import FoundPatient, by_name, found_row
from services.views.visits_by_day import DaySeen, DayState, Seen, VisitsByDay

FOLDER = "worklist"
PINS_LIMIT = 50
SEEN_LIMIT = 200
"""Of so many patients of a day it is asked whether their charts are open."""
_MARK = b"{}"

TodayState: TypeAlias = DayState | Literal["unavailable"]


class SeenToday(FoundPatient):
    """A patient who is seen today.

    Attributes:
        time: When it begins, such as `09:30`, in the server's time zone; "" where that is not
            recorded, and for what began on another day.
        since: The day on which a visit that goes on began, if that is not today; else "".
        reason: In a few words of the record; "" where it has none.
    """

    kind: Literal["appointment", "visit"]
    time: str
    since: str
    reason: str


class WorklistView(BaseModel):
    """Who is to be seen.

    Attributes:
        day: Whose patients these are.
        time_zone: In which the times are meant.
        state: Why `today` is empty although patients may be seen, where it is not `listed`.
        is_whole: False where more are seen today than are shown.
    """

    day: date
    time_zone: str
    today: list[SeenToday]
    state: TodayState
    is_whole: bool
    pinned: list[FoundPatient]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worklist:
    """Each user has their own pins, and is named nobody whose chart is closed to them now."""

    days: VisitsByDay
    directory: Directory
    guard: ChartGuard
    store: BlobStore
    zone: tzinfo

    async def read(self, *, owner: str) -> WorklistView:
        """Return the worklist as it is now. That somebody looked is on the audit trail first.

        Raises:
            RecordsError: the directory has no answer.
        """
        await record_access(self.guard.audit, Visitor(owner), "read_worklist")
        day = self.guard.clock.now().astimezone(self.zone).date()
        found, state = await self._find_seen(day)
        # An appointment that a visit came of is that visit.
        kept = {
            (one.patient_id, text(each, "reference"))
            for one in found.seen
            for each in many(one.entry.raw, "appointment")
        }
        seen = sorted(
            [one for one in found.seen if (one.patient_id, one.entry.ref) not in kept],
            key=lambda one: (instant(one.entry.date), by_name(one.person)),
        )
        people = {one.patient_id: one.person for one in seen if one.person.is_in_use}
        asked = dict(list(people.items())[:SEEN_LIMIT])
        pinned = await self._find_pinned(owner, asked)
        shown = set(await self.guard.open_to(owner, asked.keys() | pinned.keys()))
        today = shown & asked.keys()
        return WorklistView(
            day=day,
            time_zone=str(self.zone),
            today=[self._row(one, day) for one in seen if one.patient_id in today],
            state=state,
            is_whole=len(asked) == len(people),
            pinned=[
                found_row(one)
                for one in sorted(pinned.values(), key=by_name)
                if one.patient_id in shown
            ],
        )

    async def pin(self, patient_id: str, *, owner: str) -> None:
        """Keep a patient on the owner's list; one who is there stays.

        Raises:
            NoSuchPatientError: the records know nobody by this id.
            ChartClosedError: the chart is closed to the owner.
            WorklistFullError: 50 are pinned.
            RecordsError: the directory has no answer.
        """
        patient = _storable(patient_id)
        if patient is None or patient not in await self._find_known([patient]):
            raise errors.NoSuchPatientError("the records know no such patient")
        await self.guard.enter(Visitor(owner), patient)
        pins = await self._pins(owner)
        if patient in pins:
            return
        if len(pins) >= PINS_LIMIT:
            raise errors.WorklistFullError(limit=PINS_LIMIT)
        await record_access(self.guard.audit, Visitor(owner), "pin_patient", patient=patient)
        await put_blob(self.store, _name(owner, patient), _MARK)  # or another page of theirs did

    async def unpin(self, patient_id: str, *, owner: str) -> None:
        """Take a patient off the owner's list; one who is not there, or not known, is no error."""
        if (patient := _storable(patient_id)) is None:
            return
        await record_access(self.guard.audit, Visitor(owner), "unpin_patient", patient=patient)
        await self.store.delete(_name(owner, patient))

    async def _find_seen(self, day: date) -> tuple[DaySeen, TodayState]:
        """Return who is seen; what is pinned is shown even where that cannot be told."""
        try:
            found = await self.days.visits_on(day, self.zone)
        except errors.RecordsError:
            return DaySeen(), "unavailable"
        return found, found.state

    async def _pins(self, owner: str) -> list[PatientId]:
        prefix = f"{FOLDER}/{hashed(owner)}/"
        names = [row.name async for row in self.store.list(prefix)]
        return [PatientId(name.removeprefix(prefix).removesuffix(".json")) for name in names]

    async def _find_pinned(
        self, owner: str, known: Mapping[PatientId, Person]
    ) -> Mapping[PatientId, Person]:
        pins = await self._pins(owner)
        found = await self._find_known([one for one in pins if one not in known])
        return found | {one: known[one] for one in pins if one in known}

    async def _find_known(self, ids: Collection[PatientId]) -> dict[PatientId, Person]:
        """Return who the records know by these ids; who was merged or withdrawn is nobody."""
        if not ids:
            return {}
        index = await self.directory.people_for(Sought(ids=ids))
        people = {one: index.with_id(one) for one in ids}
        return {key: one for key, one in people.items() if one is not None and one.is_in_use}

    def _row(self, one: Seen, day: date) -> SeenToday:
        days = days_of(one.entry, self.zone)
        since = "" if days is None or days[0] == day else days[0].isoformat()
        return SeenToday(
            **found_row(one.person).model_dump(),
            kind="visit" if one.entry.kind == "Encounter" else "appointment",
            time="" if since else time_of(one.entry, self.zone),
            since=since,
            reason=reason_of(one.entry),
        )


def _storable(patient_id: str) -> PatientId | None:
    try:
        return storable_patient_id(patient_id)
    except errors.InvalidIdentifierError:
        return None


def _name(owner: str, patient_id: PatientId) -> str:
    return f"{FOLDER}/{hashed(owner)}/{patient_id}.json"
