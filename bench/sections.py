"""What is measured on one store, section by section."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import aiohttp

from bench.chat import Chat, Shown, chatting
from bench.figures import Figure, info, p50, p95
from bench.model import SENTENCE, TOKEN_CHARS, Asked, Orders
from bench.processes import ModelPeer, ServerPeer

FOLLOW_UP = "What does the latest imaging show?"
# Names the patient who is active together with a word of change: only a model can tell.
UNCLEAR = "Go back to patient_4 and tell me the stage."
PAUSE_SECONDS = 0.05
TOKENS_PER_SECOND = 50.0


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        turns: Follow-up turns of one conversation.
        rounds: Turns of each history and roster; they take turns, so that noise meets all alike.
        load_seconds: How long each number of conversations is kept up.
    """

    turns: int
    rounds: int
    load_seconds: float
    histories: tuple[int, ...]
    rosters: tuple[int, ...]
    loads: tuple[int, ...]
    conversations: int


FULL = Effort(150, 25, 12.0, (10, 100, 1_000, 5_000), (1, 10, 100, 1_000), (1, 8, 32, 128), 1_000)
QUICK = Effort(40, 10, 4.0, (10, 100, 1_000), (1, 100), (1, 8, 128), 200)


@dataclass(frozen=True)
class Bench:
    """A server under measurement, its model, and who talks to it."""

    place: str
    server: ServerPeer
    model: ModelPeer
    session: aiohttp.ClientSession
    effort: Effort

    async def say(self, chat: Chat, text: str = FOLLOW_UP) -> Shown:
        """Say `text` as a person does: after what came before is over, the release included."""
        await self.settle()
        return await chat.say(text)

    async def settle(self) -> None:
        """Wait until the turn is also released."""
        await asyncio.sleep(PAUSE_SECONDS)

    async def open_all(self, stack: AsyncExitStack, conversations: Sequence[str]) -> list[Chat]:
        """Open a socket to each of `conversations`."""
        return [
            await stack.enter_async_context(chatting(self.session, self.server.url, each))
            for each in conversations
        ]


def started(place: str, servers: Sequence[ServerPeer]) -> list[Figure]:
    """Return how the servers of this run started."""
    starts = [server.start for server in servers]
    port, ready = (p50([s.port_seconds for s in starts]), p50([s.ready_seconds for s in starts]))
    return [
        Figure(place, "start: port open", port, "s", bar=1.0),
        Figure(place, "start: ready", ready, "s", bar=4.0),
        info(place, "start: CPU until ready", p50([s.cpu_seconds for s in starts]), "s"),
    ]


async def follow_up(bench: Bench, conversation: str) -> list[Figure]:
    """One conversation, one turn after the other, the model at zero latency."""
    async with chatting(bench.session, bench.server.url, conversation) as chat:
        for _ in range(10):
            await bench.say(chat)
        await bench.model.order(Orders())
        cpu = bench.server.cpu_seconds()
        shown = [await bench.say(chat) for _ in range(bench.effort.turns)]
        cpu = bench.server.cpu_seconds() - cpu
        asked = await bench.model.order(Orders())
    place, turns = bench.place, bench.effort.turns
    times = [turn.seconds * 1000 for turn in shown]
    bar = 15.0 if place == "local" else 30.0
    return [
        Figure(place, "follow-up: overhead p50", p50(times), "ms", bar=bar),
        info(place, "follow-up: overhead p95", p95(times), "ms"),
        info(place, "follow-up: CPU of the server", cpu / turns * 1000, "ms"),
        Figure(place, "follow-up: model calls", asked.calls / turns, "", bar=2, kind="count"),
        _prompt(place, "follow-up: prompt characters", asked.prompt_chars / turns),
        info(place, "follow-up: request bytes to the model", asked.body_bytes / turns, "B"),
    ]


def _prompt(place: str, name: str, chars: float) -> Figure:
    return Figure(place, name, chars, "chars", bar=12_000, kind="count")


