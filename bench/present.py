"""What a turn costs among 10, 1,000 and 100,000 stored conversations: `python -m bench.present`.

One server on local files, with rules instead of a model; the others belong to the same user. Exits
1 if a turn among the most costs over 1.2 times one among the fewest.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.chat import Chat, chatting, client
from bench.figures import Figure, info, p50, table
from bench.processes import ServerPeer, running_server
from bench.seed import Place, seeding
from data_models.identifiers import storage_folder

TEMPLATE, SPOKEN = "present-template", "present-spoken"
PRESENT = (10, 1_000, 100_000)
PAUSE_SECONDS = 0.05


class Crowd:
    """Conversations that nobody opens: copies of one, written without waiting for the disk."""

    def __init__(self, *, data_dir: Path) -> None:
        folder = storage_folder(TEMPLATE)
        self._files = [
            (path.relative_to(data_dir).as_posix(), path.read_bytes())
            for path in data_dir.rglob("*")
            if path.is_file() and folder in path.relative_to(data_dir).parts
        ]
        self._data_dir = data_dir
        self._present = 2  # the template and the one that is spoken in

    def grow(self, present: int) -> None:
        """See to it that so many conversations are stored."""
        for number in range(self._present, present):
            name = f"present-{number:08}"
            for path, data in self._files:
                copy = self._data_dir / path.replace(storage_folder(TEMPLATE), storage_folder(name))
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(data.replace(TEMPLATE.encode(), name.encode()))
        self._present = max(self._present, present)


async def measured(sizes: Sequence[int], *, turns: int, data_dir: Path) -> list[Figure]:
    """Return the milliseconds and the processor time of a turn among each number of others."""
    place = Place("local", data_dir)
    async with seeding(place) as seeder:
        for name in (TEMPLATE, SPOKEN):
            await seeder.conversation(name, messages=10)
    crowd = Crowd(data_dir=data_dir)
    told = {"PATH": os.environ["PATH"], "LLM_PROVIDER": "offline", "LOG_LEVEL": "ERROR"}
    times, costs = list[float](), list[float]()
    async with running_server({**told, **place.environment}) as server, client() as session:
        for size in sizes:
            crowd.grow(size)
            async with chatting(session, server.url, SPOKEN) as chat:
                ms, cpu = await _turns(chat, server, turns)
            times.append(ms)
            costs.append(cpu)
    rows = zip(sizes, times, costs, strict=True)
    name = f"{sizes[-1]:,} conversations over {sizes[0]:,}"
    return [
        figure
        for size, ms, cpu in rows
        for figure in (
            info("local", f"{size:,} conversations: a turn p50", ms, "ms"),
            info("local", f"{size:,} conversations: CPU of a turn", cpu, "ms"),
        )
    ] + [Figure("local", f"{name}: CPU of a turn", costs[-1] / costs[0], "x", 1.2, kind="count")]


async def _turns(chat: Chat, server: ServerPeer, turns: int) -> tuple[float, float]:
    for _ in range(5):
        await chat.say("What is the current stage?")
    began, times = server.cpu_seconds(), list[float]()
    for _ in range(turns):
        times.append((await chat.say("What is the current stage?")).seconds * 1_000)
        await asyncio.sleep(PAUSE_SECONDS)
    return p50(times), (server.cpu_seconds() - began) / turns * 1_000


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--present", type=int, action="append", help="so many conversations")
    parser.add_argument("--turns", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rounds-bench-") as made:
        sizes = sorted(options.present or PRESENT)
        figures = asyncio.run(measured(sizes, turns=options.turns, data_dir=Path(made)))
    sys.stdout.write(f"{table(figures)}\n")
    return int(any(figure.is_missed for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
