"""The door of the API, over real sockets."""

import hashlib
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import WSServerHandshakeError, web
from aiohttp.test_utils import TestClient, TestServer

from routes.requests.context import authentication, operator_of, principal_of
from routes.requests.json_input import problems
from services.access.authenticators import (
    ApiKeyAuthenticator,
    AppServiceAuthenticator,
    DevAuthenticator,
)
from services.access.limits import OriginPolicy
from services.access.principal import Authenticator, UserRules
from services.records.fhir.reading import current_reader
from tests.fakes import CountingIds, FixedClock
from tests.tables import with_cases

KEYS = [("alice", hashlib.sha256(b"key").hexdigest())]
Client = TestClient[web.Request, web.Application]
Serve = Callable[..., Awaitable[Client]]


async def whoami(request: web.Request) -> web.Response:
    return web.json_response({"id": principal_of(request).id})


async def whose_chart(request: web.Request) -> web.Response:
    return web.json_response({"id": current_reader()})


async def operators_only(request: web.Request) -> web.Response:
    return web.json_response({"id": operator_of(request).id})


async def hello(request: web.Request) -> web.Response:
    return web.Response(text="hello")


async def socket(request: web.Request) -> web.WebSocketResponse:
    answer = web.WebSocketResponse(protocols=("rounds",))
    await answer.prepare(request)
    await answer.send_str(principal_of(request).id)
    await answer.close()
    return answer


def app_with(
    authenticator: Authenticator, *, dev: bool = False, trusted_proxy: bool = False
) -> web.Application:
    origins = OriginPolicy(allowed=["https://portal.example"], public_host=None, loopback_only=dev)
    door = authentication(authenticator=authenticator, origins=origins, trusted_proxy=trusted_proxy)
    app = web.Application(middlewares=[problems(ids=CountingIds()), door])
    app.router.add_get("/", hello)
    app.router.add_get("/healthz", hello)
    app.router.add_get("/api/me", whoami)
    app.router.add_route("*", "/api/chats/{chat_id}/messages", whoami)
    app.router.add_get("/api/ws/chats/{chat_id}/messages", socket)
    app.router.add_get("/api/operator/versions", operators_only)
    app.router.add_get("/api/chart", whose_chart)
    app.router.add_post("/api/messages", whose_chart)
    app.router.add_post("/api/{agent}/messages", hello)
    return app


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    clients: list[Client] = []

    async def serving(authenticator: Authenticator, **how: bool) -> Client:
        client = TestClient(TestServer(app_with(authenticator, **how)))
        clients.append(client)
        await client.start_server()
        return client

    yield serving
    for client in clients:
        await client.close()


def by_key() -> ApiKeyAuthenticator:
    return ApiKeyAuthenticator(keys=KEYS, operators=())


async def test_no_route_of_the_api_answers_a_stranger(serve: Serve) -> None:
    client = await serve(by_key())
    open_routes: set[str] = set()
    for route in client.app.router.routes():
        assert route.resource is not None
        path = route.resource.canonical.replace("{chat_id}", "c").replace("{agent}", "a")
        method = "GET" if route.method == "*" else route.method
        answer = await client.request(method, path)
        if answer.status != 401:
            open_routes.add(f"{method} {route.resource.canonical}")
    assert open_routes == {
        "GET /",
        "HEAD /",
        "GET /healthz",
        "HEAD /healthz",
        "POST /api/messages",
        "POST /api/{agent}/messages",
    }


async def test_the_refusal_is_a_problem_of_constant_text(serve: Serve) -> None:
    client = await serve(by_key())
    answer = await client.get("/api/me", headers={"Authorization": "Bearer wrong"})
    assert answer.status == 401
    assert answer.content_type == "application/problem+json"
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert await answer.json() == {
        "type": "urn:rounds:error:unauthenticated",
        "title": "Unauthorized",
        "status": 401,
        "detail": "Please sign in and try again.",
        "error": "Please sign in and try again.",
        "code": "unauthenticated",
        "ref": f"ref_{1:032x}",
    }


