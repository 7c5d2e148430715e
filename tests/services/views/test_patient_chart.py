"""The chart beside the conversation, and what answers cite: only of the caller's own patients."""

from dataclasses import replace

import pytest

from data_models.clock import SystemClock
from data_models.errors import BadFrameError, NotFoundError
from services.views.conversation_reader import OwnedChat
from services.views.patient_chart import PARTS, PatientChart
from tests.fakes import GivenRecords, RememberedAudit, open_guard
from tests.services.records import charts
from tests.services.world import CHAT, OWNER, World
from tests.tables import with_cases

REF = "DocumentReference/n1"


TWO_VALUES_AND_A_NOTE = charts.record(
    charts.ecog("e1", "2024-05-01", "1"),
    charts.ecog("e2", "2024-06-01", "2"),
    charts.note("n1", "2024-06-11", "About patient_4."),
    charts.cancer(),
)


@pytest.fixture
async def world() -> World:
    world = World()
    await world.say("what about patient_4?")
    return world


def chart_of(world: World, audit: RememberedAudit) -> PatientChart:
    return PatientChart(
        reader=replace(world.reader, guard=open_guard(clock=SystemClock(), audit=audit)),
        records=GivenRecords(TWO_VALUES_AND_A_NOTE),
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
async def test_each_part_of_the_chart_says_whose_and_is_recorded(world: World, part: str) -> None:
    audit = RememberedAudit()
    view = await chart_of(world, audit).part(OwnedChat(CHAT, OWNER, "patient_4"), part=part)
    assert view.patient_id == "patient_4"
    assert view.rows or view.nothing
    [entry] = audit.entries
    assert (entry.patient, entry.actions) == ("patient_4", (f"read_{part}",))


async def test_the_values_of_one_thing_are_shown_over_time(world: World) -> None:
    view = await chart_of(world, RememberedAudit()).part(
        OwnedChat(CHAT, OWNER, "patient_4"), part="results", name="ECOG performance status"
    )
    assert sorted(row.date for row in view.rows) == ["2024-05-01", "2024-06-01"]


@pytest.mark.parametrize(
    ("owner", "patient_id"),
    [
        ("somebody-else", "patient_4"),
        (OWNER, "patient_15"),
        (OWNER, "session"),
        (OWNER, "../patient_4"),
    ],
)
async def test_every_other_chart_is_not_there(world: World, owner: str, patient_id: str) -> None:
    audit = RememberedAudit()
    with pytest.raises(NotFoundError):
        await chart_of(world, audit).part(OwnedChat(CHAT, owner, patient_id), part="summary")
    assert audit.entries == []


@pytest.mark.parametrize(
    ("part", "name"), [("everything", ""), ("problems", "Potassium"), ("results", "x" * 201)]
)
async def test_a_part_that_there_is_not_names_those_that_there_are(
    world: World, part: str, name: str
) -> None:
    with pytest.raises(BadFrameError, match=r"part must be one of summary|at most 200"):
        await chart_of(world, RememberedAudit()).part(
            OwnedChat(CHAT, OWNER, "patient_4"), part=part, name=name
        )


async def test_a_source_of_a_patient_here_opens_and_is_recorded(world: World) -> None:
    audit = RememberedAudit()
    sources = chart_of(world, audit)
    found = await sources.source(OwnedChat(CHAT, OWNER, "patient_4"), ref=REF)
    assert found.text == "About patient_4."
    [entry] = audit.entries
    assert (entry.principal, entry.patient, entry.actions) == (OWNER, "patient_4", ("read_source",))


@pytest.mark.slow
@with_cases("owner", "patient_id", "ref")
async def test_everything_else_is_not_there(
    world: World, owner: str, patient_id: str, ref: str
) -> None:
    sources = chart_of(world, RememberedAudit())
    with pytest.raises(NotFoundError):
        await sources.source(OwnedChat(CHAT, owner, patient_id), ref=ref)


async def test_the_list_names_patients_and_progress_names_runs(world: World) -> None:
    [row] = await world.reader.list_of(owner=OWNER)
    assert (row.chat_id, row.patient_ids) == (CHAT, ["patient_4"])
    heard = await world.say("and the history?")
    # The claim is let go a moment after the last event.
    await world.scheduler.drain(seconds=5)
    now = await world.reader.progress(OwnedChat(CHAT, OWNER))
    assert now.running_run_id is None
    assert now.last_run_id == heard.run.run_id
    with pytest.raises(NotFoundError):
        await world.reader.progress(OwnedChat(CHAT, "somebody-else"))
