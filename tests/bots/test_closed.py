"""Where no caller can be verified, the bot's endpoints are there and refuse everybody."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bots.bot_factory import add_closed_routes
from routes.requests.json_input import problems
from tests.fakes import CountingIds


@pytest.mark.parametrize("path", ["/api/messages", "/api/Radiology/messages"])
async def test_every_activity_is_refused(path: str) -> None:
    app = web.Application(middlewares=[problems(ids=CountingIds())])
    add_closed_routes(app)
    async with TestClient(TestServer(app)) as client:
        for body in (b"{}", b"not json", b""):
            answer = await client.post(path, data=body, headers={"Authorization": "Bearer a.b.c"})
            assert answer.status == 403
            assert (await answer.json())["code"] == "forbidden"