@pytest.mark.parametrize("path", ["/api/nothing", "/api//x", "/api/me/"])
async def test_a_stranger_does_not_learn_which_routes_exist(serve: Serve, path: str) -> None:
    client = await serve(by_key())
    assert (await client.get(path)).status == 401


async def test_a_key_opens_the_door(serve: Serve) -> None:
    client = await serve(by_key())
    answer = await client.get("/api/me", headers={"Authorization": "Bearer key"})
    assert await answer.json() == {"id": "key:alice"}


async def test_charts_are_read_for_who_asks_alone_on_the_same_connection(serve: Serve) -> None:
    client = await serve(ApiKeyAuthenticator(keys=KEYS, operators=()))
    async with client.get("/api/chart", headers={"Authorization": "Bearer key"}) as reply:
        assert (await reply.json())["id"] == "key:alice"
    async with client.post("/api/messages") as reply:
        assert (await reply.json())["id"] == ""


async def test_the_bots_path_is_open_to_posts_only(serve: Serve) -> None:
    client = await serve(by_key())
    assert (await client.post("/api/messages")).status == 200
    assert (await client.get("/api/messages")).status == 401


async def test_operator_routes_need_the_role(serve: Serve) -> None:
    headers = {"Authorization": "Bearer key"}
    client = await serve(by_key())
    assert (await client.get("/api/operator/versions", headers=headers)).status == 403
    client = await serve(ApiKeyAuthenticator(keys=KEYS, operators=["alice"]))
    assert (await client.get("/api/operator/versions", headers=headers)).status == 200


@with_cases("origin", "status")
async def test_a_socket_opens_to_known_pages_even_with_a_good_token(
    serve: Serve, origin: str | None, status: int
) -> None:
    client = await serve(by_key())
    headers = {"Authorization": "Bearer key", "Cookie": "session=good"}
    if origin is not None:
        headers["Origin"] = f"http://127.0.0.1:{client.port}" if origin == "own" else origin
    assert await handshake(client, headers) == status


async def handshake(client: Client, headers: dict[str, str]) -> int:
    try:
        async with client.ws_connect("/api/ws/chats/c/messages", headers=headers):
            return 101
    except WSServerHandshakeError as error:
        return error.status


async def test_a_socket_without_origin_or_token_is_refused(serve: Serve) -> None:
    assert await handshake(await serve(by_key()), {"Cookie": "session=good"}) == 401


async def test_a_browser_signs_its_socket_in_by_subprotocol(serve: Serve) -> None:
    client = await serve(by_key())
    headers = {"Origin": f"http://127.0.0.1:{client.port}"}
    async with client.ws_connect(
        "/api/ws/chats/c/messages", headers=headers, protocols=("rounds", "bearer.key")
    ) as answer:
        assert answer.protocol == "rounds"
        assert await answer.receive_str() == "key:alice"


async def test_dev_needs_no_token(serve: Serve) -> None:
    client = await serve(DevAuthenticator(operators=()), dev=True)
    assert await (await client.get("/api/me")).json() == {"id": "dev"}
    assert await handshake(client, {}) == 101


@with_cases("headers")
async def test_dev_is_for_this_machine_only(serve: Serve, headers: dict[str, str]) -> None:
    client = await serve(DevAuthenticator(operators=()), dev=True)
    assert (await client.get("/api/me", headers=headers)).status == 403
    assert await handshake(client, headers) == 403


async def test_the_proxys_header_counts_behind_a_trusted_proxy_only(serve: Serve) -> None:
    claims = [{"typ": "oid", "val": "o"}, {"typ": "tid", "val": "t"}]
    header = b64encode(json.dumps({"claims": claims}).encode()).decode()
    headers = {"X-MS-CLIENT-PRINCIPAL": header, "Sec-Fetch-Site": "same-origin"}
    by_proxy = AppServiceAuthenticator(tenants=(), users=UserRules(), clock=FixedClock())
    trusting = await serve(by_proxy, trusted_proxy=True)
    assert await (await trusting.get("/api/me", headers=headers)).json() == {"id": "entra:t:o"}
    wary = await serve(by_proxy, trusted_proxy=False)
    assert (await wary.get("/api/me", headers=headers)).status == 401
