"""Replicas that are killed while people talk: `python -m bench.replicas [--pause] …`.

Real servers on one Azurite, bot and WebSocket conversations, SIGKILL every few seconds; with
`--pause` also SIGSTOP for 40 s, so that others take over what the sleeper held before it wakes.
Exits 1 if a turn was lost, answered twice or out of order.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.durability.herd import Harm, everybody_talks, running_herd
from tests.durability.herd_report import report_of
from tests.peers import running_azurite, running_azurite_queue

PAUSE_EVERY = 3.0


def main() -> int:
    """Run it and print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.replicas", description=__doc__)
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--conversations", type=int, default=40, help="half of them by bot")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--kill-every", type=float, default=6.0, metavar="SECONDS", help="0: never")
    parser.add_argument("--pause", action="store_true", help="also let one stand still for 40 s")
    chosen = parser.parse_args()
    harm = Harm(
        kill_every=chosen.kill_every or None, pause_every=PAUSE_EVERY if chosen.pause else None
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("blobs", "queues"):
            (folder / part).mkdir()
        with (
            running_azurite(folder / "blobs") as blobs,
            running_azurite_queue(folder / "queues") as queues,
            running_herd(folder / "herd", f"{blobs}{queues}", size=chosen.replicas) as herd,
        ):
            began = time.monotonic()
            bots = chosen.conversations // 2
            sockets = chosen.conversations - bots
            talks = asyncio.run(
                everybody_talks(herd, bots=bots, sockets=sockets, turns=chosen.turns, harm=harm)
            )
            took = time.monotonic() - began
            report = report_of(herd, talks)
    sys.stdout.write(f"{report}\nseconds              {took:.0f}\n")
    return 0 if report.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
