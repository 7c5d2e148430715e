"""A server of the routes around fakes, on a real socket."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar, get_type_hints
from zoneinfo import ZoneInfo

import aiohttp
import orjson
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry
from yarl import URL

from data_models.clock import SystemClock
from data_models.errors import NotFoundError
from routes.requests.context import RouteContext, SocketLimits
from routes.requests.endpoint import Readiness
from routes.server import WebAccess, create_runner, create_web_app
from services.access.authenticators import ApiKeyAuthenticator, KeyFile
from services.access.limits import MessageRate, OriginPolicy, SocketSlots
from services.basis import Replica
from services.channels.deliveries import Deliveries
from services.channels.ports import FeedbackBook, PageFeedback
from services.telemetry.metrics import Metrics
from services.views.conversation_list import ConversationList, NameStore
from services.views.owner_changes import Drafts
from services.views.worklist import Worklist
from tests.fakes import CountingIds, open_guard
from tests.fakes_store import MemoryBlobStore
from tests.routes import fakes

Kind = TypeVar("Kind")
ADA = {"Authorization": "Bearer ada-key"}
BEN = {"Authorization": "Bearer ben-key"}
OPERATOR = {"Authorization": "Bearer oscar-key"}
PATIENCE_SECONDS = 60.0


def hashed_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class Socket:
    """A client's end of a socket: frames as values."""

    def __init__(self, raw: aiohttp.ClientWebSocketResponse) -> None:
        self.raw = raw

    async def say(self, text: str, **more: Any) -> None:
        await self.send({"content": text, **more})

    async def send(self, frame: object) -> None:
        await self.raw.send_str(orjson.dumps(frame).decode())

    async def next(self) -> dict[str, Any]:
        value: dict[str, Any] = orjson.loads(await self.raw.receive_str(timeout=PATIENCE_SECONDS))
        return value

    async def until(self, is_last: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        frames = [await self.next()]
        while not is_last(frames[-1]):
            frames.append(await self.next())
        return frames

    async def until_done(self) -> list[dict[str, Any]]:
        return await self.until(lambda frame: frame.get("type") == "done")

    async def until_finished(self) -> list[dict[str, Any]]:
        return await self.until(lambda frame: frame["type"] in ("RUN_FINISHED", "RUN_ERROR"))


@dataclass
class Server:
    """The running server, its fakes, and a client."""

    base: str
    client: aiohttp.ClientSession
    context: RouteContext
    scheduler: fakes.FakeScheduler
    app: web.Application
    runner: web.AppRunner

    async def socket(
        self, chat_id: str = "chat_1", *, query: str = "", headers: dict[str, str] | None = None
    ) -> Socket:
        url = f"{self.base}/api/ws/chats/{chat_id}/messages{query}"
        return Socket(await self.client.ws_connect(url, headers=headers or ADA, max_msg_size=0))

    async def refusal(
        self, chat_id: str = "chat_1", *, query: str = "", headers: dict[str, str]
    ) -> int:
        """Knock as a socket would and return the status of the refusal."""
        upgrade = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        url = f"{self.base}/api/ws/chats/{chat_id}/messages{query}"
        async with self.client.get(URL(url, encoded=True), headers=headers | upgrade) as reply:
            assert reply.content_type == "application/problem+json"
            return reply.status


Start = Callable[..., Awaitable[Server]]


def feedback_book(store: MemoryBlobStore | None = None) -> FeedbackBook:
    kept, clock = store or MemoryBlobStore(), SystemClock()
    return FeedbackBook(
        store=kept,
        deliveries=Deliveries(store=kept, replica=Replica(), clock=clock),
        clock=clock,
        metrics=Metrics(registry=CollectorRegistry()),
    )


def make_worklist(people: fakes.FakePeople, **changes: Any) -> Worklist:
    clock = SystemClock()
    worklist = Worklist(
        days=people,
        directory=people,
        guard=open_guard(clock=clock),
        store=MemoryBlobStore(),
        zone=ZoneInfo("UTC"),
    )
    return replace(worklist, **changes)


class AbsentError(NotFoundError, AttributeError):
    """Also tells whoever only looks, as what writes a log, that there is no such attribute."""


def absent(kind: type[Kind]) -> Kind:
    """Return one that has nothing: whoever asks it is told that it is not found."""

    def find_nothing(_one: Kind, _name: str) -> NoReturn:
        raise AbsentError

    found: Kind = object.__new__(type(kind.__name__, (kind,), {"__getattr__": find_nothing}))
    return found


_ABSENT = ("archive", "branching", "restoring", "rounds", "round_actions", "operators", "glass")
"""Parts that these tests ask nothing of, or give a server of their own."""


def make_context(scheduler: fakes.FakeScheduler, **changes: Any) -> RouteContext:
    clock, ids = SystemClock(), CountingIds()
    reader = fakes.FakeReader(scheduler=scheduler, ids=ids)
    kinds = get_type_hints(RouteContext)
    context = RouteContext(
        **{name: absent(kinds[name]) for name in _ABSENT},
        scheduler=scheduler,
        reader=reader,
        team=fakes.FakeTeam(),
        rate=MessageRate(per_minute=None, clock=clock),
        slots=SocketSlots(limit=10),
        clock=clock,
        ids=ids,
        readiness=Readiness(probes={}, clock=clock),
        registry=CollectorRegistry(),
        finder=fakes.FakeFinder(),
        chart=fakes.FakeChart(reader=reader),
        memory=fakes.FakeMemory(reader=reader),
        conversations=ConversationList(reader=reader, names=NameStore(store=MemoryBlobStore())),
        drafts=Drafts(reader=reader, store=MemoryBlobStore()),
        feedback=PageFeedback(reader=reader, book=feedback_book()),
        worklist=make_worklist(fakes.FakePeople()),
        attachments=absent(fakes.NoPapers),
        reads=MessageRate(per_minute=None, clock=clock),
        exports=MessageRate(per_minute=None, clock=clock),
        limits=SocketLimits(),
    )
    return replace(context, **changes)


def web_access(file: KeyFile | None = None) -> WebAccess:
    keys = [(name, hashed_key(f"{name}-key")) for name in ("ada", "ben", "oscar")]
    return WebAccess(
        authenticator=ApiKeyAuthenticator(
            keys=keys, operators=("oscar",), file=file, clock=SystemClock()
        ),
        origins=OriginPolicy(allowed=(), public_host=None, loopback_only=False),
    )


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts servers, and stops them after the test."""
    started: list[Server] = []

    async def begin(
        *, handshake_seconds: float = 10.0, keys: KeyFile | None = None, **changes: Any
    ) -> Server:
        scheduler = fakes.FakeScheduler(clock=SystemClock(), ids=CountingIds())
        context = make_context(scheduler, **changes)
        app = create_web_app(
            context=context, access=web_access() if keys is None else web_access(keys)
        )
        runner = create_runner(app, handshake_seconds=handshake_seconds)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        server = Server(
            base=f"http://127.0.0.1:{port}",
            client=aiohttp.ClientSession(),
            context=context,
            scheduler=scheduler,
            app=app,
            runner=runner,
        )
        started.append(server)
        return server

    yield begin
    for server in started:
        await server.client.close()
        await server.scheduler.close()
        await server.runner.cleanup()


@pytest.fixture
async def server(start: Start) -> Server:
    """A server with the usual settings."""
    return await start()


@pytest.fixture
async def used(server: Server) -> Server:
    """A server with a conversation in which something was asked."""
    socket = await server.socket("chat_1")
    await socket.say("hello")
    await socket.until_done()
    return server


async def ask(
    server: Server, method: str, path: str, *, body: Any = None, who: Any = ADA
) -> tuple[int, Any]:
    async with server.client.request(method, server.base + path, json=body, headers=who) as reply:
        return reply.status, await reply.json(content_type=None)
