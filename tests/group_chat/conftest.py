"""A team with a scripted model, for tests that need no other."""

from collections.abc import AsyncIterator

import pytest

from tests.group_chat.team_world import TeamWorld, team_world


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with team_world() as made:
        yield made
