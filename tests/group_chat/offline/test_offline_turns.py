"""The offline rules lead every feature through the same kernel, tools and streams as a model."""

import re

import pytest

from data_models.conversations.turn_events import AgentTextDelta, ToolCallResult, ToolCallStarted
from data_models.errors import RecordsUnavailableError
from group_chat.tools.catalogue import TOOL_NAMES
from services.group_chat_port import ArtifactMade
from services.team import AgentSpec, Team, load_team
from tests.fakes import GivenRecords
from tests.group_chat.offline.conftest import ROSTER, Conversation, conversation
from tests.group_chat.team_world import Heard
from tests.tables import with_cases

TEAM = ["PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation"]
REF = re.compile(r"\[([A-Z][A-Za-z]+/[^\]\s]+)\]")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def steps(heard: Heard) -> list[str]:
    assert heard.plan is not None
    return [step.agent for step in heard.plan.steps]


def text_of(heard: Heard, agent: str) -> str:
    return next(text for speaker, text in reversed(heard.said) if speaker == agent)


@pytest.mark.slow
async def test_a_confirmed_plan_runs_to_its_end() -> None:
    talk = conversation()
    await talk.say("start tumor board for patient_4")
    heard = await talk.say("yes proceed")
    spoke = [name for name in heard.speakers if name != "Orchestrator"]
    assert (sorted(spoke), spoke[-1]) == (sorted(TEAM), TEAM[-1])
    assert heard.plan is not None
    assert heard.plan.status == "done"
    assert heard.reason == "answered"
    assert all(text_of(heard, agent).endswith("Back to you *Orchestrator*.") for agent in TEAM)
    told = [name for name in TEAM if "**Course of the illness**" in text_of(heard, name)]
    assert told == ["PatientHistory"], "told by each, it hides what the others found"
    assert "**Newest laboratory results**" in text_of(heard, "PatientStatus")
    assert "creatinine" in text_of(heard, "PatientStatus").casefold()
    assert "Summary for the board" in text_of(heard, "Orchestrator")
    assert len(heard.of(ArtifactMade)) == 1
    assert list(talk.artifacts.files)


@pytest.mark.slow
@pytest.mark.parametrize(
    "patient_id", ["patient_4", "patient_7", "patient_15", "patient_21", "patient_33", "patient_42"]
)
async def test_nothing_is_said_that_no_tool_returned(patient_id: str) -> None:
    talk = conversation(patient_id=patient_id)
    proposed = await talk.say("start tumor board")
    heard = await talk.say("yes")
    results = [*proposed.of(ToolCallResult), *heard.of(ToolCallResult)]
    known = "\n".join(result.content for result in results)
    for agent in [name for name in TEAM if name != "ReportCreation"]:
        text = text_of(heard, agent)
        is_none = text.startswith("No ") and " is recorded." in text
        assert REF.search(text) or is_none or "the record holds nothing on this" in text
        assert [ref for ref in REF.findall(text) if f"[{ref}]" not in known] == []
        invented = [n for n in NUMBER.findall(text) if n not in known]
        assert [n for n in invented if f"… {n} further" not in text] == []
    closing = text_of(heard, "Orchestrator")
    assert [ref for ref in REF.findall(closing) if f"[{ref}]" not in known] == []


@pytest.mark.slow
@with_cases("question", "agent", "tool")
async def test_a_question_goes_to_the_agent_it_is_for(question: str, agent: str, tool: str) -> None:
    heard = await conversation().say(question)
    assert heard.speakers == [agent]
    assert tool in [event.tool for event in heard.of(ToolCallStarted)]
    assert heard.reason == "answered"
    assert "Back to you" not in heard.said[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("please without Radiology", [name for name in TEAM if name != "Radiology"]),
        ("only Pathology and Radiology", ["Radiology", "Pathology"]),
    ],
)
async def test_an_open_plan_can_be_changed(change: str, left: list[str]) -> None:
    talk = conversation()
    await talk.say("start tumor board")
    heard = await talk.say(change)
    assert heard.plan is not None
    assert [step.agent for step in heard.plan.steps if step.status == "done"] == left
    assert heard.plan.status == "done"


BROKEN = GivenRecords(RecordsUnavailableError("down"))


@pytest.mark.slow
async def test_what_could_not_be_read_is_said() -> None:
    heard = await conversation(records=BROKEN).say("@Radiology show the CTs")
    assert "not looked up" in heard.said[0][1]


@pytest.mark.slow
async def test_a_failed_step_is_put_to_the_user() -> None:
    talk = conversation(records=BROKEN)
    await talk.say("make a plan with only Radiology and Pathology")
    heard = await talk.say("yes")
    assert heard.speakers[-1] == "Orchestrator"
    assert heard.said[-1][1].endswith("?")
    assert heard.reason == "question"


@pytest.mark.slow
async def test_an_agent_that_was_added_works_without_rules_of_its_own() -> None:
    team = load_team(tools=TOOL_NAMES)
    added = AgentSpec(
        name="Genetics",
        description="Heredity and germline findings.",
        instructions="You are Genetics.",
        tools=("biomarkers",),
    )
    talk = conversation(team=Team(rules=team.rules, agents=(*team.agents, added)))
    assert "Genetics" in steps(await talk.say("start tumor board"))
    heard = await talk.say("@Genetics what is known?")
    assert heard.speakers == ["Genetics", "Orchestrator"]
    assert REF.search(heard.said[0][1])


@pytest.mark.slow
async def test_the_same_conversation_is_answered_in_the_same_words() -> None:
    async def spoken(talk: Conversation) -> list[str]:
        lines = ("hello", "give me the timeline", "start tumor board", "yes")
        # Who works side by side ends in any order.
        return sorted([text for line in lines for _, text in (await talk.say(line)).said])

    first, second = await spoken(conversation()), await spoken(conversation())
    hide_time = re.compile(r"\d{8}T\d{6}")
    assert [hide_time.sub("", t) for t in first] == [hide_time.sub("", t) for t in second]


@pytest.mark.slow
async def test_text_streams_in_pieces() -> None:
    heard = await conversation().say("@PatientHistory timeline")
    pieces = heard.of(AgentTextDelta)
    assert len(pieces) >= 3
    assert "".join(piece.text for piece in pieces) == heard.said[0][1]


@pytest.mark.slow
@with_cases("imitation")
async def test_a_user_who_imitates_the_server_is_still_a_user(imitation: str) -> None:
    heard = await conversation().say(imitation)
    assert "Summary for the board" not in heard.said[0][1]
    roster = await conversation().say(f"which patients have we discussed? {imitation}")
    assert f"`{ROSTER[1]}` (active)" in roster.said[0][1]
