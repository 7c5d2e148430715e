"""What operators do to sessions, as their users meet it at the next turn."""

import pytest
from prometheus_client import CollectorRegistry

from data_models.documents import Documents
from data_models.identifiers import hashed
from services.audit.trail import NoAudit
from services.conversations.maintenance_lease import MaintenanceLease
from services.scenarios.operators.asked import ActionKind, Intervention, Paging
from services.scenarios.operators.operator_factory import Operators, operators_for
from tests.services.scenario_world import ScenarioWorld, questions, step, version
from tests.services.scenarios.worlds import deploy_now

VISIT = version(
    1,
    step("size", "weight", collects_profile_fields=("size",)),
    step("weight", "done", collects_profile_fields=("weight",)),
    step("done", instructions="Say goodbye."),
)
SECOND = version(
    2,
    step("size", "age", collects_profile_fields=("size",)),
    step("age", "weight", collects_profile_fields=("age",)),
    step("weight", "done", collects_profile_fields=("weight",)),
    step("done", instructions="Say goodbye.", uses=("age",)),
)


@pytest.fixture
async def visit() -> ScenarioWorld:
    world = ScenarioWorld()
    await world.publish(VISIT)
    await world.begin()
    await world.say("It is 100", size=100)
    return world


def operators(world: ScenarioWorld) -> Operators:
    documents = Documents(store=world.sessions, clock=world.clock, ids=world.ids)
    return operators_for(
        world.stores,
        documents=documents,
        audit=NoAudit(),
        registry=CollectorRegistry(),
        clock=world.clock,
        ids=world.ids,
        lease=MaintenanceLease(claimant=world.world.claimant, ids=world.ids),
        works=False,
    )


async def act(world: ScenarioWorld, kind: ActionKind, step: str = "", *fields: str) -> None:
    session = await world.session()
    done = Intervention(action=kind, reason="a reason", step=step, fields=fields)
    service = operators(world).service.of("ann").sessions
    await service.act("visit", hashed(session.session_id), done)


async def test_a_moved_session_goes_on_where_it_was_moved_to(visit: ScenarioWorld) -> None:
    await act(visit, "move", "size")
    heard = await visit.say("hello")
    assert questions(heard)[0] == "An operator moved Visit to “size”."
    assert (await visit.session()).step == "weight"  # the size is known
    assert "moved" not in str((await visit.say("and now?")).texts)


async def test_what_is_asked_again_is_asked_again(visit: ScenarioWorld) -> None:
    await act(visit, "ask_again", "", "size")
    heard = await visit.say("hello")
    assert questions(heard)[0] == "Please answer again: size."
    session = await visit.session()
    assert (session.step, session.variables) == ("size", {})
    await visit.say("It is 90", size=90)
    assert (await visit.session()).variables == {"size": 90}


async def test_an_ended_session_is_told_once_and_keeps_its_data(visit: ScenarioWorld) -> None:
    await act(visit, "end")
    heard = await visit.say("eighty")
    assert questions(heard)[0].startswith("Visit was ended by an operator.")
    session = await visit.session()
    assert (session.step, session.variables) == (None, {"size": 100})
    assert (await visit.index.page("visit", limit=10)).rows == []


async def test_a_pinned_session_is_left_on_its_version(visit: ScenarioWorld) -> None:
    await visit.deployer.propose(SECOND, operator="ann")
    await act(visit, "pin")
    await deploy_now(visit.deployer, "visit")
    visit.clock.advance(6.0)
    await visit.say("It is 80", weight=80)
    session = await visit.session()
    assert (session.version, session.variables) == (1, {"size": 100, "weight": 80})


@pytest.mark.slow
async def test_a_session_that_was_asked_too_often_can_be_resumed(visit: ScenarioWorld) -> None:
    await visit.deploy(SECOND)
    for _ in range(4):
        await visit.say("I would rather talk of something else")
    stuck = await visit.session()
    assert stuck.review is not None
    assert stuck.version == 1
    await act(visit, "resume")
    heard = await visit.say("fine")
    assert "What is your age?" in questions(heard)[-1]
    await visit.say("41")
    session = await visit.session()
    assert (session.version, session.variables["age"]) == (2, 41)


async def test_a_withdrawn_scenario_ends_for_those_in_it(
    visit: ScenarioWorld,
) -> None:
    await visit.deployer.withdraw("visit", reason="wrong questions")
    visit.clock.advance(6.0)
    heard = await visit.say("eighty")
    assert questions(heard)[0].startswith("Visit is not offered any more")
    session = await visit.session()
    assert (session.step, session.variables) == (None, {"size": 100})
    assert (await visit.index.page("visit", limit=10)).rows == []
    await visit.say("start visit")
    assert (await visit.session()).session_id == session.session_id
    await visit.deployer.withdraw("visit", reason="")
    visit.clock.advance(6.0)
    await visit.say("start visit")
    assert (await visit.session()).step == "size"


async def test_the_next_dry_run_says_how_the_last_one_came_true(visit: ScenarioWorld) -> None:
    service = operators(visit).service.of("ann")
    await visit.deployer.propose(SECOND, operator="ann")
    page = await service.dry_run("visit", Paging())
    assert [row.collect for row in page.rows] == [("age",)]
    await deploy_now(visit.deployer, "visit")
    visit.clock.advance(6.0)
    await visit.say("hello")
    await visit.say("41")
    score = await service.scores.score("visit", (1, 2))
    assert score is not None
    assert (score.to_version, score.foretold, score.met, score.right) == (2, 1, 1, 1)
