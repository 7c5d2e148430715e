"""What a turn asks of storage, counted in a server that is not timed."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field

import orjson
from aiohttp import web

from app import build
from bench.chat import Chat, chatting
from bench.figures import Figure, info, p50
from bench.sections import Bench, history_name
from data_models.clock import RandomIds, SystemClock
from data_models.storage.blob_store import Blob, BlobInfo, BlobStore
from routes.server import create_runner
from services.access.access_factory import outbound_policy_for
from services.access.limits import outbound_session
from services.stores import Stores, open_stores
from services.telemetry.logs import configure_logs
from settings import Settings, load_settings

_OF_NO_TURN = ("owed/", "rounds-open/")
"""What a server looks for by itself every few seconds, whoever speaks."""


@dataclass
class Tally:
    """Operations of the whole process by kind and container, and bytes of content."""

    operations: dict[str, int] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_written: int = 0

    def add(self, kind: str, *, written: int = 0) -> None:
        """Count one operation."""
        self.operations[kind] = self.operations.get(kind, 0) + 1
        self.bytes_written += written


class TallyBlobStore:
    """A `BlobStore` that counts whoever asks, claims and releases included."""

    def __init__(self, inner: BlobStore, tally: Tally) -> None:
        self._inner = inner
        self._tally = tally

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        self._tally.add("read")
        blob = await self._inner.read(name)
        self._tally.bytes_read += len(blob.data) if blob is not None else 0
        return blob

    async def create(self, name: str, data: bytes) -> str:
        """See `BlobStore.create`."""
        self._tally.add("create", written=len(data))
        return await self._inner.create(name, data)

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        """See `BlobStore.replace`."""
        self._tally.add("replace", written=len(data))
        return await self._inner.replace(name, data, etag=etag)

    async def delete(self, name: str) -> None:
        """See `BlobStore.delete`."""
        self._tally.add("delete")
        await self._inner.delete(name)

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """See `BlobStore.list`."""
        if prefix not in _OF_NO_TURN:
            self._tally.add("list")
        return self._inner.list(prefix)

    async def folders(self) -> AsyncIterator[str]:
        """See `BlobStore.folders`."""
        self._tally.add("list")
        async for folder in self._inner.folders():
            yield folder

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        self._tally.add("append", written=len(data))
        return await self._inner.append(name, data, position=position)

    async def check(self) -> None:
        """See `BlobStore.check`."""
        await self._inner.check()

    async def close(self) -> None:
        """See `BlobStore.close`."""
        await self._inner.close()


def _counted(stores: Stores, tally: Tally) -> Stores:
    return Stores(
        sessions=TallyBlobStore(stores.sessions, tally),
        users=TallyBlobStore(stores.users, tally),
        audit=TallyBlobStore(stores.audit, tally),
    )


async def serve(settings: Settings) -> None:
    """Serve until the standard input ends."""
    tally, ids, clock = Tally(), RandomIds(), SystemClock()
    async with outbound_session(outbound_policy_for(settings)) as session:
        stores = _counted(open_stores(settings, ids=ids), tally)
        server = build(settings, stores=stores, clock=clock, ids=ids, session=session)
        runner = create_runner(server.web, handshake_seconds=settings.handshake_seconds)
        await runner.setup()
        await web.TCPSite(runner, settings.host, settings.port).start()
        await server.start()
        await _tell(tally)
        await runner.cleanup()
        await server.close()


async def _tell(tally: Tally) -> None:
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(orjson.dumps(asdict(tally)).decode(), flush=True)
        tally.operations, tally.bytes_read, tally.bytes_written = {}, 0, 0


if __name__ == "__main__":
    configure_logs(log_format="json", level="WARNING")
    asyncio.run(serve(load_settings(env_file=None)))


_WARM_TURNS = 2


async def operations(bench: Bench) -> list[Figure]:
    """Operations and bytes of a follow-up turn: claim, audit and release included."""
    figures: list[Figure] = []
    for size in bench.effort.histories:
        async with chatting(bench.session, bench.server.url, history_name(size)) as chat:
            tallies = await _tallies(bench, chat)
        figures += _steady(bench.place, size, tallies)
    return figures


async def _tallies(bench: Bench, chat: Chat) -> list[Tally]:
    found = []
    for _ in range(_WARM_TURNS + bench.effort.rounds):
        await bench.say(chat)
        # The release follows the turn's last event.
        await bench.settle()
        found.append(Tally(**await bench.server.peer.ask({})))
    return found[_WARM_TURNS:]


def _steady(place: str, size: int, tallies: Sequence[Tally]) -> list[Figure]:
    name = f"{size:,} earlier messages"
    totals = [sum(tally.operations.values()) for tally in tallies]
    kinds = sum((Counter(tally.operations) for tally in tallies), Counter[str]())
    spread = ", ".join(f"{kind} {n / len(tallies):.2g}" for kind, n in kinds.most_common())
    written = p50([tally.bytes_written for tally in tallies])
    read = p50([tally.bytes_read for tally in tallies])
    return [
        Figure(place, f"{name}: storage operations p50", p50(totals), "", 4, kind="count"),
        info(place, f"  mean: {spread}", sum(totals) / len(totals), ""),
        Figure(place, f"{name}: bytes written p50", written, "B", 100_000, kind="count"),
        info(place, f"{name}: bytes read p50", read, "B"),
    ]
