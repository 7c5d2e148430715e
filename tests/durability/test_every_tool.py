"""No tool of the catalogue, whatever a model asks of it, brings one patient to another's turn."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from group_chat.tools.catalogue import TOOL_NAMES
from group_chat.tools.session_tools import WORKFLOW_TOOLS
from services.evidence.pubmed import RESEARCH
from services.team import ORDER_DRAFTS, load_team
from tests.durability.recorded_chat import Conversation, sent_in
from tests.durability.seventh_canaries import FAMILY, HELD, NAMED, write_samples
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer
from tests.tables import tables_beside

pytestmark = pytest.mark.slow
SAID = "said-canary"
CANARIES = frozenset({*NAMED, *HELD.values(), SAID})
# Begin and end what later messages would be taken to belong to.
LAST = ("start_scenario", "where_are_we", "record_fields", "leave_scenario", "resume_scenario")
VERY_LAST = "propose_plan"
"""Its success ends the agent's message: no model is told of it."""
# It reads no record and asks outside: `tests/group_chat/test_research.py` has its own canaries.
ELSEWHERE = (RESEARCH,)
_WORKFLOW = [tool.name for tool in WORKFLOW_TOOLS]
CALLED = tuple(name for name in TOOL_NAMES if name not in (*_WORKFLOW, *ELSEWHERE))
ANSWERED = {*CALLED} - {VERY_LAST}
MEANT = {
    "event": "the visit",
    "mail": "the message",
    "contact": "the contact",
    "task": "the task",
    "document": "the guide",
}
ARGUMENTS: Mapping[str, Mapping[str, Any]] = tables_beside(Path(__file__))["arguments"]


class Tools(Conversation):
    """A conversation whose model calls the tool that the message names.

    Attributes:
        asked_for: The tool, if this message is about one.
        has_called: Whether the model called it for this message.
        more: Arguments that the model adds to every call.
        results: The last answer of each tool, as the model was sent it.
    """

    def __init__(self, *, samples: Path) -> None:
        self.asked_for = ""
        self.has_called = False
        self.more: dict[str, Any] = {}
        self.results: dict[str, str] = {}
        super().__init__(samples=samples)

    def _brain(self, request: RecordedRequest) -> Reply:
        self.sent.append((self.active, sent_in(request).replace("\\", "")))
        if "response_format" in request.body or "JSON Schema" in request.instructions:
            return Reply(text=structured_answer(request.body))
        last = request.messages[-1]
        tool = self.asked_for
        names = [name for name in request.tool_names if name.rpartition("-")[2] == tool]
        if last["role"] == "tool" and self.has_called:  # the server looks up some things first
            self.results[tool] = str(last["content"])
            return Reply(text="Done.")
        if not tool or not names:
            return Reply(text="Noted.")
        self.has_called = True
        return Reply(tool_calls=[ToolCall(names[0], {**ARGUMENTS.get(tool, {}), **self.more})])

    def use(self, tool: str, agent: str) -> None:
        self.asked_for, self.has_called = tool, False
        kind = tool.rpartition("_")[2]
        self.say(f"@{agent} {tool.partition('_')[0]} {MEANT.get(kind, 'it')}")
        self.asked_for = ""

    def use_all(self) -> None:
        """Have every tool of an agent called once; those of scenarios' steps alone no agent has."""
        team = load_team(tools=TOOL_NAMES, switched_on=(ORDER_DRAFTS,))
        holders = {name: each.name for each in team.agents for name in each.tools}
        first = [name for name in CALLED if name not in (*LAST, VERY_LAST)]
        for name in (*first, *LAST):
            self.use(name, holders[name])
        self.say("leave the scenario")
        self.use(VERY_LAST, holders[VERY_LAST])
        self.say("no")

    def switch(self, patient: str) -> None:
        self.active = patient
        self.say(f"switch to {patient}")

    def take_sent(self, patient: str) -> str:
        """Return all that models were sent in turns of `patient` since the last time."""
        sent, self.sent = self.sent, []
        return "\n".join(text for active, text in sent if active == patient)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    talk = Tools(samples=write_samples(tmp_path_factory.mktemp("canaries") / "samples"))
    talk.publish()
    yield talk
    talk.close()


def found_in(text: str) -> set[str]:
    return {one for one in CANARIES if one in text}


def stored_of(patient: str, tools: Tools) -> Iterator[str]:
    """Return the texts of all that is stored for a patient, the Word reports' too."""
    for name, data in tools.sessions.contents.items():
        if f"patient_{patient}_artifacts/" in name:
            with ZipFile(BytesIO(data)) as packed:
                yield packed.read("word/document.xml").decode()
        elif f"patient_{patient}_" in name:
            yield data.decode()


def test_no_tool_brings_one_patient_to_another(tools: Tools) -> None:
    tools.switch("patient_7")
    tools.say(f"Mr {FAMILY} told us: {SAID}")
    tools.use_all()
    assert set(tools.results) >= ANSWERED
    shown = found_in(tools.take_sent("patient_7"))
    assert shown == CANARIES, "else this would prove nothing"
    tools.switch("patient_4")
    for more in ({}, {"patient_id": "patient_7"}):
        tools.results, tools.more = {}, more
        tools.use_all()
        assert set(tools.results) >= ANSWERED
        assert found_in(tools.take_sent("patient_4")) == set()
    stored = [*stored_of("patient_4", tools)]
    assert len(stored) > 1
    assert found_in("".join(stored).replace("\\", "")) == set()
    assert all("active patient only" in one for one in tools.results.values())
