"""Language models over HTTP, beside the tests: scripted ones, and a real one."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes_openai import Brain, FakeOpenAI

_START_SECONDS = 10.0


class ModelServer(FakeOpenAI):
    """`FakeOpenAI` with a loop of its own, so that tests of any loop may share it."""

    def settings(self) -> dict[str, str]:
        """Return the settings that make a server use it."""
        return {"LLM_PROVIDER": "openai", "OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "k"}


@contextmanager
def running_model(brain: Brain) -> Iterator[ModelServer]:
    """Run a scripted model in a thread."""
    server = ModelServer(brain=brain)
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
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
