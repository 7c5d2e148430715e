"""What a small model said of a sample patient that is not so: none of it is shown unmarked."""

from collections.abc import AsyncIterator

import pytest

from data_models.chat_context import CheckedStatement, Turn
from data_models.conversations.turn_events import AgentMessageFinished, ViewShown
from data_models.errors import ModelOutputError
from group_chat.direct_answers import usable
from group_chat.drafts.checked_output import CheckedOutput
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.drafts.statement_checking import StatementChecking
from group_chat.turn_context import TurnContext
from services.language.utterance import Utterance
from services.statements.shown import not_supported
from services.tool_memory.session import FinishedRun
from tests.group_chat.team_world import Heard, TeamWorld, call, earlier_turn, house_team, text
from tests.tables import with_cases


@pytest.mark.slow
@with_cases("said")
async def test_what_is_not_so_is_marked_or_not_shown(world: TeamWorld, said: str) -> None:
    # The second text is for the repair, which is asked for only where a row says otherwise.
    world.model.queue(call("current_status"), text(said), text("Nothing more to say."))
    request = world.request("@PatientStatus how is she?", mentions=("PatientStatus",))
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    marked = [one for one in message.statements if one.state in ("unsupported", "contradicted")]
    assert marked
    shown = message.text
    for one in marked:
        shown = shown.replace(message.text[one.start : one.end], "")
    assert all(line.strip(" -") not in shown for line in said.splitlines())


@with_cases("written")
async def test_a_call_that_a_repair_writes_is_not_shown(world: TeamWorld, written: str) -> None:
    wrong = "ECOG is 4. ECOG is 4.\n\nECOG is 4."
    world.model.queue(call("current_status"), text(wrong), text(f"Sure.\n{written}"))
    request = world.request("@PatientStatus how is she?", mentions=("PatientStatus",))
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    assert "results" not in message.text
    assert not_supported(message).count("\n- ") == 1  # what is said three times is listed once


@pytest.mark.slow
@with_cases("agent", "said")
async def test_what_no_tool_did_or_found_of_errands_is_marked_or_not_shown(
    world: TeamWorld, agent: str, said: str
) -> None:
    world.model.queue(text(said), text("Nothing more to say."))
    request = world.request(f"@{agent} please see to it", mentions=(agent,))
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    assert any(one.state in ("unsupported", "contradicted") for one in message.statements)


@with_cases("asked", "agent", "said")
async def test_what_is_told_behind_a_wish_or_alone_is_marked_or_not_shown(
    world: TeamWorld, asked: str, agent: str, said: str
) -> None:
    assert await _is_marked(world, asked, agent, said)


@with_cases("asked", "agent", "said")
async def test_who_refuses_or_asks_behind_a_wish_is_not_marked(
    world: TeamWorld, asked: str, agent: str, said: str
) -> None:
    assert not await _is_marked(world, asked, agent, said)


async def _is_marked(world: TeamWorld, asked: str, agent: str, said: str, *history: Turn) -> bool:
    world.model.queue(text(said), text("Nothing more to say."))
    read = Utterance(text=asked, agent=agent)
    request = world.request(asked, mentions=(agent,), utterance=read, history=history)
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    is_marked = any(one.state in ("unsupported", "contradicted") for one in message.statements)
    return is_marked or said not in message.text


async def test_rows_that_were_read_twice_are_shown_once(world: TeamWorld) -> None:
    for said in (call("results", names=["CEA"]), call("results", names=["CEA"]), text("I see.")):
        world.model.queue(said)
    request = world.request("@PatientStatus CEA?", mentions=("PatientStatus",))
    heard = Heard([event async for event in world.chat.run(request)])
    assert len(heard.of(ViewShown)) == 1


async def test_what_was_marked_is_no_ground_for_the_next_answer(world: TeamWorld) -> None:
    before = "Your next visit is on Thursday at 9:20."
    earlier = earlier_turn(1, "when is my next visit?", ("Orchestrator", before))
    told = CheckedStatement(start=0, end=len(before), state="unsupported")
    shown = earlier.agent_responses[0].model_copy(update={"statements": [told]})
    marked = earlier.model_copy(update={"agent_responses": [shown]})
    asked = ("and my appointments?", "Orchestrator", "One: Thursday at 9:20.")
    assert await _is_marked(world, *asked, marked)


