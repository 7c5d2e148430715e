"""What the offline rules make of one prompt: which tools they call, or what they say."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.window import Line
from tests.tables import with_cases


class Case(BaseModel):
    """One prompt in several words; of what is not given nothing is asserted.

    Attributes:
        last: What `agent` said last.
        recent: What tools found in this conversation.
        tools: Those that are offered, each with the arguments it needs.
        answers: What they gave in this turn.
        hand_back: Who called the step that this is.
        told: What the answer says; untold: what it does not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: list[str] = [""]
    patient: str | None = "patient_4"
    agent: str = "Radiology"
    last: str = ""
    closing: str = ""
    hand_back: str = ""
    recent: list[dict[str, str]] = []
    tools: dict[str, list[str]] = {}
    answers: dict[str, dict[str, Any]] = {}
    calls: dict[str, dict[str, Any]] | None = None
    told: list[str] = []
    untold: list[str] = []
    ends: str = ""


def prompt_of(case: Case, asked: str) -> Prompt:
    prompt = Prompt(
        asked=asked,
        patient_id=case.patient,
        closing=case.closing,
        earlier=[Line(case.agent, case.last)] if case.last else [],
        tool_memory={"recent_entities": case.recent} if case.recent else {},
        tools=case.tools,
        answers=[ToolAnswer(name, data) for name, data in case.answers.items()],
    )
    if case.hand_back:
        prompt.cue, prompt.hand_back = "step", case.hand_back
    return prompt


@with_cases("case")
def test_it_leads_to_a_call_or_to_words(case: tuple[Case, ...]) -> None:
    for one in case:
        for asked in one.asked:
            reply = reply_to(prompt_of(one, asked))
            calls = {call.name: call.arguments for call in reply.calls}
            assert one.calls in (None, calls), asked
            assert [text for text in one.told if text not in reply.text] == [], (asked, reply.text)
            assert [text for text in one.untold if text in reply.text] == [], (asked, reply.text)
            assert reply.text.endswith(one.ends), (asked, reply.text)
