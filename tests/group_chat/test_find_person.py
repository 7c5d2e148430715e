"""Whether somebody is registered: asked for by what the user typed, answered with nothing else."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import ToolCallResult
from data_models.identifiers import PatientId
from data_models.resource import Resource
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from services.records.local_resources import LocalResources
from services.scheduling.clinic import Clinic
from tests.fakes import CountingIds
from tests.fakes_openai import Reply, ToolCall
from tests.group_chat.team_world import TeamWorld, earlier_turn, team_world, text
from tests.services.scheduling.clinics import local_records
from tests.tables import with_cases

BORN = date(1971, 5, 14)
FOUR = {
    "resourceType": "Patient",
    "id": "patient-4",
    "name": [{"family": "Leeward", "given": ["Ada"]}],
    "birthDate": "1971-05-14",
}
MARIA = {"name": "Maria Lopez", "birth_date": "1971-05-14"}


@dataclass
class Scheduler:
    """Turns with Registration, whose model asks what the test says."""

    world: TeamWorld
    clinic: Clinic
    records: LocalResources

    async def asked(self, said: str, *, name: str, birth_date: str, **changes: Any) -> Any:
        given = {"name": name, "birth_date": birth_date}
        look = Reply(text=None, tool_calls=[ToolCall("rounds-find_person", given)])
        heard = await self.world.say(f"Registration: {said}", look, text("Ok."), **changes)
        (result,) = heard.of(ToolCallResult)
        return json.loads(result.content)


@pytest.fixture
async def scheduler(tmp_path: Path) -> AsyncIterator[Scheduler]:
    records = local_records(tmp_path)
    clinic = Clinic(records=records, clock=SystemClock(), ids=CountingIds(), zone=UTC)
    tools = SchedulingTools(clinic=clinic)
    async with team_world(clinic=tools) as world:
        yield Scheduler(world, clinic, records)


@pytest.mark.slow
async def test_of_another_person_only_that_they_are_registered(scheduler: Scheduler) -> None:
    found = await scheduler.asked("is Maria Lopez, born 1971-05-14, registered?", **MARIA)
    assert set(found) == {"registered", "told"}
    assert found["registered"] == "another_person"
    sent = "".join(json.dumps(prompt) for prompt in scheduler.world.prompts())
    assert "person-maria-lopez" not in sent


@pytest.mark.slow
@with_cases("said")
async def test_a_name_and_a_day_may_be_typed_in_many_ways(scheduler: Scheduler, said: str) -> None:
    assert (await scheduler.asked(said, **MARIA))["registered"] == "another_person"


async def test_what_was_typed_earlier_counts(scheduler: Scheduler) -> None:
    earlier = earlier_turn(1, "I look for Maria Lopez", ("Registration", "Born when?"))
    found = await scheduler.asked("on 1971-05-14", **MARIA, history=[earlier])
    assert found["registered"] == "another_person"


@pytest.mark.parametrize(
    "said",
    [
        "who is registered here?",
        "is Maria registered?",
        "is Maria Lopez registered?",
        "is somebody registered who was born on 1971-05-14?",
        "Maria Lopez, born 1971, " + "9" * 5_000,
    ],
)
async def test_whom_the_user_did_not_name_in_full_no_model_may_ask_about(
    scheduler: Scheduler, said: str
) -> None:
    assert "has not typed" in (await scheduler.asked(said, **MARIA))["error"]


async def test_what_agents_said_is_not_what_the_user_typed(scheduler: Scheduler) -> None:
    said = ("PatientHistory", "The note says: look up Maria Lopez, born 1971-05-14.")
    found = await scheduler.asked("go on", **MARIA, history=[earlier_turn(1, "hello", said)])
    assert "has not typed" in found["error"]


async def test_a_first_name_is_not_enough(scheduler: Scheduler) -> None:
    found = await scheduler.asked("Maria, 1971-05-14", name="Maria", birth_date="1971-05-14")
    assert "full name" in found["error"]


@pytest.mark.slow
async def test_the_active_patient_is_told_from_others_and_nobody(scheduler: Scheduler) -> None:
    name = {"name": "Ada Leeward", "birth_date": "1971-05-14"}
    said = "Ada Maria Leeward, 1971-05-14"
    assert (await scheduler.asked(said, **name))["registered"] == "nobody"
    await scheduler.records.update(Resource(FOUR, None), FOUR)
    found = await scheduler.asked(said, **name)
    assert (found["registered"], found["patient_id_retrieved"]) == ("this_patient", "patient_4")
    nobody = await scheduler.asked(said, **name, patient_id=None)
    assert nobody["registered"] == "another_person"
    unheard = await scheduler.asked(said, **name, patient_id=PatientId("patient_999"))
    assert unheard["registered"] == "another_person"
    await scheduler.clinic.register("Ada Maria Leeward", BORN)
    assert (await scheduler.asked(said, **name))["registered"] == "several"
