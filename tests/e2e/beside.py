"""Runs a server of the tests beside them, with a loop of its own, so that all tests share it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

_START_SECONDS = 60.0


@contextmanager
def running_beside(server: AbstractAsyncContextManager[Any]) -> Iterator[None]:
    """Run `server` in a thread while the block lasts."""
    loop = asyncio.new_event_loop()
    started, ended = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server:
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(_START_SECONDS)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
