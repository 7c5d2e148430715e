"""Errors over HTTP, over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import structlog
from aiohttp import ClientConnectionResetError, ClientError, web
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request

from data_models import errors
from data_models.errors import RoundsError, StoreUnavailableError
from routes.requests.json_input import problem_of, problems
from routes.static_client import security_headers
from tests.fakes import CountingIds

CANARY = "KRAS-G12C-Müller"
Client = TestClient[web.Request, web.Application]


async def raise_store(request: web.Request) -> web.Response:
    raise StoreUnavailableError(CANARY) from OSError(CANARY)


async def raise_bug(request: web.Request) -> web.Response:
    return web.Response(text={"": ""}[CANARY])


async def read_json(request: web.Request) -> web.Response:
    return web.json_response(await request.json())


async def redirect(request: web.Request) -> web.Response:
    raise web.HTTPFound("/elsewhere")


async def break_off(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(b"begun")
    raise ValueError(CANARY)


async def begin_for_nobody(request: web.Request) -> web.Response:
    raise ClientConnectionResetError("Cannot write to closing transport")


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    app = web.Application(middlewares=[problems(ids=CountingIds())], client_max_size=1_000)
    app.on_response_prepare.append(security_headers(https=True))
    app.router.add_get("/api/store", raise_store)
    app.router.add_get("/api/bug", raise_bug)
    app.router.add_post("/api/json", read_json)
    app.router.add_get("/redirect", redirect)
    app.router.add_get("/api/break", break_off)
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/store", None, 503, "store_unavailable"),
        ("GET", "/api/bug", None, 500, "internal"),
        ("GET", "/api/nothing", None, 404, "not_found"),
        ("GET", "/api/json", None, 405, "method_not_allowed"),
        ("POST", "/api/json", b"{", 400, "bad_frame"),
        ("POST", "/api/json", b'"' + b"x" * 2_000 + b'"', 413, "too_large"),
    ],
)
async def test_every_failure_is_a_problem(
    client: Client, method: str, path: str, body: bytes | None, status: int, code: str
) -> None:
    with structlog.testing.capture_logs() as logged:
        answer = await client.request(method, path, data=body)
        text = await answer.text()
    assert answer.status == status
    assert answer.content_type == "application/problem+json"
    problem = json.loads(text)
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["error"] == problem["detail"] != ""
    assert [line["ref"] for line in logged] == [problem["ref"]]
    assert CANARY not in text + str(logged)


async def test_retrying_is_advised_where_it_helps(client: Client) -> None:
    assert "Retry-After" in (await client.get("/api/store")).headers
    assert "Retry-After" not in (await client.get("/api/bug")).headers


async def test_a_wrong_method_is_told_the_right_one(client: Client) -> None:
    assert (await client.get("/api/json")).headers["Allow"] == "POST"


async def test_a_redirect_is_no_failure(client: Client) -> None:
    answer = await client.get("/redirect", allow_redirects=False)
    assert (answer.status, answer.headers["Location"]) == (302, "/elsewhere")


async def test_an_answer_that_broke_off_is_not_followed_by_another(client: Client) -> None:
    with pytest.raises(ClientError):
        await (await client.get("/api/break")).read()
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    writer.write(b"GET /api/break HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"problem" not in answer


async def test_an_unexpected_error_is_logged_once_with_its_place(client: Client) -> None:
    with structlog.testing.capture_logs() as logged:
        await client.get("/api/bug")
    (line,) = logged
    assert (line["event"], line["error"], line["log_level"]) == (
        "request.failed",
        "KeyError",
        "error",
    )
    assert line["where"][-1].startswith("raise_bug:")


async def test_who_goes_away_while_the_answer_begins_is_no_failure_of_the_server() -> None:
    with structlog.testing.capture_logs() as logged:
        request = make_mocked_request("GET", "/api/left")
        answer = await problems(ids=CountingIds())(request, begin_for_nobody)
    (line,) = logged
    assert (line["event"], line["status"], line["log_level"]) == ("request.left", 499, "info")
    assert answer.status == 499


async def test_every_answer_carries_the_security_headers(client: Client) -> None:
    for path in ("/api/bug", "/redirect", "/nothing"):
        headers = (await client.get(path, allow_redirects=False)).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for kind in ("font", "manifest", "worker"):
            assert f"{kind}-src 'self'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Server"] == "Rounds"
        assert headers["Strict-Transport-Security"]
        assert (headers.get("Cache-Control") == "no-store") is path.startswith("/api/")


def test_every_error_has_its_status_and_its_own_text() -> None:
    for kind in vars(errors).values():
        if not isinstance(kind, type) or not issubclass(kind, RoundsError):
            continue
        problem = problem_of(kind.__new__(kind))
        assert problem.status >= 400
        assert problem.text == kind.user_message
