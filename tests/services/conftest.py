"""What many tests of services begin with."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.fakes_store import MemoryBlobStore


@pytest.fixture
def store() -> MemoryBlobStore:
    return MemoryBlobStore()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened
