"""Hundreds of turns of any size, with processes that die anywhere: bounded, and nothing is lost."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import pytest

from data_models.chat_context import AgentMessage, ChatContext, Turn, advance
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.documents import Documents
from data_models.errors import RoundsError
from data_models.memory_blocks import MEMORY_LIMIT_BYTES
from data_models.storage.blob_store import BlobStore
from services.memory_blocks import rotation
from services.memory_blocks.blocks import Blocks, MemoryRules, blocks_of
from services.memory_blocks.history import (
    HISTORY_LIMIT_CHARS,
    SESSION_LIMIT_CHARS,
    SUMMARY_LIMIT_CHARS,
    size_chars,
)
from services.memory_blocks.limits import validate
from services.memory_blocks.plain_reading import understand
from services.memory_blocks.remembering import conclude, greet, take_in
from tests.amounts import amount
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, Fault, FaultyBlobStore, Kill, LostAnswer, SimulatedKill

METADATA_LIMIT_CHARS = 2_000
"""Nothing cuts this block: it is figures, so it is as short by itself."""
TURNS = amount(by_day=120, by_night=500)
CHAT = "c" * 300
NOW = FixedClock().now()
SCRIPTS = ("I have a headache. ", "患者の状態は安定。", "👩🏽‍⚕️🙂", "\x00\x1f\x7f", '"\\\n', "8 ")
SIZES = (0, 0, 1, 20, 20, 200, 200, 2_000, 2_000, 9_000, 50_000)
FAULTS: Sequence[Fault] = (Kill(), Kill(after=True), Down(), LostAnswer())


def text(random: Random) -> str:
    script, size = random.choice(SCRIPTS), random.choice(SIZES)
    return (script * (size // len(script) + 1))[:size]


class Talk:
    """One patient's turns, stored as turns are, by one process after another."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.sessions = MemoryBlobStore()
        self.ids = CountingIds()
        self.said: list[Turn] = []
        self.deaths = 0

    def contexts(self, store: BlobStore) -> ChatContextAccessor:
        """Return a new process's accessor: it remembers nothing."""
        return ChatContextAccessor(
            documents=Documents(store=store, clock=FixedClock(), ids=self.ids)
        )

    async def stored(self) -> ChatContext:
        return (await self.contexts(self.sessions).read(CHAT, None, epoch=0)).document

    async def say(self, number: int) -> None:
        """Store turn `number`, again and again if the process dies on the way."""
        run = f"run_{number}"
        user, answers = text(self.random), [text(self.random) for _ in range(self.random.choice(
            (0, 1, 1, 1, 2, 3)))]  # fmt: skip
        for attempt in range(20):
            plan = {self.random.randint(1, 9): self.random.choice(FAULTS)} if attempt < 3 else {}
            store = FaultyBlobStore(self.sessions, plan if self.random.random() < 0.5 else {})
            try:
                await self._turn(self.contexts(store), run, user, answers)
            except (SimulatedKill, RoundsError):
                self.deaths += 1
            if self.is_kept(await self.stored(), run):
                break
        self.said.append(self._whole(number, run, user, answers))

    def is_kept(self, context: ChatContext, run: str) -> bool:
        return any(t.run_id == run and t.turn_status == "COMPLETED" for t in context.chat_history)

    async def _turn(
        self, contexts: ChatContextAccessor, run: str, user: str, answers: list[str]
    ) -> None:
        stored = await contexts.read(CHAT, None, epoch=0)
        context = stored.document
        validate(context, agents={"Radiology"}, running=run)
        # What died before it was done is said again by whoever sent it, in its own place.
        if context.chat_history and context.chat_history[-1].run_id == run:
            context.chat_history.pop()
            context.next_turn_id -= 1
        whole = self._whole(context.next_turn_id, run, user, [])
        context.chat_history.append(whole)
        context.next_turn_id += 1
        greet(context, whole, user_id="alice")
        found = understand(
            user, earlier=context.chat_history[:-1], memory=context.memory, intents=()
        )
        take_in(context, whole, found)
        etag = stored.etag
        for answer in answers:
            if whole.agent_responses:
                half = await rotation.make_storable(contexts, context, whole)
                assert_bounded(half)
                etag = await contexts.write(half, etag=etag)
            whole.agent_responses.append(self._answer(whole.turn_id, answer))
        advance(whole, "COMPLETED")
        conclude(context, whole)
        await rotation.make_room(contexts, context)
        await contexts.write(context, etag=etag)

    def _whole(self, number: int, run: str, user: str, answers: list[str]) -> Turn:
        return Turn(
            turn_id=number,
            run_id=run,
            timestamp=NOW + timedelta(minutes=number),
            user="Alice",
            user_message=user,
            agent_responses=[self._answer(number, answer) for answer in answers],
            turn_status="IN_PROGRESS",
        )

    def _answer(self, number: int, answer: str) -> AgentMessage:
        at = NOW + timedelta(minutes=number, seconds=3)
        return AgentMessage(message_id=f"m{number}", agent="Radiology", text=answer, timestamp=at)


