"""Stand-ins for clock, ids, audit, access and directory, which obey the contracts of theirs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

from data_models.clock import Clock
from data_models.errors import AuditUnavailableError, RecordsUnavailableError
from data_models.identifiers import PatientId
from services.audit.trail import Audit, AuditEntry, NoAudit
from services.chart_access.chart_guard import ChartGuard, OpenToAll
from services.identity.directory import DirectoryState, Sought
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person
from services.records.resources.ports import EVERYTHING, Need
from services.records.resources.record import PatientRecord


class FixedClock:
    """A `Clock` that moves only when the test says so."""

    def __init__(self, start: datetime = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Move both times forward; a real monotonic clock cannot go back, nor can this one."""
        if seconds < 0:
            raise ValueError("a clock does not go back")
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds


class CountingIds:
    """An `IdSource` whose ids are unique and the same in every run."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):032x}"


class RememberedAudit:
    """An `Audit` that keeps what it is told, unless it is down."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []
        self.is_down = False

    async def record(self, entry: AuditEntry) -> None:
        if self.is_down:
            raise AuditUnavailableError
        self.entries.append(entry)

    async def close(self) -> None:
        """Nothing is under way."""


class ClosedCharts:
    """An `AccessPolicy`: charts that are closed to everybody, or to whom a pair names."""

    def __init__(self, *closed: str) -> None:
        self.closed: set[str | tuple[str, str]] = {*closed}

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        return not {patient_id, (principal_id, patient_id)} & self.closed


class GivenRecords:
    """A `PatientRecords` that gives one chart under any id, or fails as it is told."""

    def __init__(self, answer: PatientRecord | Exception) -> None:
        self._answer = answer

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class GivenPeople:
    """A `Directory` of given people, which may be down."""

    state: DirectoryState = "ok"

    def __init__(self, *people: Person) -> None:
        self.people: Sequence[Person] = people
        self.is_down = False

    async def people_for(self, sought: Sought) -> PersonIndex:
        if self.is_down:
            raise RecordsUnavailableError("down")
        return PersonIndex(people=self.people)

    async def check(self) -> None:
        await self.people_for(Sought())


def open_guard(*, clock: Clock, audit: Audit | None = None) -> ChartGuard:
    """Return a guard that lets everybody in; without `audit` it records nothing."""
    return ChartGuard(policy=OpenToAll(), audit=audit or NoAudit(), clock=clock)
