"""Turns watched from another replica: `python -m bench.watching [--quick]`.

Two replicas on one Azurite and a model that talks for ten seconds. A turn that nobody watches
elsewhere, one that a second screen at the other replica joins amid the answer, and one whose socket
breaks and comes back there: what each asks of storage, and how late the text is. Exits 1 if a text
differs, or an unwatched turn writes more than its four and a renewal of its claim.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import orjson

from bench.chat import client
from bench.counted_server import Tally
from bench.figures import Figure, info, p50, p95, table
from bench.model import TOKEN_CHARS, Orders
from bench.processes import ModelPeer, ServerPeer, running_model, running_server
from tests.peers import running_azurite

TALK_SECONDS, TOKENS_PER_SECOND = 10.0, 50.0
PACED = Orders(
    chars=int(TALK_SECONDS * TOKENS_PER_SECOND) * TOKEN_CHARS,
    chunk_chars=TOKEN_CHARS,
    delay_seconds=0.4,
    tokens_per_second=TOKENS_PER_SECOND,
)
JOINED_AFTER = 100
"""Pieces of text before somebody joins, or is cut off."""
BACK_SECONDS = 0.5
"""What the page waits before it connects again."""
_LIMIT_SECONDS = 120.0
_LATE_SECONDS = 2.0
_WRITES = ("create", "replace", "append")


@dataclass
class Seen:
    """What one screen saw of one run: when each event came, and all text."""

    at: dict[int, float] = field(default_factory=dict)
    text: str = ""
    pieces: int = 0
    run_id: str = ""
    is_over: bool = False

    async def until(self, socket: aiohttp.ClientWebSocketResponse, *, pieces: int = 0) -> None:
        """Read on to so many pieces of text more, or to the end."""
        wanted = self.pieces + pieces
        while not self.is_over and not (pieces and self.pieces >= wanted):
            frame = orjson.loads(await socket.receive_str(timeout=_LIMIT_SECONDS))
            self._add(frame)

    def _add(self, frame: dict[str, object]) -> None:
        metadata = frame.get("metadata")
        if isinstance(metadata, dict):
            self.at[metadata["seq"]] = time.monotonic()
            self.run_id = metadata["runId"]
        self.is_over = frame["type"] in ("RUN_FINISHED", "RUN_ERROR")
        if frame["type"] == "TEXT_MESSAGE_CONTENT":
            self.text += str(frame["delta"])
            self.pieces += 1


@dataclass
class Found:
    """Figures of all rounds, by their names."""

    rows: dict[str, list[float]] = field(default_factory=dict)
    differ: int = 0

    def add(self, name: str, value: float) -> None:
        """Note one value."""
        self.rows.setdefault(name, []).append(value)


@dataclass(frozen=True)
class Bench:
    """Two replicas, and who talks to them."""

    session: aiohttp.ClientSession
    one: ServerPeer
    two: ServerPeer
    found: Found

    async def tally(self, kind: str) -> None:
        """Note what both replicas asked of storage since they were asked last."""
        await asyncio.sleep(0.5)
        for place, server in (("runs", self.one), ("is shown", self.two)):
            tally = Tally(**await server.peer.ask({}))
            operations = Counter(tally.operations)
            writes = sum(operations[each] for each in _WRITES)
            self.found.add(f"{kind}: writes where it {place}", writes)
            self.found.add(f"{kind}: reads where it {place}", operations["read"])
            self.found.add(f"{kind}: kB read where it {place}", tally.bytes_read / 1e3)


def _address(server: ServerPeer, chat: str, query: str = "") -> str:
    return f"{server.url}/api/ws/chats/{chat}/messages?stream=1{query}"


async def _unwatched(bench: Bench, chat: str) -> None:
    async with bench.session.ws_connect(_address(bench.one, chat)) as socket:
        await socket.send_json({"content": "go on"})
        await Seen().until(socket)
    await bench.tally("nobody elsewhere")


async def _second_screen(bench: Bench, chat: str) -> None:
    async with bench.session.ws_connect(_address(bench.one, chat)) as socket:
        await socket.send_json({"content": "go on"})
        here, there = Seen(), Seen()
        await here.until(socket, pieces=JOINED_AFTER)
        joined = time.monotonic()
        query = f"&run={here.run_id}"
        async with bench.session.ws_connect(_address(bench.two, chat, query)) as other:
            await asyncio.gather(here.until(socket), there.until(other))
    bench.found.add("a second screen: ms to its first frame", _ms(there.at[1] - joined))
    caught_up = [seq for seq in here.at if here.at[seq] > there.at[1]]
    late = [_ms(there.at[seq] - here.at[seq]) for seq in caught_up]
    bench.found.add("a second screen: ms that text is late, median", p50(late))
    bench.found.add("a second screen: ms that text is late, p95", p95(late))
    bench.found.differ += here.text != there.text
    await bench.tally("a second screen")


async def _cut_off(bench: Bench, chat: str) -> None:
    seen = Seen()
    async with bench.session.ws_connect(_address(bench.one, chat)) as socket:
        await socket.send_json({"content": "go on"})
        await seen.until(socket, pieces=JOINED_AFTER)
    await asyncio.sleep(BACK_SECONDS)
    back = time.monotonic()
    query = f"&run={seen.run_id}&after={max(seen.at)}"
    async with bench.session.ws_connect(_address(bench.two, chat, query)) as socket:
        await seen.until(socket, pieces=1)
        bench.found.add("cut off: ms to the first new text", _ms(time.monotonic() - back))
        await seen.until(socket)
    bench.found.differ += len(seen.text) != PACED.chars
    bench.found.differ += sorted(seen.at) != list(range(1, len(seen.at) + 1))
    await bench.tally("cut off")


def _ms(seconds: float) -> float:
    return seconds * 1_000


async def _new_chat(bench: Bench) -> str:
    async with bench.session.post(f"{bench.one.url}/api/chats") as answer:
        return str((await answer.json())["chat_id"])


async def _measure(bench: Bench, model: ModelPeer, rounds: int) -> None:
    for _ in range(rounds):
        chat = await _new_chat(bench)
        await model.order(Orders())
        async with bench.session.ws_connect(_address(bench.one, chat)) as socket:
            for text in ("switch to patient_4", "go on"):
                await socket.send_json({"content": text})
                await Seen().until(socket)
        await model.order(PACED)
        await asyncio.sleep(0.5)
        for server in (bench.one, bench.two):
            await server.peer.ask({})
        await _unwatched(bench, chat)
        await _second_screen(bench, chat)
        await _cut_off(bench, chat)


def _figures(found: Found) -> list[Figure]:
    figures = [info("azurite", name, p50(values), "") for name, values in found.rows.items()]
    writes = max(found.rows["nobody elsewhere: writes where it runs"])
    figures.append(
        Figure("azurite", "most writes of an unwatched turn", writes, "", 5, kind="count")
    )
    figures.append(Figure("azurite", "texts that differ", found.differ, "", 0, kind="count"))
    for name in ("a second screen: ms to its first frame", "cut off: ms to the first new text"):
        worst = max(found.rows[name])
        figures.append(Figure("azurite", f"worst {name}", worst, "ms", _ms(_LATE_SECONDS)))
    return figures


def _environment(account: str, model: ModelPeer) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "AZURE_STORAGE_CONNECTION_STRING": account,
        "LLM_PROVIDER": "openai",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "none",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "WARNING",
    }


async def _run(rounds: int) -> list[Figure]:
    found = Found()
    with (
        tempfile.TemporaryDirectory(prefix="rounds-bench-") as made,
        running_azurite(Path(made)) as account,
    ):
        async with running_model() as model:
            told = _environment(account, model)
            async with (
                client() as session,
                running_server(told, counted=True) as one,
                running_server(told, counted=True) as two,
            ):
                await _measure(Bench(session, one, two, found), model, rounds)
    return _figures(found)


def main() -> int:
    """Run it; 1 if a bar is missed that no busy machine excuses."""
    parser = argparse.ArgumentParser(prog="python -m bench.watching", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two rounds instead of ten")
    figures = asyncio.run(_run(2 if parser.parse_args().quick else 10))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n\n{table(figures)}")
    return int(any(figure.is_missed and figure.kind == "count" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
