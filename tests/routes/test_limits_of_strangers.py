"""What one caller, one address or one socket may ask for is bounded, and said so."""

import asyncio
import os
import re
from pathlib import Path

import aiohttp
import pytest
from aiohttp import WSCloseCode, WSMsgType, web

from data_models import errors
from data_models.clock import SystemClock
from data_models.storage.local_files import folder_held
from routes.requests.json_input import problems
from routes.serving import BoundedSite
from routes.static_client import STEP_SECONDS, evened, wait_seconds
from routes.streams.socket_session import BAD_FRAMES_LIMIT
from services.access.limits import MessageRate
from tests.fakes import CountingIds, FixedClock
from tests.routes.conftest import ADA, BEN, Server, Start
from tests.waiting import until


def rate(
    per_minute: int, error: type[errors.TooManyReadsError] | type[errors.TooManyExportsError]
) -> MessageRate:
    return MessageRate(per_minute=per_minute, clock=SystemClock(), error=error)


async def ask(server: Server, path: str, who: dict[str, str] = ADA) -> aiohttp.ClientResponse:
    async with server.client.get(f"{server.base}{path}", headers=who) as reply:
        await reply.read()
        return reply


@pytest.mark.slow
async def test_every_reading_route_is_counted(start: Start) -> None:
    server = await start()
    routes = {
        route.resource.canonical
        for route in server.app.router.routes()
        if route.resource is not None
        and route.method == "GET"
        and route.resource.canonical.startswith("/api/")
    }
    assert len(routes) > 12
    for route in sorted(routes):
        fresh = await start(reads=rate(1, errors.TooManyReadsError))
        path = re.sub(r"\{\w+\}", "x1", route)
        assert 429 in [(await ask(fresh, path)).status for _ in range(2)], route


async def test_a_flood_of_reads_is_told_when_to_come_back_and_is_nobody_elses(start: Start) -> None:
    server = await start(reads=rate(2, errors.TooManyReadsError))
    assert [(await ask(server, "/api/chats")).status for _ in range(3)] == [200, 200, 429]
    refused = await ask(server, "/api/chats")
    assert refused.headers["Retry-After"] == "30"
    assert (await ask(server, "/api/chats", BEN)).status == 200


async def test_exports_have_a_limit_of_their_own(start: Start) -> None:
    server = await start(exports=rate(1, errors.TooManyExportsError))
    path = "/api/chats/chat_1/export?format=docx"
    assert (await ask(server, path)).status != 429
    refused = await ask(server, path)
    assert (refused.status, refused.headers["Retry-After"]) == (429, "60")
    assert (await ask(server, "/api/chats")).status == 200


@pytest.mark.slow
async def test_a_socket_of_bad_frames_is_closed_and_one_good_frame_counts_anew(
    server: Server,
) -> None:
    socket = await server.socket()
    for _ in range(BAD_FRAMES_LIMIT - 1):
        await socket.raw.send_str("{")
        assert (await socket.until_done())[0]["code"] == "bad_frame"
    await socket.say("still there?")
    await socket.until_done()
    for _ in range(BAD_FRAMES_LIMIT):
        await socket.raw.send_str("{")
    closed = [await socket.raw.receive() for _ in range(2 * BAD_FRAMES_LIMIT + 1)][-1]
    assert closed.type is WSMsgType.CLOSE
    assert closed.data == WSCloseCode.POLICY_VIOLATION


async def test_one_address_holds_so_many_connections_and_no_more() -> None:
    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", hello)
    runner = web.AppRunner(app)
    await runner.setup()
    await BoundedSite(runner, "127.0.0.1", 0, per_address=3).start()
    port = runner.addresses[0][1]
    silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
    _, first = silent[0]
    first.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"200" in await silent[0][0].readline(), "those that are open go on"

    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with pytest.raises(ConnectionError):  # noqa: PT012 - either of the two meets the reset
        assert await reader.read() == b""
        raise ConnectionResetError
    writer.close()
    for _, each in silent:
        each.close()
    await until(lambda: not (runner.server is not None and runner.server.connections))
    async with aiohttp.ClientSession() as client, client.get(f"http://127.0.0.1:{port}/") as reply:
        assert reply.status == 200, "who has let go may come again"
    await runner.cleanup()


def test_a_second_server_on_one_folder_is_refused_and_told_why(tmp_path: Path) -> None:
    with (
        folder_held(tmp_path / "data"),
        pytest.raises(errors.ConfigurationError, match="DATA_DIR: another server"),
        folder_held(tmp_path / "data"),
    ):
        pass
    with folder_held(tmp_path / "data"), folder_held(tmp_path / "other"):
        pass


@pytest.mark.skipif(os.access("/proc/sys", os.W_OK), reason="this user may write everywhere")
@pytest.mark.parametrize("is_shared", [True, False])
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path, is_shared: bool) -> None:
    (tmp_path / "audit-trail").symlink_to("/proc/sys")
    with (
        pytest.raises(
            errors.ConfigurationError, match=r"DATA_DIR: .*/audit-trail cannot be written"
        ),
        folder_held(tmp_path, is_shared=is_shared),
    ):
        pass
    (tmp_path / "audit-trail").unlink()
    with folder_held(tmp_path, is_shared=True), folder_held(tmp_path, is_shared=True):
        pass


@pytest.mark.parametrize("elapsed", [0.0, 0.0013, 0.0036, 0.049, 0.05, 0.31])
def test_a_refusal_comes_at_a_whole_number_of_steps(elapsed: float) -> None:
    total = elapsed + wait_seconds(elapsed)
    assert total > elapsed
    assert total / STEP_SECONDS == pytest.approx(round(total / STEP_SECONDS))


async def test_no_time_tells_a_foreign_conversation_from_none() -> None:
    clock, waited = FixedClock(), list[float]()

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    async def refuse(request: web.Request) -> web.Response:
        clock.advance(0.0036 if request.path == "/foreign" else 0.0013)
        raise errors.NotFoundError

    app = web.Application(middlewares=[problems(ids=CountingIds()), evened(clock, pause=pause)])
    app.router.add_get("/foreign", refuse)
    app.router.add_get("/none", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession() as client:
        for path in ("/foreign", "/none"):
            async with client.get(base + path) as reply:
                assert reply.status == 404
    await runner.cleanup()
    assert waited == pytest.approx([0.05 - 0.0036, 0.05 - 0.0013])
