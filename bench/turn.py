"""What a turn costs, beside the bars: `python -m bench.turn [--quick] [--place NAME] [--json]`.

Real HTTP and WebSocket against `app.py` in a process of its own, a model without latency in
another, state on local files and in Azurite. Turns on local files wait for the disk, whose price
of one durable write is shown with them. Exits 1 if a bar is missed that is no time.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.chat import client
from bench.figures import Figure, exit_code, info, p50, print_figures, table
from bench.processes import ModelPeer, ServerPeer, environment_of, running_model, running_server
from bench.sections import (
    FULL,
    QUICK,
    Bench,
    Effort,
    follow_up,
    histories,
    history_name,
    idle,
    many_conversations,
    model_calls,
    roster_name,
    rosters,
    started,
    throughput,
)
from bench.seed import Place, seeding
from bench.storage import operations
from data_models.storage.local_files import sync_folder, write_new_file
from tests.peers import running_azurite

Section = Callable[[Bench], Awaitable[list[Figure]]]
PLACES = ("local", "azurite")
_TALK, _CALLS, _EARLIER = "talk", "calls", 10
_DISK_WRITES = 40
_DISK_BYTES = 20_000


@dataclass(frozen=True)
class Round:
    """One server, and what is measured on it in this order."""

    sections: Sequence[Section]
    counted: bool = False


async def _follow_up(bench: Bench) -> list[Figure]:
    return await follow_up(bench, _TALK)


async def _model_calls(bench: Bench) -> list[Figure]:
    return await model_calls(bench, _CALLS)


ROUNDS = (
    Round((_follow_up, _model_calls, histories, rosters)),
    Round((idle, throughput)),
    Round((many_conversations,)),
    Round((operations,), counted=True),
)


@contextmanager
def _place(name: str, folder: Path) -> Iterator[Place]:
    if name == "local":
        yield Place(name, folder / name)
        return
    with running_azurite(folder) as connection_string:
        yield Place(name, folder / name, connection_string)


async def _measure(place: Place, model: ModelPeer, effort: Effort) -> list[Figure]:
    await _seed(place, effort)
    figures: list[Figure] = []
    timed: list[ServerPeer] = []
    environment = environment_of(model.url, **place.environment)
    for one in ROUNDS:
        async with running_server(environment, counted=one.counted) as server:
            timed += [] if one.counted else [server]
            async with client() as session:
                bench = Bench(place.name, server, model, session, effort)
                for section in one.sections:
                    found = await section(bench)
                    _say(table(found))
                    figures += found
    return [*started(place.name, timed), *figures]


async def _seed(place: Place, effort: Effort) -> None:
    async with seeding(place) as seeder:
        for name in (_TALK, _CALLS):
            await seeder.conversation(name, messages=_EARLIER)
        for size in effort.histories:
            await seeder.conversation(history_name(size), messages=size)
        for size in effort.rosters:
            await seeder.conversation(roster_name(size), patients=size)
    _say(f"{place.name}: seeded")


def _disk(folder: Path) -> Figure:
    """Return what one durable write costs on this disk just now; a turn makes three."""
    folder.mkdir(parents=True)
    times = []
    for number in range(_DISK_WRITES):
        began = time.monotonic()
        write_new_file(folder / "new", bytes(_DISK_BYTES))
        (folder / "new").replace(folder / str(number))
        sync_folder(folder)
        times.append((time.monotonic() - began) * 1000)
    return info("disk", "one durable write of 20 kB", p50(times), "ms")


async def _run(effort: Effort, names: Sequence[str]) -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="rounds-bench-") as made:
        async with running_model() as model:
            for name in names:
                disk = _disk(Path(made, f"disk-{name}"))
                _say(table([disk]))
                with _place(name, Path(made)) as place:
                    figures += [disk, *await _measure(place, model, effort)]
    return figures


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    """Run the bench; 1 if a bar is missed that does not depend on the machine."""
    parser = argparse.ArgumentParser(description="Measures what a turn costs.")
    parser.add_argument(
        "--quick", action="store_true", help="fewer turns, and of local files alone"
    )
    parser.add_argument("--place", choices=PLACES, action="append", help="one store, not both")
    parser.add_argument("--json", action="store_true", help="print JSON, with the load beside it")
    options = parser.parse_args()
    names = options.place or (PLACES[:1] if options.quick else PLACES)
    figures = asyncio.run(_run(QUICK if options.quick else FULL, names))
    print_figures(figures, as_json=options.json)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
