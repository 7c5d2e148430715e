"""Many people at once, and two replicas beside one: `python -m bench.load_many [--quick] [--json]`.

200 sockets and 50 bot conversations for ten minutes, each thinking for a while after each answer,
with a model that takes its time. Then the processor time of a turn with one replica and with two
on one store. Exits 1 if a turn failed or a bar is missed that is no time.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bench.chat import Chat, TurnFailedError, chatting, client
from bench.figures import Figure, exit_code, info, p50, print_figures, table
from bench.model import TOKEN_CHARS, Orders
from bench.probed_server import Lag
from bench.processes import ModelPeer, ServerPeer, environment_of, running_model, running_server
from bench.sections import FOLLOW_UP, OPENING
from tests.fakes_connector import Activity, FakeConnector
from tests.peers import running_azurite, running_azurite_queue

PROBED = ("-m", "bench.probed_server")
ANSWER_TOKENS, TOKENS_PER_SECOND, DELAY_SECONDS = 100, 50.0, 0.4
PACED = Orders(
    chars=ANSWER_TOKENS * TOKEN_CHARS,
    chunk_chars=TOKEN_CHARS,
    delay_seconds=DELAY_SECONDS,
    tokens_per_second=TOKENS_PER_SECOND,
)
MODEL_SECONDS = DELAY_SECONDS + ANSWER_TOKENS / TOKENS_PER_SECOND
BOT_SECONDS = 60.0
# Ten minutes' turns, each version of each document.
STORE_MB = 4_096
# Conversations of each replica when replicas are compared, and turns a second of each.
PER_REPLICA, TURN_EVERY_SECONDS = 8, 0.5


@dataclass(frozen=True)
class Effort:
    """How much is asked of the server."""

    sockets: int
    bots: int
    seconds: float
    think_seconds: float
    phase_seconds: float


# A person reads and thinks for a while: 250 of them ask six times a second.
FULL = Effort(200, 50, 600.0, 40.0, 20.0)
QUICK = Effort(200, 50, 80.0, 40.0, 6.0)


@dataclass
class Seen:
    """What all clients saw.

    Attributes:
        socket_seconds: Of each turn, from the message to the end of its run.
        bot_seconds: Of each turn, from the post to the reply.
        posts: Seconds until each post was answered.
        errors: What went wrong, one line each.
        again: Posts that met a closed connection, and were sent again.
    """

    socket_seconds: list[float] = field(default_factory=list)
    bot_seconds: list[float] = field(default_factory=list)
    posts: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    again: int = 0


def p99(values: Sequence[float]) -> float:
    """Return what 99 % of the values do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 99 // 100) - 1)]


def environment(account: str, model: ModelPeer) -> dict[str, str]:
    """Return all that a server is told."""
    return environment_of(
        model.url,
        AZURE_STORAGE_CONNECTION_STRING=account,
        TURN_QUEUE="rounds-turns",
        LLM_CONCURRENCY="1000",
    )


async def many_people(server: ServerPeer, model: ModelPeer, effort: Effort) -> list[Figure]:
    """Let everybody talk for `effort.seconds`; return what came of it."""
    seen = Seen()
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(client())
        channel = await stack.enter_async_context(FakeConnector(messages_per_second=1_000))
        names = [f"many-{number}" for number in range(effort.sockets)]
        chats = [
            await stack.enter_async_context(chatting(session, server.url, name)) for name in names
        ]
        await model.order(PACED)
        calm = [(await chats[0].say(text)).seconds for text in (OPENING, *[FOLLOW_UP] * 3)][1:]
        await server.peer.ask({})
        cpu = server.cpu_seconds()
        until = time.monotonic() + effort.seconds
        people = [_by_socket(chat, seen, until, effort.think_seconds) for chat in chats]
        people += [
            _by_bot(channel, server, f"many-bot-{number}", seen, until, effort.think_seconds)
            for number in range(effort.bots)
        ]
        await asyncio.gather(*people)
        seen.errors += channel.faults
        sys.stderr.writelines(f"{error}\n" for error in seen.errors)
        lag = Lag(**await server.peer.ask({}))
        cpu = server.cpu_seconds() - cpu
    return _figures(seen, p50(calm), lag, server, cpu)


async def _by_socket(chat: Chat, seen: Seen, until: float, think_seconds: float) -> None:
    text = OPENING
    try:
        await chat.rest(random.uniform(0, think_seconds))
        while time.monotonic() < until:
            seen.socket_seconds.append((await chat.say(text)).seconds)
            text = FOLLOW_UP
            await chat.rest(random.expovariate(1 / think_seconds))
    except (TurnFailedError, aiohttp.ClientError) as error:
        seen.errors.append(f"a socket: {type(error).__name__} {error}")


async def _by_bot(
    channel: FakeConnector,
    server: ServerPeer,
    conversation: str,
    seen: Seen,
    until: float,
    think_seconds: float,
) -> None:
    number, text = 0, OPENING
    await asyncio.sleep(random.uniform(0, think_seconds))
    while time.monotonic() < until:
        number, name = number + 1, f"{conversation}-{number}"
        began = time.monotonic()
        try:
            await _post(channel, server.url, text, conversation, name, seen)
            await channel.until(
                lambda activity, name=name: _answers(activity, name),  # type: ignore[misc]
                conversation=conversation,
                seconds=BOT_SECONDS,
            )
            seen.bot_seconds.append(time.monotonic() - began)
        except (TimeoutError, aiohttp.ClientError) as error:
            seen.errors.append(f"a bot turn was not answered: {type(error).__name__}")
        text = FOLLOW_UP
        await asyncio.sleep(random.expovariate(1 / think_seconds))


