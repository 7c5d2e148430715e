"""A talk of two turns leaves its memory blocks; a long one costs what a short one does."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import orjson
import pytest
from pydantic import SecretStr

from app import build
from data_models.chat_context import ChatContext
from data_models.clock import RandomIds, SystemClock
from data_models.conversations.turn_events import RunFinished
from routes.requests.context import CONTEXT
from services.memory_blocks.blocks import Blocks, MemoryRules, blocks_of
from services.stores import Stores
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader, OwnedChat
from settings import Settings
from tests.amounts import amount
from tests.e2e.models import running_model
from tests.e2e.server import running_server
from tests.e2e.storage import Stored, StoredFiles
from tests.e2e.talks import StreamTalk, at_rest, new_chat, socket_to
from tests.fakes_openai import FakeOpenAI, RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer
from tests.fakes_store import MemoryBlobStore
from tests.services.world import OWNER, World, heard
from tests.work import counted_calls

pytestmark = pytest.mark.slow
ASKS_SEVERITY = (
    "I understand you're experiencing headaches. Can you tell me when they first started and how "
    "severe they are on a scale of 1 to 10?"
)
ASKS_DURATION = "That is a significant headache. How long have you been experiencing it?"
SAID = ("I am having a headache", "8")
MEANS = "User rates the headache 8 of 10 (severe)"


def headache_brain(request: RecordedRequest) -> Reply:
    """Answer as the people of the talk do; what they mean is read by rules alone."""
    assert "You are GeneralHealth" in request.instructions
    return Reply(text=ASKS_DURATION if request.said == "8" else ASKS_SEVERITY)


async def test_a_talk_about_a_headache_leaves_its_blocks(tmp_path: Path) -> None:
    with (
        running_model(headache_brain) as model,
        running_server(tmp_path, **model.settings()) as server,
    ):
        async with aiohttp.ClientSession() as client:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat, "?stream=1") as socket:
                talk = StreamTalk(chat, socket)
                answers = [await talk.say(text) for text in SAID]
                await at_rest(Stored(StoredFiles(server.data), chat))
        assert [answer.agents for answer in answers] == [["GeneralHealth"]] * 2
        first, second = (request.asked for request in model.requests)
        assert MEANS not in first
        assert MEANS in second
        stored = (server.data / "chat-sessions" / chat / "session_context.json").read_bytes()
        assert '"memory_checked"' not in server.log
    blocks = blocks_of(
        ChatContext.model_validate_json(stored), now=datetime.now(UTC), rules=MemoryRules()
    )
    assert_turns(blocks)
    assert_session(blocks)
    assert_summary(blocks)


def assert_turns(blocks: Blocks) -> None:
    first, second = blocks.conversation_history["turns"]
    assert [first["turn_id"], second["turn_id"]] == [1, 2]
    assert (first["user_message"]["content"], second["user_message"]["content"]) == SAID
    enriched = second["context_enrichment"]
    assert enriched["previous_context"].startswith("User reports: I am having a headache; ")
    assert enriched["previous_context"].endswith("how severe they are on a scale of 1 to 10?")
    assert enriched["enriched_message"] == MEANS
    assert enriched["relevant_history"] == [1]
    assert first["intent_classification"]["confidence"] == 0.85
    assert second["intent_classification"]["intent"] == "GENERAL_HEALTH"
    assert second["agent_response"]["agent_type"] == "GeneralHealth"
    assert second["agent_response"]["content"] == ASKS_DURATION
    assert {first["turn_status"], second["turn_status"]} == {"COMPLETED"}


def assert_session(blocks: Blocks) -> None:
    state = blocks.active_session["conversation_state"]
    assert (state["current_turn"], state["last_agent"]) == (2, "GeneralHealth")
    assert state["active_topic"] == "headache_severity"
    assert state["conversation_phase"] == "symptom_evaluation"
    assert [one["turn"] for one in state["topic_transitions"]] == [1, 2]
    agent = blocks.active_session["agent_context"]
    assert agent["routing_history"] == ["GeneralHealth", "GeneralHealth"]
    assert agent["agent_confidence"] == 0.9
    assert blocks.active_session["session_info"]["status"] == "ACTIVE"
    assert blocks.active_session["session_metadata"]["total_exchanges"] == 2
    assert blocks.memory_metadata["memory_usage"]["conversation_history"]["turns_stored"] == 2


def assert_summary(blocks: Blocks) -> None:
    lines = blocks.context_summary.splitlines()
    assert lines[0] == "=== CONVERSATION SUMMARY ==="
    headings = [line for line in lines if line.startswith("--- ")]
    assert headings == [
        "--- CONVERSATION FLOW ---",
        "--- KEY CONTEXT POINTS ---",
        "--- NEXT LIKELY TOPICS ---",
    ]
    assert "CURRENT TOPIC: Headache Severity" in lines
    assert "CONVERSATION PHASE: Symptom Evaluation" in lines
    assert "→ Routed to GeneralHealth (confidence: 0.85)" in lines
    assert "→ Continued with GeneralHealth (confidence: 0.9)" in lines
    assert any(re.match(rf"Turn 2 \(\d\d:\d\d\): {MEANS[:23]}", one) for one in lines)
    assert "• Headache severity: 8 of 10" not in lines, "the own complaint is not the patient's"
    assert "• Answer to: How long have you been experiencing it?" in lines


# -- as many turns as one likes ---------------------------------------------------------------

TURNS, WINDOW, MEASURED = amount(by_day=300, by_night=2_000), 40, 6
FACT = "please note: the sister donated bone marrow in 2009"
REMEMBER = "@Radiology what did I say about the family?"
_ANSWER = "".join(
    f"Scan {number} shows a stable lesion in the right upper lobe. " for number in range(11)
)


@dataclass
class Told:
    """A server on the stores of a talk, and what its model was sent."""

    world: World
    scheduler: TurnScheduler
    reader: ConversationReader
    model: FakeOpenAI
    sent: dict[str, list[int]] = field(default_factory=dict)
    calls: dict[str, list[int]] = field(default_factory=dict)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def ask(self, text: str, chat: str) -> None:
        run = await self.scheduler.submit(self.world.message(text, chat=chat))
        assert isinstance((await heard(run)).end, RunFinished)

    async def say(self, chat: str) -> None:
        before = len(self.model.requests)
        with counted_calls() as made:
            await self.ask(f"what does imaging {next(self.numbers)} show?", chat)
        self.calls.setdefault(chat, []).append(made.count)
        await self.scheduler.idle()
        chars = sum(len(request.text) for request in list(self.model.requests)[before:])
        self.sent.setdefault(chat, []).append(chars)


async def talked(world: World, chat: str, turns: int) -> None:
    """Have turns of the real pipeline, with a team that costs nothing."""
    world.team.say = lambda request: (_ANSWER,)
    for number in range(1, turns + 1):
        text = FACT if number == 3 else f"what did visit {number} show?"
        said = await world.say("switch to patient_4" if number == 1 else text, chat=chat)
        assert isinstance(said.end, RunFinished)


@asynccontextmanager
async def told(world: World, sessions: MemoryBlobStore) -> AsyncIterator[Told]:
    def brain(request: RecordedRequest) -> Reply:
        if "response_format" in request.body:
            return Reply(text=structured_answer(request.body))
        if _PUTS_RIGHT in request.text:
            return Reply(text="The record does not say so.")
        has_recalled = any(
            one["role"] == "tool" and "remarks" in str(one["content"]) for one in request.messages
        )
        wire_name = next((one for one in request.tool_names if one.endswith("recall")), None)
        if request.said == REMEMBER and not has_recalled and wire_name is not None:
            return Reply(text=None, tool_calls=[ToolCall(wire_name, {"query": "sister donated"})])
        if has_recalled:
            # What the record does not say of a scan would be looked for there first.
            return Reply(text="You said that the sister donated bone marrow in 2009.")
        return Reply(text=_ANSWER, chunk_chars=len(_ANSWER))

    async with FakeOpenAI(brain=brain) as model, aiohttp.ClientSession() as session:
        chosen = Settings(
            llm_provider="openai",
            openai_base_url=model.base_url,
            openai_api_key=SecretStr("k"),
            bot_endpoints=False,
        )
        stores = Stores(sessions, MemoryBlobStore(), MemoryBlobStore())
        server = build(chosen, stores=stores, clock=SystemClock(), ids=RandomIds(), session=session)
        await server.start()
        context = server.web[CONTEXT]
        assert isinstance(context.scheduler, TurnScheduler)
        assert isinstance(context.reader, ConversationReader)
        try:
            yield Told(world, context.scheduler, context.reader, model)
        finally:
            await server.close()


_PUTS_RIGHT = "You correct sentences"


def answering(requests: Sequence[RecordedRequest]) -> list[dict[str, Any]]:
    """Return the messages of the last request but those that ask to put a sentence right."""
    asked = [one for one in requests if _PUTS_RIGHT not in one.text]
    return list(asked[-1].messages)


@pytest.mark.large
@pytest.mark.timeout(300)
async def test_many_turns_cost_what_a_full_window_costs_and_are_all_there() -> None:
    sessions = MemoryBlobStore()
    world = World(sessions=sessions)
    await talked(world, "short", WINDOW)
    await talked(world, "long", TURNS)
    async with told(world, sessions) as server:
        for _ in range(MEASURED):
            await server.say("short")
            await server.say("long")
        chars = {chat: median(each) for chat, each in server.sent.items()}
        calls = {chat: min(each) for chat, each in server.calls.items()}
        assert chars["long"] <= 1.2 * chars["short"]
        assert calls["long"] <= 1.3 * calls["short"]
        last = str(answering(server.model.requests))
        assert "bone marrow" in last, "what was noted in turn 3 is in the summary"
        await server.ask(REMEMBER, "long")
        rounds = [one for asked in server.model.requests for one in asked.messages]
        recalled = [one for one in rounds if "remarks" in str(one.get("content"))][-1]
        (found, *_) = orjson.loads(recalled["content"])["remarks"]
        assert found.startswith("Turn 3, ")
        assert f"you: “{FACT}" in found, "it is found in the archive, word for word"
        assert await paged(server.reader) == list(range(1, TURNS + MEASURED + 2))
    stored = sessions.contents["long/patient_patient_4_context.json"]
    assert len(stored) <= 96_000


async def paged(reader: ConversationReader) -> list[int]:
    """Return the numbers of all turns, page by page as a person scrolls back."""
    numbers: list[int] = []
    before: int | None = None
    while True:
        page = await reader.messages(OwnedChat("long", OWNER), before=before, limit=200)
        numbers = [turn.turn_id for turn in page.turns] + numbers
        if page.next_before is None:
            return numbers
        before = page.next_before
