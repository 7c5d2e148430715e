"""Whole talks with the offline rules, a line each: what is said, and what is told then."""

import pytest
from pydantic import BaseModel, ConfigDict

from data_models.conversations.turn_events import ToolCallStarted
from tests.group_chat.offline.conftest import conversation
from tests.tables import with_cases


class Line(BaseModel):
    """One message of a user; of what is not given nothing is asserted.

    Attributes:
        patient: Whose chart is open; nobody's if empty.
        told: What the answer says, each message behind `[its agent] `; untold: what it does not.
        speakers: Who answers, in order.
        steps: Whose steps the plan has that is proposed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str
    patient: str = "patient_4"
    told: list[str] = []
    untold: list[str] = []
    speakers: list[str] | None = None
    tools: list[str] | None = None
    steps: list[str] | None = None
    reason: str | None = None


async def play(lines: tuple[Line, ...]) -> None:
    talk = conversation()
    for line in lines:
        talk.patient_id = line.patient or None
        heard = await talk.say(line.say)
        answer = "\n".join(f"[{agent}] {text}" for agent, text in heard.said)
        assert [text for text in line.told if text not in answer] == [], (line.say, answer)
        assert [text for text in line.untold if text in answer] == [], (line.say, answer)
        assert line.speakers in (None, heard.speakers), line.say
        assert line.tools in (None, [event.tool for event in heard.of(ToolCallStarted)]), line.say
        steps = [step.agent for step in heard.plan.steps] if heard.plan else []
        assert line.steps in (None, steps), line.say
        assert line.reason in (None, heard.reason), line.say


@pytest.mark.slow
@with_cases("lines")
async def test_it_is_answered_so(lines: tuple[Line, ...]) -> None:
    await play(lines)


@pytest.mark.slow
@with_cases("lines")
async def test_it_is_answered_so_from_the_chart(lines: tuple[Line, ...]) -> None:
    await play(lines)