async def _post(
    channel: FakeConnector, url: str, text: str, conversation: str, name: str, seen: Seen
) -> None:
    """Post a message; again if the kept connection was closed meanwhile, as channels do."""
    posted = None
    while posted is None:
        try:
            posted = await channel.say(url, text, conversation=conversation, activity_id=name)
        except aiohttp.ClientConnectionError:
            seen.again += 1
    seen.posts.append(posted.seconds)
    if posted.status != 202:
        seen.errors.append(f"a post was answered with {posted.status}")


def _answers(activity: Activity, name: str) -> bool:
    is_message = activity.get("type") == "message" and bool(activity.get("text"))
    return is_message and activity.get("replyToId") == name


def _figures(
    seen: Seen, calm_seconds: float, lag: Lag, server: ServerPeer, cpu_seconds: float
) -> list[Figure]:
    place, turns = "many", len(seen.socket_seconds) + len(seen.bot_seconds)
    overhead = [(seconds - MODEL_SECONDS) * 1000 for seconds in seen.socket_seconds]
    return [
        info(place, "turns by socket", len(seen.socket_seconds), ""),
        info(place, "turns by bot", len(seen.bot_seconds), ""),
        Figure(place, "errors", len(seen.errors), f"of {turns}", bar=0, kind="count"),
        info(place, "socket: overhead of one alone", (calm_seconds - MODEL_SECONDS) * 1000, "ms"),
        info(place, "socket: overhead p50", p50(overhead), "ms"),
        info(place, "socket: overhead p99", p99(overhead), "ms"),
        info(place, "bot: posts sent again on a new connection", seen.again, ""),
        info(place, "bot: post answered p99", p99(seen.posts) * 1000, "ms"),
        info(place, "bot: reply p99, the model's 2.4 s included", p99(seen.bot_seconds), "s"),
        Figure(place, "loop lag p99", lag.p99, "ms", bar=50),
        info(place, "CPU of the server", cpu_seconds / max(1, turns) * 1000, "ms/turn"),
        info(place, "loop lag at most", lag.most, "ms"),
        Figure(place, "RSS at most", server.peak_rss_mb(), "MB", bar=350, kind="count"),
    ]


async def replicas(servers: Sequence[ServerPeer], model: ModelPeer, effort: Effort) -> list[Figure]:
    """Compare the processor time of a turn: one replica, then both, and again.

    Each replica has the same conversations at the same pace, so that only their number differs;
    taking turns spreads what else runs on the machine over both.
    """
    await model.order(Orders())
    spent: dict[int, tuple[float, int]] = {1: (0.0, 0), 2: (0.0, 0)}
    for phase in range(6):
        count = 1 + phase % 2
        cpu, turns = await _phase(servers[:count], phase, effort.phase_seconds)
        spent[count] = (spent[count][0] + cpu, spent[count][1] + turns)
    one, two = (cpu / turns * 1000 for cpu, turns in spent.values())
    return [
        info("many", "one replica: CPU of the server", one, "ms/turn"),
        info("many", "two replicas: CPU of the servers", two, "ms/turn"),
        Figure("many", "CPU of a turn, two replicas over one", two / one, "x", 1.1, kind="count"),
    ]


async def _phase(servers: Sequence[ServerPeer], phase: int, seconds: float) -> tuple[float, int]:
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(client())
        chats = [
            await stack.enter_async_context(
                chatting(session, server.url, f"phase-{phase}-{index}-{number}")
            )
            for index, server in enumerate(servers)
            for number in range(PER_REPLICA)
        ]
        await asyncio.gather(*(chat.say(OPENING) for chat in chats))
        before = sum(server.cpu_seconds() for server in servers)
        until = time.monotonic() + seconds
        turns = sum(await asyncio.gather(*(_paced(chat, until) for chat in chats)))
        return sum(server.cpu_seconds() for server in servers) - before, turns


async def _paced(chat: Chat, until: float) -> int:
    turns = 0
    await asyncio.sleep(random.uniform(0, TURN_EVERY_SECONDS))
    while (began := time.monotonic()) < until:
        await chat.say(FOLLOW_UP)
        turns += 1
        await asyncio.sleep(max(0.0, TURN_EVERY_SECONDS - (time.monotonic() - began)))
    return turns


async def _run(effort: Effort) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="rounds-bench-") as made:
        folder = Path(made)
        for part in ("blobs", "queues"):
            (folder / part).mkdir()
        with (
            running_azurite(folder / "blobs", memory_mb=STORE_MB) as blobs,
            running_azurite_queue(folder / "queues") as queues,
        ):
            async with running_model() as model:
                told = environment(f"{blobs}{queues}", model)
                async with running_server(told, program=PROBED) as server:
                    figures = await many_people(server, model, effort)
                    sys.stderr.write(f"{table(figures)}\n")
                async with running_server(told) as one, running_server(told) as two:
                    return [*figures, *await replicas([one, two], model, effort)]


def main() -> int:
    """Run it; 1 if a turn failed or a bar is missed that no busy machine excuses."""
    parser = argparse.ArgumentParser(prog="python -m bench.load_many", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under two minutes instead of twelve")
    parser.add_argument("--json", action="store_true", help="print JSON, with the load beside it")
    options = parser.parse_args()
    figures = asyncio.run(_run(QUICK if options.quick else FULL))
    print_figures(figures, as_json=options.json)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
