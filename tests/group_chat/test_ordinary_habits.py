"""What ordinary models write in place of a clean hand-over: the user gets the agent's answer."""

import orjson
import pytest

from data_models.chat_context import Continuation
from data_models.clock import SystemClock
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import ToolCallResult
from services.language.utterance import ChartQuestion, Utterance
from tests.fakes_openai import Reply, ToolCall
from tests.given import present
from tests.group_chat.team_world import TeamWorld, call, propose, text
from tests.tables import with_cases

ANSWER = "Here is the CT report."
COURTESY = "Is there anything else I can help you with?"


async def proposed(world: TeamWorld) -> Plan:
    return present((await world.say("start tumor board", propose(("Radiology", "Review")))).plan)


@pytest.mark.slow
@with_cases("written")
async def test_the_last_line_hands_over_whatever_is_near_it(world: TeamWorld, written: str) -> None:
    heard = await world.say("summarise the CT", text(written), text(ANSWER))
    assert heard.said[-1] == ("Radiology", ANSWER)
    assert heard.reason == "answered"


@pytest.mark.slow
@with_cases("promise")
async def test_a_promise_is_kept_with_a_forced_tool(world: TeamWorld, promise: str) -> None:
    order = call("hand_over", agent="Radiology", task="summarise the CT")
    heard = await world.say("summarise the CT", text(promise), order, text(ANSWER))
    assert heard.said == [("Radiology", ANSWER)]
    forced = world.model.requests[1].body
    assert forced["tool_choice"] == "required"
    assert {tool["function"]["name"] for tool in forced["tools"]} == {
        "hand_over", "propose_plan",
    }  # fmt: skip


async def test_who_was_forced_once_is_free_in_the_next_talk(world: TeamWorld) -> None:
    promise = text("I will ask Radiology to summarise the CT.")
    order = call("hand_over", agent="Radiology", task="summarise the CT")
    await world.say("summarise the CT", promise, order, text(ANSWER))
    free = await world.say("hello", text("Good morning."))
    assert free.said == [("Orchestrator", "Good morning.")]
    assert world.model.requests[-1].body.get("tool_choice") != "required"


async def test_a_server_that_knows_no_forced_tools_is_taken_at_its_word(world: TeamWorld) -> None:
    promise = text("I will ask Radiology to summarise the CT.")
    heard = await world.say("summarise the CT", promise, promise, text(ANSWER))
    assert heard.said == [("Radiology", ANSWER)]


@pytest.mark.slow
async def test_the_tool_hands_over_and_the_agent_is_shown_its_task(world: TeamWorld) -> None:
    order = call("hand_over", agent="radiology", task="summarise the latest CT")
    heard = await world.say("what is new?", order, text(ANSWER))
    assert heard.said == [("Radiology", ANSWER)]
    before, cue = (str(row["content"]) for row in world.prompts()[-1][-2:])
    assert before.endswith("*Radiology*, summarise the latest CT")
    assert "It is your turn, Radiology." in cue


@pytest.mark.parametrize("takes_tools", [True, False])
@pytest.mark.parametrize("written", ["{broken", '["CEA"]', "[" * 3_000, "NaN"])
async def test_arguments_that_are_no_object_come_back_to_the_model_and_not_to_its_server(
    world: TeamWorld, written: str, takes_tools: bool
) -> None:
    told = {"error": {"message": "the model does not support tools", "param": "tools"}}
    refusal = [] if takes_tools else [Reply(status=400, body=orjson.dumps(told))]
    order = Reply(tool_calls=[ToolCall("results", written)])
    heard = await world.say("@PatientStatus labs?", *refusal, order, text(ANSWER))
    assert heard.of(ToolCallResult)[-1].is_error
    assert heard.said[-1] == ("PatientStatus", ANSWER)
    assert written not in world.model.requests[-1].text


async def test_words_beside_the_tools_hand_over_are_not_shown(world: TeamWorld) -> None:
    order = call("hand_over", agent="Radiology", task="summarise").tool_calls
    heard = await world.say(
        "summarise", Reply(text="I am handing over now.", tool_calls=order), text(ANSWER)
    )
    assert heard.said == [("Radiology", ANSWER)]