@pytest.mark.parametrize(
    ("before", "said", "is_left_out"),
    [
        ("The plan is cancelled. What would you like to do instead?", "It is cancelled.", True),
        ("The plan is cancelled.", "Your appointment is cancelled.", True),
        ("The plan is cancelled.", "Yes, the plan is cancelled.", False),
        ("Your appointment is cancelled.", "Your appointment is cancelled.", False),
    ],
)
async def test_a_plan_that_was_cancelled_is_no_visit(
    world: TeamWorld, before: str, said: str, is_left_out: bool
) -> None:
    history = (earlier_turn(1, "stop", ("Orchestrator", before)),)
    request = world.request(
        "@AppointmentManager and?", mentions=("AppointmentManager",), history=history
    )
    world.model.queue(text(said))
    heard = Heard([event async for event in world.chat.run(request)])
    assert (said not in heard.said[0][1]) == is_left_out


@pytest.mark.slow
@with_cases("found", "said", "is_marked")
def test_of_own_things_only_what_tools_found_is_unmarked(
    world: TeamWorld, found: str, said: str, is_marked: bool
) -> None:
    checking = StatementChecking(team=house_team(), is_language_model=True)
    turn = TurnContext(world.request("and tomorrow?"), print, agent="Secretary", checking=checking)
    rows = [
        {"title": "Ward round", "start": "2026-12-02T09:00:00+00:00", "location": "Ward 3"},
        {"title": "Tumor board", "start": "2026-12-02T14:00:00+00:00"},
    ]
    listed = {"events": rows if found == "events" else []}
    turn.ran.append(FinishedRun("list_events", "Secretary", {}, listed, None, 1.0))
    output = CheckedOutput(turn=turn, agent="Secretary")
    pieces = [*output.feed(said), *output.finish()]
    assert any(one.verdict.state == "unsupported" for one in pieces) == is_marked


def _turn_that_made_an_event(world: TeamWorld) -> TurnContext:
    checking = StatementChecking(team=house_team(), is_language_model=True)
    request = world.request("add a meeting on Monday at 10")
    turn = TurnContext(request, lambda _: None, agent="Secretary", checking=checking)
    start = f"{request.now.year}-12-02T15:00:00+00:00"
    made = {"created": [{"kind": "calendar_event", "title": "Meeting", "start": start}]}
    turn.ran.append(FinishedRun("create_event", "Secretary", {}, made, None, 1.0))
    return turn


async def test_what_a_tool_changed_is_told_beside_what_a_model_says_of_it(world: TeamWorld) -> None:
    turn = _turn_that_made_an_event(world)
    made, turn.ran = turn.ran, []
    meter = OutputMeter(limit_bytes=1_000)
    draft = Draft(turn=turn, agent="Secretary", message_id="m1", meter=meter)
    turn.ran += made
    draft.write("Added for Monday at 10.")
    message = draft.finish(now=turn.request.now)
    assert message is not None
    assert message.text.startswith("Added for Monday at 10.\n\n**It is in your calendar**\n- ")
    assert message.text.endswith("2 Dec 15:00 Meeting")


async def _nothing_more() -> None:
    """Nothing was looked up, so nothing else is."""


async def test_who_is_silent_behind_a_change_fails_nobody(world: TeamWorld) -> None:
    async def silent() -> AsyncIterator[str]:
        yield ""
        raise ModelOutputError("nothing")

    turn = _turn_that_made_an_event(world)
    assert [one async for one in usable(silent(), turn, _nothing_more)] == [""]
    turn.ran.clear()
    with pytest.raises(ModelOutputError):
        assert [one async for one in usable(silent(), turn, _nothing_more)]


async def test_what_is_not_supported_is_told_in_the_language_of_the_answer(
    world: TeamWorld,
) -> None:
    heard = await world.say(
        "@PatientStatus welche Medikamente nimmt sie?",
        call("medications"),
        text("Sie nimmt Warfarin und ein Statin."),
        mentions=("PatientStatus",),
    )
    message = heard.of(AgentMessageFinished)[-1].message
    assert not_supported(message).startswith("**Von der Akte nicht gestützt:**\n- Sie nimmt")
