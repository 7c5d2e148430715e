"""Many conversations at once, and what they leave in memory."""

import asyncio
import time
from contextlib import AsyncExitStack

from bench.chat import Chat, chatting
from bench.figures import Figure, info, p50, p95
from bench.sections import FOLLOW_UP, Bench

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
