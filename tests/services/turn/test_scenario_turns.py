"""Scenarios in turns: begun, guided, left and resumed, without any migration (page 5.2)."""

import json

import pytest

from data_models.chat_context import AgentMessage, ChatContext
from data_models.conversations.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    RunFailed,
    StateChanged,
)
from data_models.documents import parse_document
from services.group_chat_port import GroupChatRequest
from services.turn.tools import needed_keys
from services.views.conversation_reader import OwnedChat
from tests.services.scenario_world import (
    PATIENT,
    ScenarioWorld,
    questions,
    sample,
    step,
    version,
    with_sample_records,
)
from tests.services.turn.test_scenario_talks import VISIT
from tests.services.world import CHAT, OWNER


def listening(world: ScenarioWorld) -> list[str]:
    """What the lead is told while it speaks, turn by turn."""
    shown: list[str] = []

    def say(request: GroupChatRequest) -> list[str]:
        shown.append("" if request.scenario is None else request.scenario.grounding)
        return [f"Heard: {request.text}"]

    world.team.say = say
    return shown


@pytest.fixture
async def visit() -> ScenarioWorld:
    world = ScenarioWorld()
    await world.publish(VISIT)
    return world


async def test_a_session_says_whose_directory_it_is_of(visit: ScenarioWorld) -> None:
    await visit.say("hello patient_4")
    message = visit.world.message("start visit")
    sender = message.sender.model_copy(update={"tenant_id": "tenant-1"})
    run = await visit.world.scheduler.submit(message.model_copy(update={"sender": sender}))
    await run.wait()
    await visit.world.scheduler.idle()
    assert (await visit.session()).tenant_id == "tenant-1"


