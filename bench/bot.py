"""How long a channel waits for its answer (R12): `python -m bench.bot [--posts N]`.

Real HTTP to `app.py` in a process of its own, the offline rules, state on local files. Every POST
is a message of another conversation, acknowledged once it is durable, and comes in at its time
whether or not others are answered; the turns run meanwhile.
Exits 1 if the 99th percentile is over a second.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import aiohttp

from tests.e2e.server import running_server
from tests.fakes_connector import FakeConnector

BAR_SECONDS = 1.0
WARM_UP = 5
_WORDS = "what did the CT of patient_4 show?"


async def posts(url: str, *, count: int, per_second: float) -> list[float]:
    """Return the seconds each of `count` POSTs took, sorted."""
    async with FakeConnector(messages_per_second=1_000_000) as channel:

        async def one(number: int) -> float:
            posted = await channel.say(url, _WORDS, conversation=f"bench-{number}")
            if posted.status != 202:
                raise SystemExit(f"the bot answered {posted.status}")
            return posted.seconds

        for number in range(WARM_UP):
            await one(number)
        tasks = []
        for number in range(WARM_UP, WARM_UP + count):
            tasks.append(asyncio.create_task(one(number)))
            await asyncio.sleep(1 / per_second)
        return sorted(await asyncio.gather(*tasks))


def main(argv: Sequence[str]) -> int:
    """Measure, print one line, and say by the exit code whether the bar holds."""
    parser = argparse.ArgumentParser(prog="bench.bot", description=__doc__)
    parser.add_argument("--posts", type=int, default=600)
    parser.add_argument("--per-second", type=float, default=20.0)
    wanted = parser.parse_args(argv)
    with (
        tempfile.TemporaryDirectory(prefix="rounds-bench-") as folder,
        running_server(Path(folder), LLM_PROVIDER="offline") as server,
    ):
        measure = posts(server.url, count=wanted.posts, per_second=wanted.per_second)
        seconds = asyncio.run(measure)
    p50, p99 = (seconds[int(len(seconds) * part)] for part in (0.5, 0.99))
    sys.stdout.write(
        f"{len(seconds)} POSTs, {wanted.per_second:g} a second: p50 {p50 * 1_000:.0f} ms,"
        f" p99 {p99 * 1_000:.0f} ms, longest {seconds[-1] * 1_000:.0f} ms;"
        f" the bar is {BAR_SECONDS * 1_000:.0f} ms\n"
    )
    return 0 if p99 <= BAR_SECONDS else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except aiohttp.ClientError as error:
        sys.exit(f"the server did not answer: {type(error).__name__}")
