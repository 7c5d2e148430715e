"""Servers of a run begin where the libraries are imported, as in `tests/e2e`."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from evals import runner
from tests.e2e.server import Server


@asynccontextmanager
async def forked_server(
    *, folder: Path, samples: Path, settings: Mapping[str, str]
) -> AsyncIterator[str]:
    """Do what `evals.server.running_server` does, in a tenth of the time."""
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - nothing else runs yet
    server = Server(folder=folder, environment={**settings, "SAMPLES_DIR": str(samples)})
    try:
        await asyncio.to_thread(server.start)  # the model it looks for may be in this loop
        yield server.url
    finally:
        await asyncio.to_thread(server.close)


@pytest.fixture(scope="module")
def forked_servers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "running_server", forked_server)
        yield
