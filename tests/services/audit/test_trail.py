"""The audit trail: durable or refused, one append for many, and every change found."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from data_models.errors import AuditUnavailableError, CorruptDocumentError
from data_models.storage.local_blob_store import LocalBlobStore
from services.audit.__main__ import verify
from services.audit.trail import (
    AuditEntry,
    AuditTrail,
    Link,
    NoAudit,
    Place,
    checked,
    first_link,
    sealed,
)
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, Fault, FaultyBlobStore, LostAnswer

DAY = "2030-01-02"
FIRST = f"trail/{DAY}/host%2F1/000001.jsonl"


def entry(run: int = 1, *, patient: str | None = "patient_4") -> AuditEntry:
    return AuditEntry(
        principal="entra:t:o",
        conversation="conv 1",
        patient=patient,
        run_id=f"run_{run}",
        actions=("turn", "PatientHistory.load_patient_data"),
    )


def over_of(run: int) -> AuditEntry:
    return entry(run).model_copy(update={"outcome": "done", "receipt": "a" * 64})


def trail_on(store: MemoryBlobStore | FaultyBlobStore | LocalBlobStore) -> AuditTrail:
    return AuditTrail(store=store, replica="host/1", clock=FixedClock())


async def kept(store: MemoryBlobStore | FaultyBlobStore | LocalBlobStore, runs: int) -> AuditTrail:
    """Return a trail on which so many runs stand."""
    trail = trail_on(store)
    for run in range(runs):
        await trail.record(entry(run))
    return trail


def rows(store: MemoryBlobStore) -> list[dict[str, object]]:
    return [json.loads(line) for data in store.contents.values() for line in data.splitlines()]


async def test_a_record_says_who_did_what_and_nothing_more() -> None:
    store = MemoryBlobStore()
    await trail_on(store).record(entry())
    assert list(store.contents) == [FIRST]
    (row,) = rows(store)
    digests = {str(row.pop("prev")), str(row.pop("hash"))}
    assert {len(digest) for digest in digests} == {64}
    assert row == {
        "v": 1,
        "number": 1,
        "time": "2030-01-02T03:04:05.000+00:00",
        "principal": "entra:t:o",
        "conversation": "conv 1",
        "patient": "patient_4",
        "run_id": "run_1",
        "actions": ["turn", "PatientHistory.load_patient_data"],
        "outcome": "begun",
    }


async def test_turns_side_by_side_share_an_append() -> None:
    store = FaultyBlobStore(MemoryBlobStore())
    trail = trail_on(store)
    await trail.record(entry())
    before = len(store.operations)
    await asyncio.gather(*(trail.record(entry(run)) for run in range(50)))
    assert [one.kind for one in store.operations[before:]] == ["append"]
    assert (await verify(store)).records == 51


async def test_a_record_costs_one_append_once_the_chain_is_open() -> None:
    store = FaultyBlobStore(MemoryBlobStore())
    await kept(store, 4)
    assert [one.kind for one in store.operations] == ["read", *["append"] * 4]


async def test_the_record_of_what_is_over_shares_the_append_of_the_next_access() -> None:
    kept = MemoryBlobStore()
    store = FaultyBlobStore(kept)
    trail = trail_on(store)
    await trail.record(entry(1))
    before = len(store.operations)
    over = asyncio.create_task(trail.record(over_of(1)))
    await asyncio.sleep(0)
    assert not over.done()
    await trail.record(entry(2))
    await over
    assert [one.kind for one in store.operations[before:]] == ["append"]
    assert [row.get("receipt") for row in rows(kept)] == [None, "a" * 64, None]


async def test_the_wait_of_a_record_that_shared_an_append_cuts_no_later_wait_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    waits: list[asyncio.TimerHandle] = []

    def call_later(delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        waits.append(loop.call_at(loop.time() + delay, callback))
        return waits[-1]

    trail = trail_on(MemoryBlobStore())
    monkeypatch.setattr(loop, "call_later", call_later)
    over = asyncio.create_task(trail.record(over_of(1)))
    await asyncio.sleep(0)
    await trail.record(entry(2))
    await over
    assert [one.cancelled() for one in waits] == [True]


async def test_the_record_of_what_is_over_is_written_before_the_trail_is_closed() -> None:
    store = MemoryBlobStore()
    trail = trail_on(store)
    over = asyncio.create_task(trail.record(over_of(1)))
    await asyncio.sleep(0)
    await trail.close()
    await over
    assert len(rows(store)) == 1


async def test_the_record_of_what_is_over_waits_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.audit.trail.PATIENCE_SECONDS", 0.0)
    store = MemoryBlobStore()
    await trail_on(store).record(over_of(1))
    assert len(rows(store)) == 1


async def test_each_day_has_its_chain() -> None:
    store, clock = MemoryBlobStore(), FixedClock(datetime(2030, 1, 2, 23, 59, 59, tzinfo=UTC))
    trail = AuditTrail(store=store, replica="host/1", clock=clock)
    await trail.record(entry(1))
    clock.advance(2)
    await trail.record(entry(2))
    assert list(store.contents) == [FIRST, FIRST.replace(DAY, "2030-01-03")]
    assert [row["number"] for row in rows(store)] == [1, 1]
    report = await verify(store)
    assert (report.chains, report.breaks) == (2, [])


async def test_a_restart_goes_on_where_the_chain_ends() -> None:
    store = MemoryBlobStore()
    await trail_on(store).record(entry(1))
    await trail_on(store).record(entry(2))
    assert [row["number"] for row in rows(store)] == [1, 2]
    assert (await verify(store)).breaks == []


async def test_two_processes_of_one_name_keep_one_chain() -> None:
    store = MemoryBlobStore()
    first, second = trail_on(store), trail_on(store)
    for run in range(6):
        await (first if run % 2 else second).record(entry(run))
    assert [row["run_id"] for row in rows(store)] == [f"run_{run}" for run in range(6)]
    assert (await verify(store)).breaks == []


async def test_a_full_part_is_followed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.audit.trail.PART_LIMIT_RECORDS", 2)
    store = MemoryBlobStore()
    await kept(store, 5)
    await trail_on(store).record(entry(5))
    assert len(store.contents) == 3
    report = await verify(store)
    assert (report.chains, report.records, report.breaks) == (1, 6, [])


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({2: LostAnswer()}, id="the first acknowledgement is lost"),
        pytest.param({3: LostAnswer()}, id="a later acknowledgement is lost"),
        pytest.param({2: Down()}, id="the store is down for a moment"),
        pytest.param({2: LostAnswer(), 4: LostAnswer()}, id="twice"),
    ],
)
async def test_a_lost_acknowledgement_neither_fails_nor_doubles(plan: Mapping[int, Fault]) -> None:
    inner = MemoryBlobStore()
    trail = trail_on(FaultyBlobStore(inner, plan))
    for run in range(3):
        await trail.record(entry(run))
    assert [row["run_id"] for row in rows(inner)] == ["run_0", "run_1", "run_2"]
    assert (await verify(inner)).breaks == []


async def test_no_access_without_its_record() -> None:
    store = FaultyBlobStore(MemoryBlobStore(), always=Down())
    trail = trail_on(store)
    answers = await asyncio.gather(
        *(trail.record(entry(run)) for run in range(3)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [AuditUnavailableError] * 3
    store.always = None
    await trail.record(entry(9))
    assert (await verify(store)).breaks == []


async def test_a_caller_that_leaves_takes_nobody_along() -> None:
    store = MemoryBlobStore()
    trail = trail_on(store)
    leaving = asyncio.create_task(trail.record(entry(1)))
    staying = asyncio.create_task(trail.record(entry(2)))
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert (await verify(store)).records == 2


async def test_nobody_waits_for_ever_when_the_writer_breaks() -> None:
    class Broken(MemoryBlobStore):
        async def append(self, name: str, data: bytes, *, position: int) -> int:
            raise ZeroDivisionError

    trail = trail_on(Broken())
    with pytest.raises(AuditUnavailableError):
        await asyncio.wait_for(trail.record(entry()), 60)
    with pytest.raises(AuditUnavailableError):
        await asyncio.wait_for(trail.record(entry()), 60)


async def test_closing_waits_for_what_is_under_way() -> None:
    store = MemoryBlobStore()
    trail = trail_on(store)
    task = asyncio.create_task(trail.record(entry()))
    await asyncio.sleep(0)
    await trail.close()
    assert rows(store)
    await task


async def test_half_a_record_of_a_killed_process_is_reported_and_work_goes_on() -> None:
    store = MemoryBlobStore()
    await trail_on(store).record(entry(1))
    torn = store.contents[FIRST][:80]
    await store.append(FIRST, torn, position=len(store.contents[FIRST]))
    await trail_on(store).record(entry(2))
    assert len(store.contents) == 2
    (broken,) = (await verify(store)).breaks
    assert (broken.name, broken.record) == (FIRST, 2)


@pytest.mark.slow
@given(st.data())
async def test_every_change_of_a_byte_is_found(data: st.DataObject) -> None:
    store = MemoryBlobStore()
    await kept(store, 3)
    original = store.contents[FIRST]
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != original[place]))
    changed = original[:place] + bytes([byte]) + original[place + 1 :]
    await store.delete(FIRST)
    await store.create(FIRST, changed)
    assert (await verify(store)).breaks


@pytest.mark.parametrize("order", [(1, 2), (0, 2), (1, 0, 2), (0, 0, 1, 2), (2, 1, 0)])
async def test_a_record_taken_out_moved_or_doubled_is_found(order: tuple[int, ...]) -> None:
    store = MemoryBlobStore()
    await kept(store, 3)
    lines = store.contents[FIRST].splitlines(keepends=True)
    await store.delete(FIRST)
    await store.create(FIRST, b"".join(lines[number] for number in order))
    (broken,) = (await verify(store)).breaks
    wrong = next(at for at, number in enumerate(order) if number != at)
    assert broken.record == wrong + 1


async def test_a_record_of_another_chain_is_found() -> None:
    store = MemoryBlobStore()
    for replica in ("a", "b"):
        trail = AuditTrail(store=store, replica=replica, clock=FixedClock())
        for run in range(2):
            await trail.record(entry(run))
    name = f"trail/{DAY}/a/000001.jsonl"
    first, _ = store.contents[name].splitlines(keepends=True)
    _, foreign = store.contents[name.replace("/a/", "/b/")].splitlines(keepends=True)
    await store.delete(name)
    await store.create(name, first + foreign)
    (broken,) = (await verify(store)).breaks
    assert (broken.name, broken.record) == (name, 2)


FORMS = [
    pytest.param(lambda line: b" " + line, id="a blank"),
    pytest.param(lambda line: line.replace(b'{"', b'{"patient":"x","', 1), id="a second key"),
    pytest.param(lambda line: line.replace(b"run_0", b"run\\u005f0"), id="an escape"),
    pytest.param(lambda line: line[:-1] + b"\r\n", id="another line end"),
]


@pytest.mark.parametrize("changed", FORMS)
async def test_a_record_in_another_form_is_found(changed: Callable[[bytes], bytes]) -> None:
    store = MemoryBlobStore()
    await trail_on(store).record(entry(0))
    line = store.contents[FIRST]
    await store.delete(FIRST)
    await store.create(FIRST, changed(line))
    assert (await verify(store)).breaks


def test_a_forged_number_is_found() -> None:
    start = first_link("d", "f")
    line, _ = sealed([entry()], after=Link(7, start.digest), time=datetime(2030, 1, 1, tzinfo=UTC))
    with pytest.raises(CorruptDocumentError, match="does not follow"):
        checked(line[:-1], after=start)


async def test_a_missing_part_and_a_stray_file_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.audit.trail.PART_LIMIT_RECORDS", 1)
    store = MemoryBlobStore()
    await kept(store, 3)
    await store.delete(FIRST.replace("000001", "000002"))
    await store.create(f"trail/{DAY}/stray.txt", b"")
    reasons = {broken.reason for broken in (await verify(store)).breaks}
    assert reasons == {"is missing", "is not part of a chain"}


def test_no_chain_fits_another_place() -> None:
    places = [("2030-01-01", "a"), ("2030-01-02", "a"), ("2030-01-01", "b")]
    assert len({first_link(*place).digest for place in places}) == 3
    time = datetime(2030, 1, 1, tzinfo=UTC)
    assert sealed([entry()], after=first_link("a", "b"), time=time) != sealed(
        [entry()], after=first_link("a", "c"), time=time
    )


def test_a_replicas_name_cannot_leave_its_folder() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    assert Place.of(moment, "../../x").part(1).count("/") == 3


@pytest.mark.parametrize("action", ["what the patient said", "", "a\n", "ä", "x" * 81])
def test_an_action_is_a_name_never_content(action: str) -> None:
    with pytest.raises(ValidationError):
        AuditEntry(principal="p", conversation="c", actions=(action,))


async def test_dev_can_do_without() -> None:
    await NoAudit().record(entry())


async def test_the_trail_on_a_real_disk(tmp_path: Path) -> None:
    store = LocalBlobStore(root=tmp_path)
    trail = trail_on(store)
    await asyncio.gather(*(trail.record(entry(run)) for run in range(20)))
    report = await verify(store, day=DAY)
    assert (report.records, report.breaks) == (20, [])
    assert (await verify(store, day="2029-01-01")).chains == 0
    await store.close()
