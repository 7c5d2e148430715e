"""The server with a probe of its event loop, for the bench.

Each line on the standard input is answered by how late the loop was since the line before.
"""

import asyncio
import sys
import time
from dataclasses import asdict, dataclass

import orjson

from app import run
from services.telemetry.logs import configure_logs
from settings import load_settings

EVERY_SECONDS = 0.02


@dataclass(frozen=True)
class Lag:
    """How late a timer of the loop was, in milliseconds."""

    p50: float
    p99: float
    most: float
    samples: int

    @classmethod
    def of(cls, late_seconds: list[float]) -> "Lag":
        """Return what the samples say; at least one is needed."""
        ms = sorted(late * 1000 for late in late_seconds)
        return cls(ms[len(ms) // 2], ms[int(len(ms) * 0.99)], ms[-1], len(ms))


class Probe:
    """Sleeps again and again, and notes how much later than asked it woke.

    Attributes:
        samples: Seconds of each sleep since they were last told.
    """

    def __init__(self) -> None:
        self.samples: list[float] = []

    async def watch(self) -> None:
        """Watch until cancelled."""
        while True:
            due = time.monotonic() + EVERY_SECONDS
            await asyncio.sleep(EVERY_SECONDS)
            self.samples.append(time.monotonic() - due)

    async def tell(self) -> None:
        """Answer lines until the standard input ends."""
        lines = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while await lines.readline():
            late, self.samples = self.samples or [0.0], []
            print(orjson.dumps(asdict(Lag.of(late))).decode(), flush=True)


async def serve() -> None:
    """Serve until a signal, with the probe beside."""
    probe = Probe()
    beside = [asyncio.create_task(probe.watch()), asyncio.create_task(probe.tell())]
    await run(load_settings(env_file=None))
    for task in beside:
        task.cancel()


if __name__ == "__main__":
    configure_logs(log_format="json", level="WARNING")
    asyncio.run(serve())
