"""What many tests of services begin with."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.bots.user_directory import UserDirectory
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore


@pytest.fixture
def store() -> MemoryBlobStore:
    return MemoryBlobStore()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
async def directory(clock: FixedClock) -> AsyncIterator[UserDirectory]:
    found = UserDirectory(clock)
    async with found.server:
        yield found
