"""The whole server in the test's own process, on stores that live as long as the block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from app import build
from data_models.clock import Clock, RandomIds, SystemClock
from routes.server import create_runner
from services.stores import Stores
from settings import Settings
from tests.fakes_store import MemoryBlobStore


@dataclass(frozen=True)
class Served:
    """A server that listens, and what it stands on."""

    base: str
    web: web.Application
    stores: Stores


@asynccontextmanager
async def serving(settings: Settings, *, clock: Clock | None = None) -> AsyncIterator[Served]:
    """Serve while the block lasts. However it ends, nothing stays open behind it."""
    stores = Stores(MemoryBlobStore(), MemoryBlobStore(), MemoryBlobStore())
    async with aiohttp.ClientSession() as session:
        server = build(
            settings, stores=stores, clock=clock or SystemClock(), ids=RandomIds(), session=session
        )
        runner = create_runner(server.web, handshake_seconds=10)
        try:
            await server.start()
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield Served(f"http://127.0.0.1:{runner.addresses[0][1]}", server.web, stores)
        finally:
            await runner.cleanup()
            await server.drain(5)
            await server.close()
