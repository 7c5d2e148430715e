"""The chart beside the conversation: only of the caller's own patients, and never unseen."""

from dataclasses import replace

import pytest

from data_models.clock import SystemClock
from data_models.errors import BadFrameError, NotFoundError
from data_models.identifiers import PatientId
from services.records.need import EVERYTHING, Need
from services.records.record import PatientRecord
from services.views.patient_chart import PARTS, PatientChart
from tests.fakes import RememberedAudit, open_guard
from tests.services.records import charts
from tests.services.world import CHAT, OWNER, World


class Records:
    """Two values of one thing, and a note."""

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        return charts.record(
            charts.ecog("e1", "2024-05-01", "1"),
            charts.ecog("e2", "2024-06-01", "2"),
            charts.note("n1", "2024-06-11", f"About {patient_id}."),
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
        contexts=world.contexts,
        records=Records(),
        clock=SystemClock(),
    )


@pytest.mark.parametrize("part", PARTS)
async def test_each_part_of_the_chart_says_whose_it_is_and_is_recorded(
    world: World, part: str
) -> None:
    audit = RememberedAudit()
    view = await chart_of(world, audit).part(CHAT, owner=OWNER, patient_id="patient_4", part=part)
    assert view.patient_id == "patient_4"
    assert view.rows or view.nothing
    [entry] = audit.entries
    assert (entry.patient, entry.actions) == ("patient_4", (f"read_{part}",))


async def test_the_values_of_one_thing_are_shown_over_time(world: World) -> None:
    view = await chart_of(world, RememberedAudit()).part(
        CHAT, owner=OWNER, patient_id="patient_4", part="results", name="ECOG performance status"
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
async def test_everybody_elses_chart_is_not_there(
    world: World, owner: str, patient_id: str
) -> None:
    audit = RememberedAudit()
    with pytest.raises(NotFoundError):
        await chart_of(world, audit).part(CHAT, owner=owner, patient_id=patient_id, part="summary")
    assert audit.entries == []


@pytest.mark.parametrize(
    ("part", "name"), [("everything", ""), ("problems", "Potassium"), ("results", "x" * 201)]
)
async def test_a_part_that_there_is_not_names_those_that_there_are(
    world: World, part: str, name: str
) -> None:
    with pytest.raises(BadFrameError, match=r"part must be one of summary|at most 200"):
        await chart_of(world, RememberedAudit()).part(
            CHAT, owner=OWNER, patient_id="patient_4", part=part, name=name
        )
