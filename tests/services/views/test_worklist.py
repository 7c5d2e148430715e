"""The worklist: who is seen today by the records, and each user's own pins; open charts only."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from data_models import errors
from data_models.identifiers import hashed
from services.audit.trail import AuditEntry, NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import FileDirectory
from services.patient_context.reading.pattern import PatientIdPattern
from services.records.local_resources import LocalResources
from services.records.records_factory import id_fits
from services.rounds.round_service import Choice
from services.views.patient_finder import PatientFinder
from services.views.visits_by_day import DayInFolder, DaySeen, DayState
from services.views.worklist import PINS_LIMIT, Worklist, WorklistView
from tests.fakes import ClosedCharts, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.records.charts import records_in
from tests.work import counted_calls

ADA, BEN = "dr-ada", "dr-ben"
NOON = datetime(2026, 11, 24, 11, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def person(number: int, given: str = "Ada", **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "Patient", "id": f"p{number}", "birthDate": "1957-03-14",
        "identifier": [{"system": "urn:ids", "value": f"patient_{number}"}],
        "name": [{"family": "Example", "given": [given]}], **more,
    }  # fmt: skip


def visit(key: str, number: int, start: str, status: str = "finished", **more: Any) -> Any:
    return {
        "resourceType": "Encounter", "id": key, "status": status, "period": {"start": start},
        "subject": {"reference": f"Patient/p{number}"}, **more,
    }  # fmt: skip


def appointment(key: str, number: int, start: str = "", status: str = "booked", **more: Any) -> Any:
    began = {"start": start} if start else {}
    actors = [{"actor": {"reference": f"Patient/p{number}"}}]
    return {
        "resourceType": "Appointment", "id": key, "status": status, "created": "2026-11-24",
        "participant": actors, **began, **more,
    }  # fmt: skip


class Trail(NoAudit):
    """An `Audit` that keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []

    async def record(self, entry: AuditEntry) -> None:
        self.said.append((entry.actions[0], entry.patient))


class Told:
    """A `VisitsByDay` that cannot list the day."""

    def __init__(self, state: DayState | None) -> None:
        self.state = state

    async def visits_on(self, day: object, zone: object = None) -> DaySeen:
        if self.state is None:
            raise errors.RecordsUnavailableError("down")
        return DaySeen(state=self.state)


class Ward:
    """A worklist over a folder of charts and the sample clinic."""

    def __init__(self, folder: Path, *resources: Any) -> None:
        bundle = {
            "resourceType": "Bundle",
            "type": "collection",
            "entry": [{"resource": one} for one in resources],
        }
        (folder / "all.json").write_text(json.dumps(bundle), "utf-8")
        self.clock, self.store = FixedClock(NOON), MemoryBlobStore()
        self.policy, self.trail = ClosedCharts(), Trail()
        records, fits = records_in(folder, self.clock), id_fits("^patient_[0-9]+$")
        directory = FileDirectory(records=records, fits=fits, clock=self.clock)
        self.clinic = LocalResources(
            patients=records,
            folder=folder / "none",
            store=self.store,
            zone=BERLIN,
            clock=self.clock,
        )
        self.days = DayInFolder(
            records=records, clinic=self.clinic, directory=directory, clock=self.clock
        )
        self.choice = Choice(
            finder=PatientFinder(
                directory=directory,
                guard=ChartGuard(policy=self.policy, audit=self.trail, clock=self.clock),
            ),
            pattern=PatientIdPattern.compile("^patient_[0-9]+$"),
            days=self.days,
            zone=BERLIN,
        )
        self.list = Worklist(
            days=self.days,
            directory=directory,
            guard=ChartGuard(policy=self.policy, audit=self.trail, clock=self.clock),
            store=self.store,
            zone=BERLIN,
        )

    async def read(self, owner: str = ADA) -> WorklistView:
        return await self.list.read(owner=owner)

    async def pins(self, owner: str = ADA) -> Sequence[str]:
        return [one.patient_id for one in (await self.read(owner)).pinned]