async def model_calls(bench: Bench, conversation: str) -> list[Figure]:
    """What waits for the model: 400 ms a call, and a stream of 50 tokens a second."""
    slow = Orders(delay_seconds=0.4)
    asks = Orders(endings=["\n\nShall I look further?"])
    hands = Orders(endings=["\n\n*Radiology*, what does the imaging show?"])
    async with chatting(bench.session, bench.server.url, conversation) as chat:
        plain, _ = await _ordered(bench, chat, slow, FOLLOW_UP)
        unclear, asked = await _ordered(bench, chat, slow, UNCLEAR)
        await _ordered(bench, chat, asks, FOLLOW_UP)
        yes, confirmed = await _ordered(bench, chat, slow, "yes")
        _, handed = await _ordered(bench, chat, hands, FOLLOW_UP)
        delays = [await _first_text(bench, chat) for _ in range(3)]
    place = bench.place
    return [
        Figure(place, "400 ms a call: follow-up", plain.seconds, "s", bar=0.9),
        Figure(place, "400 ms a call: classifier, then agent", unclear.seconds, "s", bar=0.9),
        Figure(place, "400 ms a call: confirmation", yes.seconds, "s", bar=0.5),
        Figure(place, "model calls: classifier, then agent", asked.calls, "", 2, kind="count"),
        Figure(place, "model calls: confirmation", confirmed.calls, "", 1, kind="count"),
        Figure(
            place, "model calls: hand-over, message read beside", handed.calls, "", 3, kind="count"
        ),
        _prompt(place, "prompt characters: classifier and agent", asked.prompt_chars),
        Figure(place, "first sentence after the model's last token of it", p50(delays), "ms", 50),
    ]


async def _ordered(bench: Bench, chat: Chat, orders: Orders, text: str) -> tuple[Shown, Asked]:
    await bench.model.order(orders)
    shown = await bench.say(chat, text)
    return shown, await bench.model.order(Orders())


