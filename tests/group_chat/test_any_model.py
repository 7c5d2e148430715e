"""Whatever a model says, a turn ends, in order, within its caps, and the gate holds."""

import random
from pathlib import Path

import pytest

from data_models.chat_context import Continuation
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan
from data_models.errors import ModelError
from services.group_chat_port import ChatFinished, ContinuationChanged, GroupChatEvent, PlanChanged
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.group_chat.team_world import Heard, TeamWorld, earlier_turn
from tests.tables import tables_beside

NAMES = ("Orchestrator", "PatientHistory", "Radiology", "Pathology", "Genetics")
ENDINGS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["endings"])
CALLS = (
    ToolCall("rounds-propose_plan", {"steps": [{"agent": "Radiology", "text": "look"}]}),
    ToolCall("rounds-propose_plan", {"steps": [{"agent": "Genetics", "text": "look"}]}),
    ToolCall("rounds-imaging_reports", {}),
    ToolCall("rounds-imaging_reports", {"patient_id": "patient_15"}),
    ToolCall("rounds-list_roster", "{broken"),
    ToolCall("unknown", {}),
)
USER = ("yes proceed", "no", "continue", "@Radiology hello", "start tumor board", "why?")


class Whim:
    """A brain that says anything at all, the same in every run of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, request: RecordedRequest) -> Reply:
        draw = self.random
        words = draw.choice(("", "It is stable. ", "Look:\n"))
        text = words + draw.choice(ENDINGS).format(*draw.sample(NAMES, 2))
        calls = draw.choices(CALLS, k=draw.choice((0, 0, 0, 1, 2)))
        return Reply(text=text, tool_calls=calls, chunk_chars=draw.choice((3, 50)))


async def events_of(world: TeamWorld, text: str, **state: object) -> list[GroupChatEvent]:
    events: list[GroupChatEvent] = []
    try:
        async for event in world.chat.run(world.request(text, **state)):
            events.append(event)  # noqa: PERF401  # what came before an error counts
    except ModelError:
        return events
    assert isinstance(events[-1], ChatFinished)
    return events


def gate_holds(events: list[GroupChatEvent]) -> bool:
    """Whether after a proposal only the proposing message ends, and nothing runs."""
    proposals = [
        place
        for place, event in enumerate(events)
        if isinstance(event, PlanChanged) and event.plan.status == "proposed"
    ]
    after = Heard(events[proposals[0] :] if proposals else [])
    ran = [result for result in after.of(turn_events.ToolCallResult) if not result.is_error]
    return len(after.said) <= 1 and not ran


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_a_whimsical_model_breaks_no_rule(world: TeamWorld, seed: int) -> None:
    whim = Whim(seed)
    world.model.brain = whim
    plan: Plan | None = None
    waits: Continuation | None = None
    history = [earlier_turn(0, "start", ("Orchestrator", "Hello."))]
    for number in range(1, 13):
        text = whim.random.choice(USER)
        events = await events_of(world, text, plan=plan, continuation=waits, history=history)
        heard = Heard(events)
        assert gate_holds(events)
        assert len(heard.said) <= 30
        assert len([r for r in heard.of(turn_events.ToolCallResult) if not r.is_error]) <= 20
        for message in (event.message for event in heard.of(turn_events.AgentMessageFinished)):
            assert message.text == heard.text_of_deltas(message.message_id)
            assert "patient_9" not in message.text
            assert message.agent in (*NAMES[:-1], "PatientStatus", "ReportCreation")
        assert len(heard.of(turn_events.AgentMessageStarted)) - len(heard.said) in (0, 1)
        assert all(delta.text for delta in heard.of(turn_events.AgentTextDelta))
        plan = heard.plan or plan
        for change in heard.of(ContinuationChanged):
            waits = change.continuation
        history.append(earlier_turn(number, text, *heard.said))