async def test_a_tool_step_runs_its_tool_once_with_a_key(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    await visit.say("nine", size=9)
    assert [one.tool for one in visit.team.actions] == ["load_patient_data"]
    session = await visit.session()
    assert [one.idempotency_key for one in session.executed] == [
        visit.team.actions[0].idempotency_key
    ]
    await visit.say("thanks")
    assert len(visit.team.actions) == 1


async def test_a_tool_that_fails_keeps_the_session_and_is_tried_again(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    visit.team.broken_tools = {"load_patient_data"}
    await visit.say("nine", size=9)
    assert (await visit.session()).step == "big"
    visit.team.broken_tools = set()
    await visit.say("again")
    assert (await visit.session()).path[-1] == "done"
    assert len({one.idempotency_key for one in visit.team.actions}) == 1


async def test_one_whose_first_version_was_not_active_yet_can_be_started_once_it_is(
    visit: ScenarioWorld,
) -> None:
    graph = sample("oncology_intake")
    await visit.stores.store.add_version(graph)
    await visit.begin()
    await visit.publish(graph)
    await visit.say("start oncology intake")
    assert (await visit.session()).scenario_id == "oncology-intake"


async def test_nobody_starts_one_without_a_patient(visit: ScenarioWorld) -> None:
    heard = await visit.say("start visit")
    assert "Name one first" in heard.texts[0]


@pytest.mark.slow
async def test_the_record_is_the_read_only_source_of_what_it_holds() -> None:
    world = ScenarioWorld()
    world.records = with_sample_records(world.clock)
    world = ScenarioWorld(clock=world.clock, records=world.records)
    await world.publish(sample("oncology_intake"))
    await world.begin("oncology intake")
    await world.say("fine")
    shown = listening(world)
    await world.say("yes", consent_given=True)
    assert "1957-03-14" in shown[0]
    assert '"ask_for": [{"name": "contact_phone"' in shown[0]
    assert "date_of_birth" not in (await world.document()).profile.fields
    passed = (await world.session()).completed_checkpoints
    assert [one.description for one in passed] == ["Consent recorded"]


async def test_a_completed_checkpoint_is_on_record_with_its_key() -> None:
    graph = version(
        1,
        step("begin", "pay", instructions="Begin."),
        step("pay", "end", is_checkpoint=True, checkpoint_description="Paid"),
        step("end", instructions="End."),
    )
    world = ScenarioWorld()
    await world.publish(graph)
    await world.begin()
    await world.say("go on")
    passed = (await world.session()).completed_checkpoints
    assert [(one.step_id, bool(one.idempotency_key)) for one in passed] == [("pay", True)]


async def test_a_damaged_scenario_hides_no_other_and_stops_no_turn(visit: ScenarioWorld) -> None:
    await visit.publish(sample("appointment_booking"))
    damaged = "scenarios/appointment-booking/versions/1.json"
    await visit.blobs.delete(damaged)
    await visit.blobs.create(damaged, b"{")
    other = ScenarioWorld(sessions=visit.sessions, blobs=visit.blobs, ids=visit.ids)
    assert (await other.say("hello there")).texts == ["Heard: hello there"]
    assert (await other.say("list scenarios")).texts[0].count("- ") == 1


@pytest.mark.slow
async def test_a_value_that_is_too_long_is_refused(visit: ScenarioWorld) -> None:
    await visit.publish(sample("appointment_booking"))
    await visit.begin("appointment booking")
    heard = await visit.say("long", service="x" * 700)
    assert isinstance(heard.end, RunFailed)
    assert "service" not in (await visit.session()).variables


@pytest.mark.slow
async def test_the_place_is_shown_before_the_answer_that_tells_of_it(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    heard = await visit.say("three", size=3)
    first_word = next(
        n for n, event in enumerate(heard.events) if isinstance(event, AgentTextDelta)
    )
    places = [e.state.scenario for e in heard.events[:first_word] if isinstance(e, StateChanged)]
    assert places[-1] is not None
    assert places[-1].step == "done"


async def test_a_conversation_that_is_opened_again_carries_the_place(visit: ScenarioWorld) -> None:
    await visit.begin()
    place = (await visit.world.reader.view(OwnedChat(CHAT, OWNER))).scenario
    assert place is not None
    assert (place.scenario, place.step) == ("Visit", "greet")
    await visit.say("leave the visit")
    assert (await visit.world.reader.view(OwnedChat(CHAT, OWNER))).scenario is None


@pytest.mark.slow
async def test_the_index_finds_the_session_where_it_is_and_forgets_it_at_the_end(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    page = await visit.index.page("visit", limit=10)
    assert [row.place for row in page.rows] == [f"chat_1/patient_{PATIENT}_context.json"]
    await visit.say("fine")
    await visit.say("three", size=3)
    assert (await visit.index.page("visit", limit=10)).rows == []


async def test_keys_that_the_step_needs_are_pinned_among_the_entities() -> None:
    graph = version(
        1,
        step("ask", "end", collects_profile_fields=("date_preference",)),
        step("end", instructions="End."),
        date_preference="text",
    )
    world = ScenarioWorld()
    await world.publish(graph)
    await world.begin()
    assert "date_preference" in needed_keys(await world.document())
    await world.say("monday", date_preference="monday")
    assert needed_keys(await world.document()) == set()


@pytest.mark.slow
async def test_the_answer_after_going_back_is_taken_and_not_asked_for_twice() -> None:
    world = ScenarioWorld()
    await world.publish(sample("appointment_booking"))
    await world.begin("appointment booking")
    await world.say("a follow-up", service="follow-up")
    await world.say("go back")
    assert (await world.session()).step_history[-1].spoken


@pytest.mark.slow
async def test_a_question_answered_by_another_leads_back_to_it(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    await visit.say("fine")
    seen = AgentMessage(
        message_id="m9", agent="Radiology", text="Heard: a nodule.", timestamp=visit.clock.now()
    )
    visit.team.also = lambda _: (
        AgentMessageStarted("m9", "Radiology"),
        AgentTextDelta("m9", seen.text),
        AgentMessageFinished(seen),
    )
    told = questions(await visit.say("what does the CT show?"))
    assert told[-1] == "Visit, size: What is your size?"
    assert (await visit.session()).variables == {}


def test_a_running_session_of_0_1_keeps_its_values_and_an_ended_one_leaves_none() -> None:
    run = {
        "session_id": "s1",
        "scenario_id": "visit",
        "version": 1,
        "checksum": "",
        "step": "size",
        "created_at": "2030-01-01T00:00:00Z",
        "updated_at": "2030-01-01T00:00:00Z",
    }
    old = {
        "schema_version": 1,
        "min_reader": 1,
        "conversation_id": "c",
        "scenario": {**run, "variables": {"size": 3}},
        "left_scenarios": [{**run, "session_id": "s0", "step": None}],
        "profile": {"fields": {"age": {"value": 41, "source": "user"}}},
    }
    document = parse_document(json.dumps(old).encode(), ChatContext, conversation_id="c")
    assert document.scenario is not None
    assert document.scenario.variables == {"age": 41, "size": 3}
    assert {one.source for one in document.scenario.evidence.values()} == {"0.1"}
    assert document.left_scenarios[0].variables == {}
    assert document.profile.fields == {}
