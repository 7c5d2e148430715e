"""Every route that changes something counts, or says why not; only allowed origins read answers."""

import re
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from data_models.clock import SystemClock
from routes.requests.context import READS, UNCOUNTED, authentication
from routes.requests.json_input import problems
from routes.static_client import preflights, readable_by, security_headers
from services.access.authenticators import DevAuthenticator
from services.access.limits import MessageRate, OriginPolicy
from tests.fakes import CountingIds
from tests.routes.conftest import ADA, BEN, Server, Start

SETTING = "MESSAGES_PER_MINUTE"


async def limited(start: Start, per_minute: int) -> Server:
    return await start(rate=MessageRate(per_minute=per_minute, clock=SystemClock()))


async def statuses(server: Server, method: str, route: str, times: int) -> list[int]:
    path = re.sub(r"\{\w+\}", "x1", route)
    found = []
    for _ in range(times):
        async with server.client.request(method, f"{server.base}{path}", headers=ADA) as reply:
            found.append(reply.status)
    return found


@pytest.mark.slow
async def test_every_writing_route_is_counted_or_says_why_not(start: Start) -> None:
    server = await limited(start, 1)
    routes = [
        (route.method, route.resource.canonical)
        for route in server.app.router.routes()
        if route.resource is not None and route.method not in READS
    ]
    assert ("*", "/") not in routes, "a route says its methods"
    assert len(routes) > 10
    uncounted = set()
    for method, route in routes:
        fresh = await limited(start, 1)
        if 429 not in await statuses(fresh, method, route, 3):
            uncounted.add(route)
    assert uncounted == set(UNCOUNTED) & {route for _, route in routes}
    assert all(reason.strip() for reason in UNCOUNTED.values())


async def test_a_refusal_names_limit_setting_and_wait(start: Start) -> None:
    server = await limited(start, 2)
    url = f"{server.base}/api/chats"
    assert await statuses(server, "POST", "/api/chats", 2) == [201, 201]
    async with server.client.post(url, headers=ADA) as reply:
        assert (reply.status, reply.content_type) == (429, "application/problem+json")
        assert reply.headers["Retry-After"] == "30", "two a minute: the next in half of it"
        body = await reply.json()
    assert body["code"] == "rate_limited"
    assert "2 messages or changes in a minute" in body["error"]
    assert SETTING in body["error"]


async def test_one_callers_flood_is_not_anothers(start: Start) -> None:
    server = await limited(start, 1)
    assert await statuses(server, "POST", "/api/chats", 2) == [201, 429]
    async with server.client.post(f"{server.base}/api/chats", headers=BEN) as reply:
        assert reply.status == 201


async def test_reading_and_stopping_stay_possible_in_a_flood(start: Start) -> None:
    server = await limited(start, 1)
    assert await statuses(server, "POST", "/api/chats", 2) == [201, 429]
    assert await statuses(server, "GET", "/api/chats", 3) == [200] * 3
    assert 429 not in await statuses(server, "POST", "/api/chats/{chat_id}/stop", 3)


async def test_who_is_nobody_is_told_so_and_not_counted(start: Start) -> None:
    server = await limited(start, 1)
    for _ in range(3):
        async with server.client.post(f"{server.base}/api/chats") as reply:
            assert reply.status == 401
    assert await statuses(server, "POST", "/api/chats", 1) == [201]


async def test_messages_and_changes_share_one_limit(start: Start) -> None:
    server = await limited(start, 2)
    assert await statuses(server, "POST", "/api/chats", 1) == [201]
    socket = await server.socket()
    await socket.say("hello")
    await socket.until_done()
    assert await statuses(server, "PATCH", "/api/chats/{chat_id}/memory", 1) == [429]


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
