"""Scenarios in turns: begun, guided, left and resumed, without any migration (page 5.2)."""

import pytest

from data_models.chat_context import AgentMessage
from data_models.conversations.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    RunFailed,
    StateChanged,
)
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
from tests.services.world import CHAT, OWNER

VISIT = version(
    1,
    step("greet", "size", instructions="Greet."),
    step("size", ("size > 5", "big"), "done", collects_profile_fields=("size",)),
    step("big", "done", kind="tool", tool="load_patient_data"),
    step("done", instructions="Say goodbye.", uses=("size",)),
)


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


@pytest.mark.slow
async def test_a_step_is_said_before_the_next_and_the_last_ends_it(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    assert (await visit.session()).step == "greet"
    await visit.say("fine")
    assert (await visit.session()).step == "size"
    shown = listening(visit)
    await visit.say("three", size=3)
    session = await visit.session()
    assert session.step is None
    assert session.path == ["greet", "size", "done"]
    assert "Say goodbye." in shown[-1]


async def test_the_lead_is_told_the_step_and_what_to_ask(visit: ScenarioWorld) -> None:
    await visit.begin()
    shown = listening(visit)
    await visit.say("go on")
    assert '"ask_for": [{"name": "size"' in shown[0]
    assert "call record_fields" in shown[0]


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


async def test_where_are_we_is_answered_without_the_team_while_a_scenario_is_open(
    visit: ScenarioWorld,
) -> None:
    await visit.say("where are we?")  # the team says whose chart is open
    assert len(visit.team.requests) == 1
    await visit.begin()
    before = len(visit.team.requests)
    assert (await visit.say("Where are we now?")).texts == ["Visit: greet (0 of 4 steps done)."]
    assert len(visit.team.requests) == before


async def test_a_list_names_what_can_be_started(visit: ScenarioWorld) -> None:
    assert "- Visit" in (await visit.say("which scenarios are there?")).texts[0]


async def test_one_that_was_published_a_moment_ago_can_be_started(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.publish(sample("oncology_intake"))
    await visit.say("start oncology intake")
    assert (await visit.session()).scenario_id == "oncology-intake"


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
async def test_it_is_left_and_resumed_where_it_was(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    assert "Left Visit" in (await visit.say("leave")).texts[0]
    shown = listening(visit)
    await visit.say("what does the CT say")
    await visit.say("resume")
    session = await visit.session()
    assert (session.step, session.is_left) == ("size", False)
    assert shown[0] == ""
    assert '"asked": false' in shown[1]


@pytest.mark.slow
async def test_another_scenario_leaves_the_first_aside_and_each_keeps_its_answers(
    visit: ScenarioWorld,
) -> None:
    await visit.publish(sample("appointment_booking"))
    await visit.begin()
    await visit.say("fine")
    await visit.say("start appointment booking")
    document = await visit.document()
    assert document.scenario is not None
    assert document.scenario.scenario_id == "appointment-booking"
    assert [one.step for one in document.left_scenarios] == ["size"]
    await visit.say("a follow-up", service="follow-up")
    await visit.say("resume visit")
    document = await visit.document()
    assert document.scenario is not None
    assert document.scenario.scenario_id == "visit"
    assert document.left_scenarios[-1].variables == {"service": "follow-up"}
    assert document.scenario.variables == {}
    assert document.profile.fields == {}


@pytest.mark.slow
async def test_a_second_run_asks_again(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    await visit.say("three", size=3)
    await visit.say("start visit")
    await visit.say("fine")
    session = await visit.session()
    assert (session.step, session.variables) == ("size", {})


@pytest.mark.slow
async def test_a_switch_of_patients_switches_scenarios(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("switch to patient_15")
    shown = listening(visit)
    await visit.say("what now?")
    assert shown == [""]
    await visit.say("switch to patient_4")
    await visit.say("what now?")
    assert (await visit.session()).step == "size"


@pytest.mark.slow
async def test_a_loop_asks_again_for_what_it_collects() -> None:
    world = ScenarioWorld()
    await world.publish(sample("appointment_booking"))
    await world.begin("appointment booking")
    await world.say("a follow-up", service="follow-up")
    await world.say("on sunday", preferred_day="2030-02-03")
    await world.say("no", slot_accepted=False)
    session = await world.session()
    assert session.step == "day"
    assert "preferred_day" not in session.variables


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


async def test_values_are_noted_by_type_also_where_models_write_text(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    await visit.say("fine")
    await visit.say("three", size="3")
    assert (await visit.session()).variables["size"] == 3


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


async def test_clients_are_shown_where_they_are(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    place = (await visit.session()).place
    assert place is not None
    assert (place.scenario, place.step, place.done, place.total) == ("Visit", "size", 1, 4)
    assert place.needs == ["size"]


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


async def test_a_turn_without_a_scenario_says_nothing_of_one(visit: ScenarioWorld) -> None:
    await visit.say("hello patient_4")
    heard = await visit.say("what does the CT say?")
    assert questions(heard) == []
    assert (await visit.document()).scenario is None


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


async def test_going_back_asks_the_last_question_again(visit: ScenarioWorld) -> None:
    world = ScenarioWorld()
    await world.publish(sample("appointment_booking"))
    await world.begin("appointment booking")
    await world.say("a follow-up", service="follow-up")
    heard = await world.say("go back")
    assert questions(heard) == [
        "Back to “Choice of service”. Appointment booking, Choice of service: What is your service?"
    ]
    session = await world.session()
    assert (session.step, session.variables) == ("service", {})
    await world.say("a second opinion", service="second opinion")
    assert (await world.session()).variables == {"service": "second opinion"}


@pytest.mark.slow
async def test_there_is_no_way_back_behind_a_completed_checkpoint() -> None:
    world = ScenarioWorld()
    await world.publish(sample("oncology_intake"))
    await world.begin("oncology intake")
    await world.say("fine")
    await world.say("yes", consent_given=True)
    heard = await world.say("go back")
    assert "is completed and cannot be undone" in questions(heard)[0]
    assert (await world.session()).variables == {"consent_given": True}


async def test_a_step_that_needs_an_answer_is_not_skipped(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("fine")
    heard = await visit.say("skip")
    assert questions(heard)[0].startswith("“size” cannot be skipped: it needs size.")
    assert (await visit.session()).step == "size"


async def test_back_is_no_command_where_no_scenario_is_open() -> None:
    world = ScenarioWorld()
    await world.say("hello patient_4")
    assert questions(await world.say("go back")) == []


@pytest.mark.slow
async def test_the_answer_after_going_back_is_taken_and_not_asked_for_twice() -> None:
    world = ScenarioWorld()
    await world.publish(sample("appointment_booking"))
    await world.begin("appointment booking")
    await world.say("a follow-up", service="follow-up")
    await world.say("go back")
    assert (await world.session()).step_history[-1].spoken


@pytest.mark.slow
@pytest.mark.parametrize(
    "said", ["what was the question?", "please ask again", "Was war die Frage?"]
)
async def test_the_question_is_repeated_on_request(visit: ScenarioWorld, said: str) -> None:
    await visit.begin()
    await visit.say("fine")
    asked = questions(await visit.say(said))
    assert asked == ["Visit, size: What is your size?"]
    await visit.say("3", size=3)
    assert (await visit.session()).variables == {"size": 3}


@pytest.mark.slow
@pytest.mark.parametrize("said", ["what have you noted?", "was haben Sie bisher notiert?"])
async def test_what_is_noted_so_far_is_read_out(visit: ScenarioWorld, said: str) -> None:
    await visit.begin()
    assert questions(await visit.say(said)) == ["Visit: nothing is noted yet."]
    await visit.say("fine")
    await visit.say("3", size=3)
    if (await visit.session()).is_open:
        assert questions(await visit.say(said)) == ["Noted so far in Visit:\n- size is 3"]


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


async def test_who_opens_another_chart_in_the_middle_is_told_that_the_scenario_waits(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    await visit.say("fine")
    before = await visit.session()

    switched = await visit.say("switch to patient_15")
    said = [one.text for one in switched.events if isinstance(one, Notice)]
    assert any("waits at" in one and "patient_4" in one for one in said), said
    again = await visit.say("what does the CT say")
    assert not [one for one in again.events if isinstance(one, Notice) and "waits at" in one.text]

    back = await visit.say("back to patient_4")
    assert await visit.session() == before
    said = [one.text for one in back.events if isinstance(one, Notice)]
    assert said == ["“Visit” of patient_4 goes on at “size”."]


async def test_that_a_scenario_waits_stays_to_be_read_in_german(
    visit: ScenarioWorld,
) -> None:
    await visit.begin()
    await visit.say("fine")
    switched = await visit.say("wechsle zu patient_15")
    told = [one for one in switched.events if isinstance(one, Notice)]
    assert [one.kind for one in told] == ["restored"]
    assert told[0].text.startswith("„Visit“ von patient_4 wartet bei „size“")


async def test_a_scenario_that_was_left_waits_for_nobody(visit: ScenarioWorld) -> None:
    await visit.begin()
    await visit.say("stop the visit")
    switched = await visit.say("switch to patient_15")
    assert not [one for one in switched.events if isinstance(one, Notice)]