def assert_bounded(context: ChatContext) -> None:
    blocks = blocks_of(context, now=NOW, rules=MemoryRules())
    assert size_chars(blocks.conversation_history) <= HISTORY_LIMIT_CHARS
    assert size_chars(blocks.active_session) <= SESSION_LIMIT_CHARS
    assert size_chars(blocks.context_summary) <= SUMMARY_LIMIT_CHARS
    assert size_chars(blocks.memory_metadata) <= METADATA_LIMIT_CHARS
    turns = sum(len(turn.model_dump_json().encode()) for turn in context.chat_history)
    assert turns <= rotation.HISTORY_LIMIT_BYTES
    assert context.memory.stored_bytes() <= MEMORY_LIMIT_BYTES
    assert len(context.chat_history) <= rotation.ROTATE_ABOVE_TURNS
    assert_agree(context, blocks)


def assert_agree(context: ChatContext, blocks: Blocks) -> None:
    """The blocks tell the same, each in its place (spec page 4.2, rule 1)."""
    history, session = blocks.conversation_history, blocks.active_session
    assert history["session_id"] == session["session_info"]["session_id"]
    assert session["conversation_state"]["current_turn"] == history["turns"][-1]["turn_id"]
    usage = blocks.memory_metadata["memory_usage"]
    assert usage["conversation_history"]["current_size"] == size_chars(history)
    assert usage["conversation_history"]["turns_stored"] == len(history["turns"])
    assert usage["active_session"]["current_size"] == size_chars(session)
    assert usage["context_summary"]["current_size"] == len(blocks.context_summary)


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_turns_of_any_size_and_deaths_anywhere_lose_and_double_nothing(seed: int) -> None:
    talk = Talk(seed)
    for number in range(1, TURNS + 1):
        await talk.say(number)
        context = await talk.stored()
        assert_bounded(context)
        ids = [turn.turn_id for turn in context.chat_history]
        assert ids == list(range(ids[0], number + 1))
        assert len(ids) >= min(number, 3)
        findings = validate(context, agents={"Radiology"})
        assert (findings.repaired, findings.reported) == ([], [])
    assert talk.deaths > TURNS // 20
    await _all_is_there_once(talk)


async def _all_is_there_once(talk: Talk) -> None:
    contexts, context = talk.contexts(talk.sessions), await talk.stored()
    first = context.chat_history[0].turn_id
    older = await contexts.read_archived_turns(context, before=first, limit=10 * TURNS)
    found = [await contexts.whole_turn(context, each) for each in [*older, *context.chat_history]]
    assert [turn.turn_id for turn in found] == list(range(1, TURNS + 1))
    for turn, said in zip(found, talk.said, strict=True):
        assert turn.run_id == said.run_id
        assert turn.user_message == said.user_message
        assert [a.text for a in turn.agent_responses] == [a.text for a in said.agent_responses]
