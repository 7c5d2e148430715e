"""What guided conversations promise, offline and with a model, over a socket and as activities."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any

import orjson
import pytest

from tests.e2e.models import running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredFiles
from tests.e2e.talks import Talk, at_rest, talking
from tests.e2e.test_scenarios import publish_samples
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer

pytestmark = pytest.mark.slow
MARK = "SCENARIO_JSON: "
VALUES: dict[str, dict[str, Any]] = {
    "yes": {"consent_given": True},
    "0151 23456": {"contact_phone": "0151 23456"},
    "a shadow on the lung": {"referral_reason": "a shadow on the lung"},
    "1 and no": {"ecog": 1, "weight_loss": False},
    "no": {"prior_treatment": False},
}
"""What a model that reads well records of a message; quoted whole."""
INVENTING = "let me think"
"""A message from which the scripted model makes up a value, with a quote that nobody said."""


def step_in(text: str) -> dict[str, Any]:
    """The step that a prompt, or a tool's result, tells of."""
    _, mark, rest = text.rpartition(MARK)
    found: dict[str, Any] = orjson.loads(rest.partition("\n")[0]) if mark else {}
    return found


def guide_brain(request: RecordedRequest) -> Reply:
    """Guide a scenario: record what the step asks for, then say what comes next."""
    if "response_format" in request.body:
        return Reply(text=structured_answer(request.body))
    tools = {name.rpartition("-")[2]: name for name in request.tool_names}
    last = request.messages[-1]
    if last["role"] == "tool":
        told = orjson.loads(last["content"])
        return Reply(text=said_of(step_in(str(told.get("scenario_now", "")))))
    step = step_in(request.asked)
    values, quotes = answers_in(request.said.strip(), step)
    if values and step.get("asked") and "record_fields" in tools:
        arguments = {"values": values, "quotes": quotes}
        return Reply(text=None, tool_calls=[ToolCall(tools["record_fields"], arguments)])
    return Reply(text=said_of(step))


def answers_in(said: str, step: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    wanted = [row["name"] for row in step.get("ask_for", ())]
    if said == INVENTING:
        return dict.fromkeys(wanted, "555 0199"), dict.fromkeys(wanted, "call me on 555 0199")
    values = {name: v for name, v in VALUES.get(said, {}).items() if name in wanted}
    return values, dict.fromkeys(values, said)


def said_of(step: dict[str, Any]) -> str:
    labels = [row["label"] for row in step.get("ask_for", ())]
    return f"{step.get('step', 'Noted')}: {', '.join(labels) or 'go on'}."


@pytest.fixture(scope="module", params=["offline", "scripted"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp(f"demands-{request.param}")
    asyncio.run(publish_samples(folder / "data"))
    with ExitStack() as stack:
        settings = {"LLM_PROVIDER": "offline"}
        if request.param == "scripted":
            settings = stack.enter_context(running_model(guide_brain)).settings()
        yield stack.enter_context(running_server(folder, **settings))


class Guided:
    """One patient's conversation, and what is stored of the run."""

    def __init__(self, server: Server, talk: Talk) -> None:
        self._talk = talk
        self._stored = Stored(StoredFiles(server.data), talk.conversation)

    async def say(self, *texts: str) -> None:
        for text in texts:
            await self._talk.say(text, last_words="")
            await at_rest(self._stored)

    @property
    def run(self) -> dict[str, Any]:
        document = self._stored.document("patient_patient_4_context.json")
        found: dict[str, Any] = document["scenario"]
        return found

    @property
    def held(self) -> dict[str, Any]:
        held: dict[str, Any] = self.run["variables"]
        return held


@pytest.fixture(params=["plain", "bot"])
async def guided(request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Guided]:
    async with talking(server.url, request.param) as talk:
        found = Guided(server, talk)
        await found.say("hello patient_4", "start oncology intake", "fine")
        yield found


async def test_a_second_run_asks_again(guided: Guided) -> None:
    await guided.say("yes", "0151 23456", "a shadow on the lung", "1 and no", "no")
    first = guided.run
    await guided.say("that is right", "thanks")
    assert guided.run["step"] is None
    await guided.say("start oncology intake")
    again = guided.run
    assert again["session_id"] != first["session_id"]
    assert (again["step"], again["variables"]) == ("welcome", {})
    await guided.say("fine")
    assert guided.run["place"]["needs"] == ["consent to share records"]


async def test_one_answer_fills_one_step(guided: Guided) -> None:
    await guided.say("yes", "0151 23456")
    assert guided.run["step"] == "reason"
    assert guided.held == {"consent_given": True, "contact_phone": "0151 23456"}


async def test_a_correction_decides_the_fork_again(guided: Guided) -> None:
    await guided.say("yes", "0151 23456", "a shadow on the lung", "1 and no")
    assert guided.run["step"] == "history"
    await guided.say("no, ECOG is 3")
    assert guided.held["ecog"] == 3
    assert "urgent" in [visit["step_id"] for visit in guided.run["step_history"]]


async def test_a_revoked_consent_is_a_correction_and_no_answer(guided: Guided) -> None:
    await guided.say("yes", "0151 23456", "I revoke the consent")
    assert guided.held["consent_given"] is False
    assert "referral_reason" not in guided.held


async def test_what_nobody_said_is_not_stored(guided: Guided) -> None:
    await guided.say("yes", INVENTING)
    assert guided.held.get("contact_phone") != "555 0199"
    assert guided.run["evidence"].get("contact_phone", {}).get("quote") != "call me on 555 0199"