async def test_who_is_seen_on_the_local_day_is_listed_by_time_with_both_identifiers(
    tmp_path: Path,
) -> None:
    ward = Ward(
        tmp_path,
        *(person(number) for number in range(1, 9)),
        appointment("late", 1, "2026-11-24T14:30:00+01:00", reasonCode=[{"text": "Restaging"}]),
        appointment("early", 2, "2026-11-24T07:15:00Z", description="CT  results"),
        # In Berlin the day began at 23:00 UTC, and ends then.
        appointment("night", 3, "2026-11-23T23:30:00Z"),
        appointment("tomorrow", 4, "2026-11-24T23:30:00Z"),
        appointment("off", 5, "2026-11-24T09:00:00+01:00", status="cancelled"),
        appointment("unset", 6, status="waitlist"),
        visit("stay", 7, "2026-11-20T08:00:00+01:00", "in-progress", type=[{"text": "Inpatient"}]),
        visit("over", 8, "2026-11-20"),
    )
    found = await ward.read()
    rows = [
        (one.patient_id, one.kind, one.time, one.since, one.reason, one.name, one.birth_date)
        for one in found.today
    ]
    who = ("Ada Example", "1957-03-14")
    assert rows == [
        ("patient_7", "visit", "", "2026-11-20", "Inpatient", *who),
        ("patient_3", "appointment", "00:30", "", "", *who),
        ("patient_2", "appointment", "08:15", "", "CT results", *who),
        ("patient_1", "appointment", "14:30", "", "Restaging", *who),
    ]
    assert (found.day.isoformat(), found.time_zone) == ("2026-11-24", "Europe/Berlin")
    assert (found.state, found.is_whole) == ("listed", True)
    assert ward.trail.said == [("read_worklist", None)]


async def test_a_list_of_a_round_counts_a_day_as_the_worklist_does(tmp_path: Path) -> None:
    ward = Ward(
        tmp_path,
        *(person(number) for number in range(1, 5)),
        person(5, active=False),
        appointment("night", 1, "2026-11-23T23:30:00Z"),
        appointment("tomorrow", 2, "2026-11-24T23:30:00Z"),
        visit("stay", 3, "2026-11-20T08:00:00+01:00", "in-progress"),
        visit("withdrawn", 5, "2026-11-24"),
    )
    booked = appointment("x", 4, "2026-11-24T10:00:00+01:00")
    await ward.clinic.create_once({**booked, "identifier": [{"system": "urn:a", "value": "1"}]})
    today = sorted(one.patient_id for one in (await ward.read()).today)
    assert today == ["patient_1", "patient_3", "patient_4"]
    assert await ward.choice.find_seen_on(NOON.date(), owner=ADA) == today


async def test_a_day_that_is_over_is_read_from_the_charts(tmp_path: Path) -> None:
    ward = Ward(
        tmp_path,
        *(person(number) for number in range(1, 4)),
        appointment("then", 1, "2026-11-10T23:30:00Z"),
        visit("stay", 2, "2026-11-01", "in-progress"),
        appointment("later", 3, "2026-11-12T09:00:00+01:00"),
    )
    day = date(2026, 11, 11)
    assert await ward.choice.find_seen_on(day, owner=ADA) == ["patient_1", "patient_2"]


@pytest.mark.parametrize(
    ("state", "words"), [("not_searchable", "be searched by day"), ("too_many", "More visits")]
)
async def test_a_day_that_nobody_can_list_is_no_list_of_a_round(
    tmp_path: Path, state: DayState, words: str
) -> None:
    choice = replace(Ward(tmp_path, person(1)).choice, days=Told(state))
    with pytest.raises(errors.RoundsListError) as refused:
        await choice.find_seen_on(NOON.date(), owner=ADA)
    assert words in refused.value.user_message


async def test_what_was_booked_here_is_merged_with_the_charts_and_said_once(tmp_path: Path) -> None:
    held = [{"reference": "Appointment/a"}]
    ward = Ward(
        tmp_path,
        person(1),
        person(2),
        appointment("a", 1, "2026-11-24T09:00:00+01:00"),
        visit("b", 1, "2026-11-24T09:05:00+01:00", "in-progress", appointment=held),
    )
    booked = appointment("x", 2, "2026-11-24T10:00:00+01:00")
    await ward.clinic.create_once({**booked, "identifier": [{"system": "urn:a", "value": "1"}]})
    found = [(one.patient_id, one.kind, one.time) for one in (await ward.read()).today]
    assert found == [("patient_1", "visit", "09:05"), ("patient_2", "appointment", "10:00")]


async def test_the_list_follows_the_clock_and_the_files(tmp_path: Path) -> None:
    ward = Ward(tmp_path, person(1), appointment("a", 1, "2026-11-25T09:00:00+01:00"))
    assert (await ward.read()).today == []
    ward.clock.advance(timedelta(days=1).total_seconds())
    assert [one.patient_id for one in (await ward.read()).today] == ["patient_1"]
    ward.clock.advance(timedelta(days=1).total_seconds())
    assert (await ward.read()).today == []


