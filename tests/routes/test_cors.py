"""Pages of allowed origins read answers; nobody else's do."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from routes.requests.context import authentication
from routes.requests.json_input import problems
from routes.static_client import preflights, readable_by, security_headers
from services.access.authenticators import DevAuthenticator
from services.access.limits import OriginPolicy
from tests.fakes import CountingIds

PORTAL = "https://portal.example"
ASKS = {"Access-Control-Request-Method": "POST"}
Client = TestClient[web.Request, web.Application]


async def hello(request: web.Request) -> web.Response:
    return web.Response(text="hello")


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    door = authentication(
        authenticator=DevAuthenticator(operators=()),
        origins=OriginPolicy(allowed=[PORTAL], public_host=None, loopback_only=True),
        trusted_proxy=False,
    )
    app = web.Application(
        middlewares=[problems(ids=CountingIds()), preflights(allowed=[PORTAL]), door]
    )
    app.on_response_prepare.append(security_headers(https=False))
    app.on_response_prepare.append(readable_by(allowed=[PORTAL]))
    app.router.add_route("*", "/api/chats", hello)
    app.router.add_get("/", hello)
    async with TestClient(TestServer(app)) as client:
        yield client


async def test_an_allowed_page_asks_and_reads(client: Client) -> None:
    asked = await client.options("/api/chats", headers={"Origin": PORTAL} | ASKS)
    assert asked.status == 204
    assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
    read = await client.get("/api/chats", headers={"Origin": PORTAL})
    for answer in (asked, read):
        assert answer.headers["Access-Control-Allow-Origin"] == PORTAL
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert answer.headers["Vary"] == "Origin"


async def test_an_allowed_page_reads_why_it_was_refused(client: Client) -> None:
    answer = await client.get("/api/nothing", headers={"Origin": PORTAL})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (404, PORTAL)


@pytest.mark.parametrize("origin", ["https://evil.example", f"{PORTAL}.evil", "null", ""])
async def test_a_foreign_page_is_told_nothing(client: Client, origin: str) -> None:
    asked = await client.options("/api/chats", headers={"Origin": origin} | ASKS)
    assert asked.status == 403
    assert "Access-Control-Allow-Origin" not in asked.headers


async def test_the_page_itself_is_for_its_own_origin(client: Client) -> None:
    answer = await client.get("/", headers={"Origin": PORTAL})
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
