"""The samples, from start to end, and the typed door for fields (5.2)."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from data_models.errors import ScenarioPlanError, ToolInputError
from data_models.scenario_session import PatientProfile, ScenarioSession
from evals.parts.scenario_stores import MemoryBlobs, MemorySessionIndex
from services.scenarios.definition.definition_reader import read_definition
from services.scenarios.migration.catalogue import Catalogue
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.migration_config import DeploymentConfig
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.waiting import with_answers
from services.scenarios.session.guide import ScenarioGuide
from services.scenarios.session.recording import checked_values
from tests.fakes import CountingIds, FixedClock

SAMPLES = Path(__file__).parents[3] / "samples" / "scenarios"
ANSWERS: dict[str, JsonValue] = {
    "consent_given": True,
    "referral_reason": "a shadow on the lung",
    "date_of_birth": "1961-03-09",
    "ecog": 3,
    "weight_loss": False,
    "prior_treatment": True,
    "treatment_details": "four cycles",
    "history_complete": True,
    "contact_phone": "555 0100",
    "board_date": "2030-02-01",
    "clinical_question": "surgery or not",
    "pathology_available": True,
    "biomarkers_needed": True,
    "presenter": "Dr. Ito",
    "draft_accepted": True,
    "service": "second opinion",
    "preferred_day": "2030-02-03",
    "slot_accepted": True,
    "email": "jo@example.org",
    "needs_interpreter": True,
    "payment_done": True,
}


async def guided(name: str) -> tuple[ScenarioGuide, str]:
    plain = Path(__file__).parent / f"{name}.yaml"
    path = plain if plain.exists() else SAMPLES / f"{name}.yaml"
    graph = read_definition(path.read_text("utf-8"))
    clock = FixedClock()
    store = ScenarioStore(blobs=MemoryBlobs())
    deployer = Deployer(
        store=store,
        index=MemorySessionIndex(),
        clock=clock,
        ids=CountingIds(),
        config=DeploymentConfig(),
    )
    await deployer.publish_first(graph)
    catalogue = Catalogue(store=store, clock=clock)
    return ScenarioGuide(catalogue=catalogue, clock=clock, ids=CountingIds()), graph.scenario.id


async def walked(guide: ScenarioGuide, scenario_id: str) -> ScenarioSession:
    session = await guide.begin(scenario_id, channel="web")
    profile = PatientProfile()
    for _ in range(60):
        advance = await guide.go_on(session, profile, tool_ran=True)
        # A restart between any two turns loses nothing.
        session = ScenarioSession.model_validate_json(advance.session.model_dump_json())
        if advance.is_finished:
            return session
        told = {name: ANSWERS[name] for name in advance.missing}
        session = with_answers(session, told, await guide.graph(session))
    raise AssertionError("the scenario does not end")


@pytest.mark.parametrize(
    ("name", "last", "checkpoint", "visited"),
    [
        ("oncology_intake", "done", "Consent recorded", "urgent"),
        ("tumor_board_preparation", "close", "Case submitted to the board", "biomarkers"),
        ("appointment_booking", "reminder", "Payment Processed", "interpreter"),
    ],
)
async def test_a_sample_runs_from_start_to_end(
    name: str, last: str, checkpoint: str, visited: str
) -> None:
    guide, scenario_id = await guided(name)
    session = await walked(guide, scenario_id)
    assert session.step == last
    assert [passed.description for passed in session.completed_checkpoints] == [checkpoint]
    assert visited in session.path


async def test_where_are_we_names_the_step_and_what_is_missing() -> None:
    guide, scenario_id = await guided("oncology_intake")
    session = await guide.begin(scenario_id, channel="web")
    assert await guide.where(session, PatientProfile()) == (
        "Oncology intake: Welcome (0 of 13 steps done)."
    )
    session = (await guide.go_on(session, PatientProfile())).session
    assert await guide.where(session, PatientProfile()) == (
        "Oncology intake: Consent (1 of 13 steps done). Still needed: consent to share records."
    )


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"nonsense": 1}, "no such field 'nonsense'"),
        ({"ecog": "three"}, "ECOG performance status takes a value of type integer"),
        ({"ecog": True}, "ECOG performance status takes a value of type integer"),
        ({"date_of_birth": "in spring"}, "date of birth takes a value of type date"),
        ({"referral_reason": " "}, "reason for referral takes a value of type text"),
        ({"consent_given": None}, "consent to share records takes a value of type boolean"),
    ],
)
async def test_a_value_of_another_type_is_not_recorded(
    values: dict[str, JsonValue], problem: str
) -> None:
    guide, scenario_id = await guided("oncology_intake")
    session = await guide.begin(scenario_id, channel="web")
    graph = await guide.graph(session)
    if "nonsense" in values:
        with pytest.raises(ToolInputError, match=problem):
            checked_values(graph, session, values, {}, [])
        return
    checked = checked_values(graph, session, values, {}, [])
    assert problem in str(checked.problems)
    assert (checked.taken, checked.unfit) == ({}, [*values])
    assert "three" not in str(checked.problems)


async def test_a_tool_step_waits_for_its_tool() -> None:
    guide, scenario_id = await guided("tumor_board_preparation")
    session = await guide.begin(scenario_id, channel="web")
    told = {name: ANSWERS[name] for name in ("board_date", "presenter")}
    session, profile = with_answers(session, told, await guide.graph(session)), PatientProfile()
    session = (await guide.go_on(session, profile)).session
    assert session.step == "load"
    assert (await guide.go_on(session, profile)).session.step == "load"
    assert (await guide.go_on(session, profile, tool_ran=True)).session.step == "question"


async def test_what_is_not_deployed_cannot_begin() -> None:
    guide, _ = await guided("oncology_intake")
    with pytest.raises(ScenarioPlanError):
        await guide.begin("nowhere", channel="web")
