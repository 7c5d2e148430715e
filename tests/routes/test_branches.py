"""Where a conversation is to branch is said whole, by its owner."""

from typing import Any

import pytest

from tests.routes.conftest import ADA, BEN, Server
from tests.tables import with_cases

PATH = "/api/chats/chat_1/branch"


async def ask(server: Server, body: Any, who: Any = ADA) -> tuple[int, Any]:
    async with server.client.post(server.base + PATH, json=body, headers=who) as reply:
        return reply.status, await reply.json()


@pytest.mark.slow
@with_cases("body")
async def test_what_is_not_whole_is_refused_with_the_form(server: Server, body: Any) -> None:
    socket = await server.socket("chat_1")
    await socket.say("hello")
    await socket.until_done()
    status, problem = await ask(server, body)
    assert (status, problem["code"]) == (400, "bad_branch")
    assert "before_turn" in problem["detail"]
    assert (await ask(server, body, who=BEN))[0] == 404
