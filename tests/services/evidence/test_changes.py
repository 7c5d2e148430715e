"""What changed since a user last looked: exact on pairs of charts, silent where it cannot tell."""

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.identifiers import PatientId
from services.evidence import changes
from services.evidence.changes import ChartStates, chart_states
from services.evidence.looks import LookBook, Looked, RecentLooks
from services.records.resources.record import PatientRecord, record_from_resources
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.records.charts import PATIENT_ID, Json, patient, resource

THEN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
NOW = THEN + timedelta(days=3)
KINDS = ("lab", "pending lab", "problem", "drug", "order", "report", "plan")
_ON = "2026-04-02"


def made(kind: str, key: str) -> Json:
    """Return a resource that goes on, or waits for its result."""
    concept = {"text": f"{kind} {key}"}
    match kind:
        case "lab" | "pending lab":
            waits = kind == "pending lab"
            value = {} if waits else {"valueQuantity": {"value": 4, "unit": "mmol/L"}}
            status = "registered" if waits else "final"
            return resource("Observation", key, status=status, code=concept,
                            effectiveDateTime=_ON, **value)  # fmt: skip
        case "problem":
            active = {"coding": [{"code": "active"}]}
            return resource("Condition", key, code=concept, clinicalStatus=active,
                            recordedDate=_ON)  # fmt: skip
        case "drug":
            return resource("MedicationRequest", key, status="active", intent="order",
                            medicationCodeableConcept=concept, authoredOn=_ON)  # fmt: skip
        case "order":
            return resource("ServiceRequest", key, status="active", intent="order", code=concept,
                            authoredOn=_ON)  # fmt: skip
        case "report":
            return resource("DiagnosticReport", key, status="preliminary", code=concept,
                            effectiveDateTime=_ON)  # fmt: skip
        case _:
            return resource("CarePlan", key, status="active", intent="plan", title=f"plan {key}",
                    period={"start": _ON})  # fmt: skip


def edited(row: Json) -> Json:
    return {**copy.deepcopy(row), "note": [{"text": "seen again"}]}


def resulted(row: Json) -> Json | None:
    done = {"ServiceRequest": "completed", "DiagnosticReport": "final", "Observation": "final"}
    is_waiting = row["resourceType"] != "Observation" or row["status"] == "registered"
    if row["resourceType"] not in done or not is_waiting:
        return None
    value = {"valueString": "done"} if row["resourceType"] == "Observation" else {}
    return {**copy.deepcopy(row), "status": done[row["resourceType"]], **value}


def ended(row: Json) -> Json | None:
    match row["resourceType"]:
        case "Condition":
            return {**copy.deepcopy(row), "clinicalStatus": {"coding": [{"code": "resolved"}]}}
        case "MedicationRequest":
            return {**copy.deepcopy(row), "status": "stopped"}
        case "CarePlan":
            return {**copy.deepcopy(row), "period": {"start": _ON, "end": "2026-05-02"}}
        case "ServiceRequest":
            return {**copy.deepcopy(row), "status": "revoked"}
        case _:
            return None


def broken(row: Json) -> Json:
    return {**copy.deepcopy(row), "status": {"not": "a code"}, "code": "no concept"}


