"""A type of step beside those that are shipped: one file, and authors write its name."""

import importlib
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from data_models.scenarios.scenario import STEP_TYPES, Step
from tests.services.scenario_world import ScenarioWorld, step, version

REMINDER = {"title": "Ask about the biopsy"}


@pytest.fixture
def reminder() -> Iterator[None]:
    """Add the file's type for one test."""
    importlib.reload(importlib.import_module("tests.extending.reminder_step"))
    yield
    del STEP_TYPES["reminder"]


@pytest.mark.usefixtures("reminder")
@pytest.mark.slow
async def test_a_step_of_the_new_type_does_what_its_file_says() -> None:
    world = ScenarioWorld()
    await world.publish(
        version(
            1,
            step("greet", "note", instructions="Greet."),
            step("note", "done", kind="reminder", parameters=REMINDER),
            step("done", instructions="Say goodbye."),
        )
    )
    await world.begin()
    await world.say("fine")
    assert [(one.tool, one.parameters) for one in world.team.actions] == [("add_task", REMINDER)]
    behind = [visit.step_id for visit in (await world.session()).step_history]
    assert behind == ["greet", "note", "done"]


def test_a_type_that_no_file_adds_is_refused() -> None:
    with pytest.raises(ValidationError, match="'chat' or 'tool'"):
        Step(id="note", kind="reminder")