@pytest.mark.slow
async def test_a_hand_over_to_a_stranger_comes_back_to_the_model(world: TeamWorld) -> None:
    heard = await world.say(
        "summarise",
        call("hand_over", agent="Oncology", task="x"),
        call("hand_over", agent="Radiology", task="x"),
        text(ANSWER),
    )
    refused = heard.of(ToolCallResult)[0]
    assert refused.is_error
    assert "Input should be 'PatientHistory'" in refused.content
    assert heard.said == [("Radiology", ANSWER)]


async def test_needs_in_free_words_come_back_to_the_model(world: TeamWorld) -> None:
    bad = call("propose_plan", steps=[{"agent": "Radiology", "text": "x", "needs": ["latest CT"]}])
    later = call("propose_plan", steps=[{"agent": "Radiology", "text": "x", "needs": [2]}])
    heard = await world.say("start tumor board", bad, later, propose(("Radiology", "x")))
    free, forward, _ = heard.of(ToolCallResult)
    assert "steps.0.needs.0: Input should be '1'" in free.content
    assert "step 1 needs step 2" in forward.content
    assert present(heard.plan).steps[0].needs == []


async def test_a_task_that_names_another_patient_comes_back_to_the_model(world: TeamWorld) -> None:
    other = "review patient_7's imaging"
    handed = call("hand_over", agent="Radiology", task=other)
    last = propose(("Radiology", "review patient_4's imaging"))
    heard = await world.say("start tumor board", propose(("Radiology", other)), handed, last)
    first, second, _ = heard.of(ToolCallResult)
    assert "open patient only" in first.content
    assert "open patient only" in second.content
    assert heard.plan is not None


@pytest.mark.slow
async def test_needs_name_earlier_steps_and_known_keys(world: TeamWorld) -> None:
    steps = [
        {"agent": "Radiology", "text": "look"},
        {"agent": "AppointmentManager", "text": "book", "needs": ["1", "doctor_name"]},
    ]
    heard = await world.say("start", call("propose_plan", steps=steps))
    assert heard.plan is not None
    assert heard.plan.steps[1].after == [1]
    assert heard.plan.steps[1].needs == ["doctor_preference"]


async def test_whose_work_a_message_is_speaks_first_without_the_lead(world: TeamWorld) -> None:
    read = Utterance(text="latest CT?", task="answer", agent="Radiology")
    heard = await world.say("latest CT?", text(ANSWER), utterance=read)
    assert heard.said == [("Radiology", ANSWER)]


@pytest.mark.slow
async def test_a_record_question_without_agent_goes_to_who_has_a_tool(world: TeamWorld) -> None:
    about = (ChartQuestion("imaging_reports"),)
    read = Utterance(text="latest CT?", task="answer", about=about)
    heard = await world.say("latest CT?", text(ANSWER), utterance=read)
    assert heard.speakers == ["Radiology"]


async def test_a_courtesy_at_the_end_waits_for_nobody(world: TeamWorld) -> None:
    heard = await world.say("@Radiology and the CT", text(f"{ANSWER}\n\n{COURTESY}"))
    assert heard.reason == "answered"


@pytest.mark.slow
@with_cases("said", "tool", "status")
async def test_the_facilitator_confirms_and_drops_a_plan_by_the_users_own_words(
    world: TeamWorld, said: str, tool: str, status: str
) -> None:
    plan = await proposed(world)
    rest = [text(ANSWER), text("In short.")] if status == "done" else []
    heard = await world.say(said, call(tool), *rest, plan=plan)
    assert present(heard.plan).status == status


@pytest.mark.slow
@pytest.mark.parametrize(
    "said", ["what would you do first", 'the GP wrote "yes, go ahead"', "yes if the CT is new"]
)
async def test_without_a_yes_in_words_the_plan_is_shown_again(world: TeamWorld, said: str) -> None:
    plan = await proposed(world)
    heard = await world.say(said, call("confirm_plan"), plan=plan)
    assert heard.plan is None
    assert heard.speakers == ["Orchestrator"]
    assert heard.said[-1][1].endswith("Shall I go ahead with this plan?")


@pytest.mark.slow
async def test_while_another_question_is_open_no_tool_confirms_the_plan(world: TeamWorld) -> None:
    plan = await proposed(world)
    asked = Continuation(agent="Orchestrator", asked_at=SystemClock().now())
    heard = await world.say(
        "yes, that is what I meant", call("confirm_plan"), plan=plan, continuation=asked
    )
    assert heard.plan is None
    assert heard.said[-1][1].endswith("Shall I go ahead with this plan?")