async def test_a_closed_chart_is_named_in_neither_list(tmp_path: Path) -> None:
    ward = Ward(tmp_path, person(1), person(2), appointment("a", 1, "2026-11-24T09:00:00+01:00"))
    for number in (1, 2):
        await ward.list.pin(f"patient_{number}", owner=ADA)
    assert await ward.pins() == ["patient_1", "patient_2"]
    ward.policy.closed = {"patient_1", "patient_2"}
    closed = await ward.read()
    assert (closed.today, closed.pinned) == ([], [])
    ward.policy.closed = {"patient_2"}
    assert await ward.pins() == ["patient_1"]


async def test_each_user_has_their_own_pins_until_they_take_them_off(tmp_path: Path) -> None:
    ward = Ward(tmp_path, person(1, "Zoe"), person(2, "Ben"))
    for _ in range(2):
        await ward.list.pin("patient_1", owner=ADA)
    await ward.list.pin("patient_2", owner=ADA)
    await ward.list.pin("patient_2", owner=BEN)
    assert (await ward.pins(), await ward.pins(BEN)) == (["patient_2", "patient_1"], ["patient_2"])
    await ward.list.unpin("patient_2", owner=ADA)
    await ward.list.unpin("patient_2", owner=ADA)
    assert (await ward.pins(), await ward.pins(BEN)) == (["patient_1"], ["patient_2"])
    assert sorted(ward.store.contents) == [
        *sorted([
            f"worklist/{hashed(ADA)}/patient_1.json",
            f"worklist/{hashed(BEN)}/patient_2.json",
        ])
    ]  # fmt: skip
    told = [one for one in ward.trail.said if one[0] != "read_worklist"]
    assert told[0] == ("pin_patient", "patient_1")
    assert ("unpin_patient", "patient_2") in told


@pytest.mark.parametrize("wanted", ["patient_99", "p1", "../users", "x" * 80, ""])
async def test_whom_the_records_do_not_know_cannot_be_pinned(tmp_path: Path, wanted: str) -> None:
    ward = Ward(tmp_path, person(1))
    with pytest.raises(errors.NoSuchPatientError):
        await ward.list.pin(wanted, owner=ADA)
    await ward.list.unpin(wanted, owner=ADA)
    assert list(ward.store.contents) == []


async def test_a_closed_chart_cannot_be_pinned_and_who_is_withdrawn_goes(tmp_path: Path) -> None:
    ward = Ward(tmp_path, person(1), person(2, active=False))
    ward.policy.closed = {"patient_1"}
    with pytest.raises(errors.ChartClosedError):
        await ward.list.pin("patient_1", owner=ADA)
    assert ward.trail.said == [("open_chart", "patient_1")], "the refusal is on record"
    with pytest.raises(errors.NoSuchPatientError):
        await ward.list.pin("patient_2", owner=ADA)
    await ward.store.create(f"worklist/{hashed(ADA)}/patient_2.json", b"{}")
    await ward.store.create(f"worklist/{hashed(ADA)}/patient_77.json", b"{}")
    assert await ward.pins() == []


async def test_a_full_list_says_so(tmp_path: Path) -> None:
    ward = Ward(tmp_path, *(person(number) for number in range(PINS_LIMIT + 1)))
    for number in range(PINS_LIMIT):
        await ward.store.create(f"worklist/{hashed(ADA)}/patient_{number}.json", b"{}")
    with pytest.raises(errors.WorklistFullError) as refused:
        await ward.list.pin(f"patient_{PINS_LIMIT}", owner=ADA)
    assert "unpin one first" in refused.value.user_message


@pytest.mark.parametrize("state", ["not_searchable", "too_many", None])
async def test_a_day_that_cannot_be_listed_is_said_and_the_pins_are_shown(
    tmp_path: Path, state: DayState | None
) -> None:
    ward = Ward(tmp_path, person(1))
    await ward.list.pin("patient_1", owner=ADA)
    told = Worklist(
        days=Told(state),
        directory=ward.list.directory,
        guard=ward.list.guard,
        store=ward.store,
        zone=BERLIN,
    )
    found = await told.read(owner=ADA)
    assert (found.today, found.state) == ([], state or "unavailable")
    assert [one.patient_id for one in found.pinned] == ["patient_1"]


@pytest.mark.slow
async def test_a_thousand_charts_cost_little(tmp_path: Path) -> None:
    old = [visit(f"v{n}", n, "2020-01-01") for n in range(1_000)]
    near = [appointment(f"a{n}", n, "2026-11-24T09:00:00Z") for n in range(0, 1_000, 10)]
    ward = Ward(tmp_path, *(person(n) for n in range(1_000)), *old, *near)
    await ward.read()  # reads the folder
    with counted_calls() as made:
        assert len((await ward.read()).today) == 100
    assert made.count < 600 * 100, "it costs what is seen today, not what is in the folder"
