"""A bot around a scripted scheduler, on a real socket, and the channel that speaks to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from prometheus_client import CollectorRegistry

from bots.bot_factory import add_bot_routes
from bots.config import BotConfig, PerBot, Registration
from bots.rendering import delivery
from data_models.clock import RandomIds, SystemClock
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import RunFinished, TurnTiming
from data_models.errors import RoundsError
from data_models.storage.local_blob_store import LocalBlobStore
from routes.requests.json_input import problems
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.basis import Replica
from services.channels.deliveries import Deliveries
from services.channels.ports import ChannelServices, Fate, FeedbackBook, Repeats
from services.hand_over.hand_over import HandOver
from services.runs.hub import Run
from services.telemetry.metrics import Metrics
from services.turn.reading import footer_of
from services.turn_scheduler.conversation_worker import Deliver
from tests.bots.directory import APP_ID, TENANT, USER, ChannelDirectory
from tests.fakes import CountingIds
from tests.fakes_connector import FakeConnector
from tests.routes.fakes import FakeReader, FakeScheduler, FakeTeam, spoken, tell


class BotScheduler(FakeScheduler):
    """The scheduler of the routes' tests, which also has orphans and can refuse."""

    refusal: RoundsError | None = None
    deliver: Deliver | None = None

    async def submit(self, message: IncomingMessage) -> Run:
        if self.refusal is not None:
            raise self.refusal
        return await super().submit(message)

    def on_orphan(self, channel: str, deliver: Deliver) -> None:
        assert channel == "bot"
        self.deliver = deliver


@dataclass
class Bot:
    """A running bot."""

    url: str
    scheduler: BotScheduler
    server: TestServer


class KeptAnswers(Repeats):
    """Answers as the conversation's document keeps them: by the message, past any restart."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.fates: dict[str, Fate] = {}

    async def fate(self, message: IncomingMessage) -> Fate:
        return self.fates.get(message.message_hash, "standing")

    async def find(self, message: IncomingMessage) -> Run | None:
        texts = self.texts.get(message.message_hash)
        if texts is None:
            return None
        run = Run(run_id="run_repeated", message=message, replayed=True)
        for number, text in enumerate(texts, 1):
            tell(run, spoken(f"m{number}", text))
        run.emit(RunFinished(outcome="success", timing=TurnTiming()))
        return run


class WatchedTurns(HandOver):
    """A hand-over that notes what it is to watch."""

    def __init__(self) -> None:
        self.messages: list[IncomingMessage] = []
        self.settle: Callable[[IncomingMessage], Awaitable[None]] | None = None

    async def watch(self, message: IncomingMessage, done: Awaitable[object]) -> None:
        self.messages.append(message)

    def on_settled(self, settle: Callable[[IncomingMessage], Awaitable[None]]) -> None:
        self.settle = settle


Start = Callable[..., Awaitable[Bot]]


@pytest.fixture
def answers() -> KeptAnswers:
    """What the store keeps of answers, for every bot of a test."""
    return KeptAnswers()


@pytest.fixture
def hand_over() -> WatchedTurns:
    """What would be finished elsewhere, for every bot of a test."""
    return WatchedTurns()


@pytest.fixture
async def start(
    channel: FakeConnector,
    teams: FakeConnector,
    answers: KeptAnswers,
    hand_over: WatchedTurns,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Start]:
    """Starts bots over one store, and stops them after the test while the channels listen."""
    started: list[Bot] = []

    async def begin(
        *,
        per_minute: int | None = None,
        replica: Replica | None = None,
        on_behalf: OnBehalf | None = None,
        **config: Any,
    ) -> Bot:
        clock = SystemClock()
        scheduler = BotScheduler(clock=clock, ids=RandomIds())
        rate = MessageRate(per_minute=per_minute, clock=clock)
        users, sessions = (
            LocalBlobStore(root=tmp_path / name) for name in ("chat-users", "chat-sessions")
        )
        deliveries = Deliveries(store=users, replica=replica or Replica(), clock=clock)
        services = ChannelServices(
            scheduler=scheduler,
            team=FakeTeam(),
            footer=footer_of,
            rate=rate,
            clock=clock,
            deliveries=deliveries,
            answers=answers,
            feedback=FeedbackBook(
                store=sessions,
                deliveries=deliveries,
                clock=clock,
                metrics=Metrics(registry=CollectorRegistry()),
            ),
            reader=FakeReader(scheduler=scheduler, ids=RandomIds()),
            hand_over=hand_over,
            on_behalf=on_behalf,
        )
        app = web.Application(middlewares=[problems(ids=CountingIds())], client_max_size=262_144)
        add_bot_routes(app, config=replace(BotConfig(), **config), services=services)
        server = TestServer(app)
        await server.start_server()
        bot = Bot(url=str(server.make_url("/")).rstrip("/"), scheduler=scheduler, server=server)
        started.append(bot)
        return bot

    yield begin
    monkeypatch.setattr(delivery, "CLOSE_SECONDS", 0.2)  # nobody looks at what is under way now
    for bot in started:
        await bot.server.close()
        await bot.scheduler.close()


@pytest.fixture
async def bot(start: Start) -> Bot:
    """A bot as it runs for the Emulator."""
    return await start()


@pytest.fixture
async def channel() -> AsyncIterator[FakeConnector]:
    """The Emulator's end."""
    async with FakeConnector() as connector:
        yield connector
        assert connector.faults == []


@pytest.fixture
async def teams() -> AsyncIterator[FakeConnector]:
    """Teams' end."""
    async with FakeConnector(channel_id="msteams") as connector:
        yield connector
        assert connector.faults == []
        assert connector.streams.faults == []


@pytest.fixture
async def directory() -> AsyncIterator[ChannelDirectory]:
    """What signs the channels' tokens."""
    found = ChannelDirectory(now=SystemClock().now())
    async with found.server:
        yield found


@pytest.fixture
async def teams_bot(start: Start, directory: ChannelDirectory) -> Bot:
    """A bot with an app id, for one user of one directory."""
    return await start(**registered(directory))


def registered(
    directory: ChannelDirectory,
    *,
    tenants: tuple[str, ...] = (TENANT,),
    users: tuple[str, ...] = (USER,),
) -> dict[str, Any]:
    """The configuration of a bot that Teams may call."""
    bot = Registration(app_id=APP_ID, app_password="not a secret", tenants=tenants)
    return {
        "bots": PerBot(bot),
        "loopback": False,
        "users": users,
        "service_url_hosts": ("smba.trafficmanager.net", "*.botframework.com"),
        "key_metadata_url": directory.url,
    }
