"""Every route that changes something counts against its caller's limit, or says why it does not."""

import re

import pytest

from data_models.clock import SystemClock
from routes.requests.context import READS, UNCOUNTED
from services.access.limits import MessageRate
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
