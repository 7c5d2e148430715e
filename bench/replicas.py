"""Replicas that are killed while people talk: `python -m bench.replicas [--replicas 4] …`.

Real servers on one Azurite, bot and WebSocket conversations, SIGKILL every few seconds. Exits 1
if a turn was lost, answered twice or out of order.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.durability.herd import everybody_talks, running_herd
from tests.peers import running_azurite, running_azurite_queue


def main() -> int:
    """Run it and print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.replicas", description=__doc__)
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--conversations", type=int, default=40, help="half of them by bot")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--kill-every", type=float, default=6.0, metavar="SECONDS")
    chosen = parser.parse_args()
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
            report = asyncio.run(
                everybody_talks(
                    herd,
                    bots=chosen.conversations // 2,
                    sockets=chosen.conversations - chosen.conversations // 2,
                    turns=chosen.turns,
                    kill_every_seconds=chosen.kill_every,
                )
            )
            took = time.monotonic() - began
    sys.stdout.write(f"{report}\nseconds              {took:.0f}\n")
    return 1 if report.wrong or report.answered_once != report.turns else 0


if __name__ == "__main__":
    sys.exit(main())