_GONE: Json = {}
_DEEDS: dict[str, Callable[[Json], Json | None]] = {
    "stays": lambda row: row,
    "changed": edited,
    "ended": ended,
    "resulted": resulted,
    "gone": lambda _: _GONE,
    "cannot compare": broken,
}
"""What may become of a resource; nothing where it cannot happen to its kind."""


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Json], list[Json], set[tuple[str, str]]]:
    """Return a chart, the chart later, and what changed, by a program of the test's own."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=12))
    before = [made(kind, f"r{at}") for at, kind in enumerate(kinds)]
    after: list[Json] = []
    wanted: set[tuple[str, str]] = set()
    for row in before:
        do = draw(st.sampled_from(sorted(_DEEDS)))
        new = _DEEDS[do](row)
        if new is not row and new is not None:
            wanted.add((f"{row['resourceType']}/{row['id']}", do))
        if new != _GONE:
            after.append({**(new or row), "meta": {"versionId": "7"}})
    for at in range(draw(st.integers(0, 4))):
        row = made(draw(st.sampled_from(KINDS)), f"n{at}")
        after.append(row)
        wanted.add((f"{row['resourceType']}/{row['id']}", "new"))
    return before, draw(st.permutations(after)), wanted


def chart(*rows: Json, **more: Any) -> PatientRecord:
    entries = [{"resource": row} for row in (patient(), *rows)]
    return record_from_resources(PATIENT_ID, entries, **more)


def states(*rows: Json, at: datetime = THEN, **more: Any) -> ChartStates:
    return chart_states(chart(*rows, **more), at=at)


def said(before: ChartStates, after: ChartStates) -> set[tuple[str, str]]:
    return {(one.ref, one.change) for one in changes.changed_between(before, after)}


@pytest.mark.slow
@given(pairs())
def test_each_change_of_a_chart_is_told_once_and_nothing_else(
    pair: tuple[list[Json], list[Json], set[tuple[str, str]]],
) -> None:
    before, after, wanted = pair
    old, new = states(*before), states(*after, at=NOW)
    assert said(old, new) == wanted
    rows = changes.changes_view(chart(*after), old, new).rows
    assert len(rows) == len(wanted), [row.name for row in rows]
    assert all(row.sources for row in rows if row.status not in ("no longer in the record",
               "cannot compare"))  # fmt: skip


def test_what_was_unreadable_then_is_not_called_new_now() -> None:
    row = made("problem", "c1")
    assert said(states(broken(row)), states(row)) == {("Condition/c1", "cannot compare")}


def test_a_chart_that_was_cut_off_proves_nothing_new_and_nothing_gone() -> None:
    old, new = states(made("lab", "a"), truncated=True), states(made("lab", "b"), at=NOW)
    assert said(old, new) == {("Observation/a", "gone")}
    assert "cannot compare what is new" in changes.changes_view(chart(), old, new).notes[0]
    old, new = states(made("lab", "a")), states(made("lab", "b"), truncated=True)
    assert said(old, new) == {("Observation/b", "new")}
    assert "some of it cannot be compared" in changes.line_of(old, new)


def test_a_plan_whose_last_day_passes_has_ended_though_nobody_wrote() -> None:
    row = {**made("plan", "p"), "period": {"start": "2026-04-02", "end": "2026-05-02"}}
    assert said(states(row), states(row, at=NOW)) == {("CarePlan/p", "ended")}


def test_resources_without_ids_are_not_compared_by_their_place() -> None:
    rows = [{k: v for k, v in made("lab", "x").items() if k != "id"} for _ in range(2)]
    assert said(states(rows[0]), states(*rows)) == {("Observation without an id", "cannot compare")}


def test_a_death_is_a_change_of_the_person() -> None:
    dead = record_from_resources(PATIENT_ID, [{"resource": patient(deceasedDateTime="2026-05-02")}])
    old, new = states(), chart_states(dead, at=NOW)
    row, = changes.changes_view(dead, old, new).rows  # fmt: skip
    assert row.status == "changed"
    assert "deceased: 2026-05-02" in row.detail


def test_the_first_look_has_nothing_to_compare_with() -> None:
    assert changes.changes_view(chart(), None, states()).nothing == changes.FIRST_LOOK


def test_days_tell_what_began_resulted_and_ended_in_them() -> None:
    late = {**made("lab", "late"), "issued": "2026-05-02T08:00:00Z"}
    over = {**made("plan", "over"), "period": {"start": "2026-04-02", "end": "2026-05-02"}}
    new = {**made("problem", "new"), "recordedDate": "2026-05-03"}
    undated = {**made("order", "undated")}
    del undated["authoredOn"]
    view = changes.changes_of_days(
        chart(late, over, new, undated, made("lab", "old")),
        since=datetime(2026, 5, 1, tzinfo=UTC).date(),
        until=None,
        today=NOW.date(),
    )
    assert [(row.sources[0], row.status.split(" (")[0]) for row in view.rows] == [
        ("Observation/late", "resulted"), ("Condition/new", "new"), ("CarePlan/over", "ended"),
    ]  # fmt: skip
    assert view.notes == ("1 entry without a date: cannot compare",)


async def noted(book: LookBook, user: str, patient_id: PatientId, now: ChartStates) -> None:
    await book.note(user, patient_id, await book.take(user, patient_id, now))


async def test_a_look_at_an_unchanged_chart_is_noted_every_five_minutes_only() -> None:
    store = MemoryBlobStore()
    book, minute = LookBook(store=store), timedelta(minutes=1)
    await noted(book, "ada", PATIENT_ID, states(made("lab", "a")))
    first = await book.take("ada", PATIENT_ID, states(made("lab", "a"), at=THEN + 4 * minute))
    await book.note("ada", PATIENT_ID, first)
    again = await book.take("ada", PATIENT_ID, states(at=THEN + 4 * minute))
    assert again.note == first.note
    await book.note("ada", PATIENT_ID, again)
    changed = await book.take("ada", PATIENT_ID, states(at=THEN + 9 * minute))
    assert changed.note != first.note, "the chart is another"
    await book.note("ada", PATIENT_ID, changed)
    assert present(await book.read("ada", PATIENT_ID)).last.taken_at == THEN + 9 * minute


async def test_a_look_that_goes_on_is_taken_again_once_the_chart_or_the_day_is_another() -> None:
    book, recent, minute = LookBook(store=MemoryBlobStore()), RecentLooks(), timedelta(minutes=1)
    record, key = chart(made("lab", "a")), ("ada", PATIENT_ID)
    await noted(book, *key, chart_states(record, at=THEN))
    looked = present(await book.read(*key))
    recent.keep(key, record, looked)

    going_on = present(recent.taken(key, record, THEN + 4 * minute))
    assert going_on.now == looked.last
    assert going_on.baseline is None, "it is the first look still"
    await book.note(*key, going_on)
    assert await book.read(*key) == looked, "nothing of it is to be noted"

    assert recent.taken(key, record, THEN + 5 * minute) is None, "it is to be noted anew"
    assert recent.taken(key, chart(made("lab", "a")), THEN + minute) is None, "loaded anew"
    assert recent.taken(("bob", PATIENT_ID), record, THEN + minute) is None, "each has their own"


def test_a_look_that_goes_on_over_midnight_is_taken_again() -> None:
    recent, record, key = RecentLooks(), chart(made("plan", "a")), ("ada", PATIENT_ID)
    late = THEN.replace(hour=23, minute=59)
    seen = Looked(patient_id=PATIENT_ID, last=chart_states(record, at=late))
    recent.keep(key, record, seen)
    assert recent.taken(key, record, late + timedelta(seconds=50)) is not None
    assert recent.taken(key, record, late + timedelta(minutes=2)) is None


async def test_a_look_ends_thirty_minutes_after_its_last_turn() -> None:
    book, who, one = LookBook(store=MemoryBlobStore()), "ada", PatientId("patient_9")
    await noted(book, who, one, states(made("lab", "a")))
    minute = timedelta(minutes=1)
    await noted(book, who, one, states(made("lab", "a"), made("lab", "b"), at=THEN + 29 * minute))
    looked = present(await book.read(who, one))
    assert looked.baseline(THEN + 59 * minute) is None, "it is the first look still"
    baseline = present(looked.baseline(THEN + 60 * minute))
    assert set(baseline.rows) == {"Patient", "Observation/a", "Observation/b"}
    assert await book.read("bob", one) is None, "each has their own"
    await noted(book, who, one, states(at=THEN + 61 * minute))
    again = present(await book.read(who, one))
    assert again.baseline(THEN + 62 * minute) == baseline, "it stays as the look goes on"


async def test_a_note_that_cannot_be_read_counts_as_no_look() -> None:
    store = MemoryBlobStore()
    book = LookBook(store=store)
    await noted(book, "ada", PATIENT_ID, states())
    (name,) = [row.name async for row in store.list("looked/")]
    await store.replace(name, b"{", etag=present(await store.read(name)).etag)
    assert await book.read("ada", PATIENT_ID) is None
    await noted(book, "ada", PATIENT_ID, states())
    assert await book.read("ada", PATIENT_ID) is not None


@pytest.mark.parametrize("text", ["Example", "mmol", "problem"])
async def test_a_look_holds_no_word_of_the_chart(text: str) -> None:
    store = MemoryBlobStore()
    seen = states(made("problem", "c"), made("lab", "l"))
    await noted(LookBook(store=store), "ada", PATIENT_ID, seen)
    (name,) = [row.name async for row in store.list("looked/")]
    assert text.encode() not in present(await store.read(name)).data
