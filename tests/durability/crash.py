"""Runs a scenario on a store that fails at one operation, and what comes after it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from data_models.chat_context import AgentMessage
from data_models.clock import IdSource
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import Notice, RunFailed
from data_models.errors import RoundsError
from services.group_chat_port import GroupChatRequest
from services.runs.hub import Run
from tests.durability.evidence import Evidence
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Fault, FaultyBlobStore, SimulatedKill
from tests.services.world import CHAT, Heard, World, heard

_END_SECONDS = 60.0
Script = Callable[["Attempt"], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """What happens before the fault, and what the fault meets.

    Attributes:
        before: Messages that were answered in peace.
        script: What is attempted on the failing store.
    """

    name: str
    before: Sequence[str]
    script: Script
    answers: int = 1


@dataclass
class Attempt:
    """One try of a scenario's script in a world of its own."""

    world: World
    store: FaultyBlobStore
    messages: list[IncomingMessage] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)

    async def submit(self, text: str) -> None:
        """Hand a message in; note whether it was acknowledged."""
        message = self.world.message(text, message_id=f"m-{len(self.messages)}")
        self.messages.append(message)
        with suppress(RoundsError, SimulatedKill):
            self.runs.append(await self.world.scheduler.submit(message))
            self.acknowledged.add(text)

    async def end(self) -> None:
        """Return when everything is over, one way or the other."""
        self.world.team.gate.set()
        await asyncio.wait_for(self.world.scheduler.idle(), _END_SECONDS)


class GenerationIds:
    """Ids that no other process has, and the same in every run."""

    def __init__(self, generation: str) -> None:
        self._generation = generation
        self._ids = CountingIds()

    def new_id(self, prefix: str) -> str:
        return self._ids.new_id(f"{prefix}_{self._generation}")


def answers(count: int) -> Callable[[GroupChatRequest], Sequence[str]]:
    """Have `count` agent messages follow each other."""

    def say(request: GroupChatRequest) -> Sequence[str]:
        return [f"Answer {number} to: {request.text}" for number in range(1, count + 1)]

    return say


async def prepared(scenario: Scenario) -> dict[str, bytes]:
    """Return the store after the messages that come before."""
    store = MemoryBlobStore()
    world = world_on(store, ids=GenerationIds("a"))
    for number, text in enumerate(scenario.before):
        ended = await world.say(text, message_id=f"before-{number}")
        assert not isinstance(ended.end, RunFailed), ended.end
    await world.scheduler.idle()
    return store.contents


def world_on(store: MemoryBlobStore | FaultyBlobStore, *, ids: IdSource) -> World:
    """Return a replica whose three containers are one, so that one plan numbers all operations."""
    return World(sessions=store, users=store, audit_store=store, clock=FixedClock(), ids=ids)


async def copy_of(contents: dict[str, bytes]) -> MemoryBlobStore:
    """Return a new store of the same contents."""
    store = MemoryBlobStore()
    for name, data in contents.items():
        await store.create(name, data)
    return store


async def attempt(
    scenario: Scenario, inner: MemoryBlobStore, number: int, fault: Fault | None
) -> Attempt:
    """Run the script while operation `number` of the store meets `fault`."""
    store = FaultyBlobStore(inner, {} if fault is None else {number: fault})
    tried = Attempt(world_on(store, ids=GenerationIds("b")), store)
    tried.world.team.say = answers(scenario.answers)
    await scenario.script(tried)
    await tried.end()
    return tried


def evidence_of(store: MemoryBlobStore) -> Evidence:
    """Return what is stored of the conversation."""
    return Evidence(store.contents, CHAT)


def notices(ended: Heard) -> int:
    """Count how often the user was told of an interrupted turn."""
    return sum(isinstance(e, Notice) and e.kind == "interrupted" for e in ended.events)


async def resend(world: World, message: IncomingMessage) -> Heard:
    """Hand the same message in again, as a client does which saw no acknowledgement."""
    return await heard(await world.scheduler.submit(message))


def texts(said: Sequence[AgentMessage]) -> list[str]:
    """Return the words only."""
    return [each.text for each in said]