async def _first_text(bench: Bench, chat: Chat) -> float:
    """Return milliseconds from the model's last token of the first sentence to its text.

    A sentence is checked before it is shown. Each token follows the one before, and the first the
    question, by one token's time.
    """
    paced = Orders(
        chars=100 * TOKEN_CHARS, chunk_chars=TOKEN_CHARS, tokens_per_second=TOKENS_PER_SECOND
    )
    shown, asked = await _ordered(bench, chat, paced, FOLLOW_UP)
    if shown.first_text_at is None:
        raise RuntimeError("a turn showed no text")
    tokens = -(-len(SENTENCE) // TOKEN_CHARS)
    return (shown.first_text_at - asked.last_at - tokens / TOKENS_PER_SECOND) * 1000


async def histories(bench: Bench) -> list[Figure]:
    """Turns after many messages cost what they cost after a full window of them."""
    sizes = bench.effort.histories
    async with AsyncExitStack() as stack:
        chats = await bench.open_all(stack, [history_name(size) for size in sizes])
        times, chars = await _side_by_side(bench, chats)
    figures = []
    for size, ms, prompt in zip(sizes, times, chars, strict=True):
        figures.append(info(bench.place, f"{size:,} earlier messages: overhead p50", ms, "ms"))
        name = f"{size:,} earlier messages: prompt characters"
        figures.append(info(bench.place, name, prompt, "chars"))
    full = sizes.index(100)
    place, name = bench.place, f"{sizes[-1]:,} over 100 earlier messages"
    overhead, prompt = times[-1] / times[full], chars[-1] / chars[full]
    return [
        *figures,
        Figure(place, f"{name}: overhead", overhead, "x", bar=1.2, kind="count"),
        Figure(place, f"{name}: prompt characters", prompt, "x", bar=1.2, kind="count"),
    ]


async def rosters(bench: Bench) -> list[Figure]:
    """Follow-up turns among many patients, then a clear of all of them."""
    sizes = bench.effort.rosters
    async with AsyncExitStack() as stack:
        chats = await bench.open_all(stack, [roster_name(size) for size in sizes])
        times, _ = await _side_by_side(bench, chats)
        clears = [(await bench.say(chat, "clear patient context")).seconds for chat in chats]
    place = bench.place
    figures = []
    for size, ms, seconds in zip(sizes, times, clears, strict=True):
        figures.append(info(place, f"{size:,} patients: follow-up p50", ms, "ms"))
        bar = None if size != 1_000 else (3.0 if place == "local" else 10.0)
        figures.append(Figure(place, f"{size:,} patients: clear", seconds, "s", bar=bar))
    name = f"{sizes[-1]:,} patients over one: follow-up"
    return [*figures, Figure(place, name, times[-1] / times[0], "x", bar=1.5, kind="count")]


async def _side_by_side(bench: Bench, chats: Sequence[Chat]) -> tuple[list[float], list[float]]:
    """Return for each chat the p50 in milliseconds and the prompt's characters of a turn."""
    times: list[list[float]] = [[] for _ in chats]
    chars: list[list[float]] = [[] for _ in chats]
    for warm in range(bench.effort.rounds + 2):
        for index, chat in enumerate(chats):
            shown, asked = await _ordered(bench, chat, Orders(), FOLLOW_UP)
            if warm >= 2:
                times[index].append(shown.seconds * 1000)
                chars[index].append(asked.prompt_chars)
    return [p50(each) for each in times], [p50(each) for each in chars]


def history_name(messages: int) -> str:
    """Return the conversation with so many earlier messages."""
    return f"history-{messages}"


def roster_name(patients: int) -> str:
    """Return the conversation about so many patients."""
    return f"roster-{patients}"


OPENING = "Let us look at patient_4."
_AT_ONCE = 32


async def idle(bench: Bench) -> list[Figure]:
    """Memory of a server that has answered one turn and no more."""
    async with chatting(bench.session, bench.server.url, "idle") as chat:
        await chat.say(OPENING)
    return [Figure(bench.place, "RSS idle", bench.server.rss_mb(), "MB", 200, kind="count")]


async def throughput(bench: Bench) -> list[Figure]:
    """Turns a second while each conversation asks again as soon as it is answered."""
    figures = []
    for conversations in bench.effort.loads:
        figures += await _kept_up(bench, conversations)
    peak = bench.server.peak_rss_mb()
    name = f"RSS at most, {bench.effort.loads[-1]} at once"
    return [*figures, Figure(bench.place, name, peak, "MB", 350, kind="count")]


async def _kept_up(bench: Bench, conversations: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        names = [f"load-{conversations}-{number}" for number in range(conversations)]
        chats = await bench.open_all(stack, names)
        await asyncio.gather(*(chat.say(OPENING) for chat in chats))
        cpu, began = bench.server.cpu_seconds(), time.monotonic()
        until = began + bench.effort.load_seconds
        asked = await asyncio.gather(*(_asking(chat, until) for chat in chats))
        took, cpu = time.monotonic() - began, bench.server.cpu_seconds() - cpu
    times = [seconds for each in asked for seconds in each]
    place, name = bench.place, f"{conversations} at once"
    rate = len(times) / took
    least, slowest = (60.0 if conversations >= 8 else None, 2.5 if conversations == 128 else None)
    return [
        Figure(place, f"{name}: turns a second", rate, "/s", bar=least, at_least=True),
        info(place, f"{name}: p50", p50(times), "s"),
        Figure(place, f"{name}: p95", p95(times), "s", bar=slowest),
        info(place, f"{name}: CPU of the server", cpu / len(times) * 1000, "ms/turn"),
    ]


async def _asking(chat: Chat, until: float) -> list[float]:
    times = []
    while time.monotonic() < until:
        times.append((await chat.say(FOLLOW_UP)).seconds)
    return times


async def many_conversations(bench: Bench) -> list[Figure]:
    """Memory after so many conversations that came, asked twice and went."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int) -> None:
        async with places, chatting(bench.session, bench.server.url, f"once-{number}") as chat:
            await chat.say(OPENING)
            await chat.say(FOLLOW_UP)

    before = bench.server.rss_mb()
    await asyncio.gather(*(one(number) for number in range(bench.effort.conversations)))
    name = f"RSS after {bench.effort.conversations:,} conversations"
    return [
        info(bench.place, "RSS before them", before, "MB"),
        Figure(bench.place, name, bench.server.rss_mb(), "MB", bar=250, kind="count"),
    ]
