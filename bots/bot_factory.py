"""The bot that the settings ask for, put together without the SDK, and its endpoints.

botbuilder takes half a second to import and 15 MB: where a bot is registered it is loaded once the
port is open, elsewhere for the first activity. Strangers are refused as always, others wait.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import structlog
from aiohttp import web

from bots.authenticator import BotAccess, open_bot_access
from bots.bot import RoundsBot
from bots.config import BotConfig, Registration, ServiceUrls, bot_config
from bots.connector import Connector, Outbox
from bots.rendering.delivery import Delivery, Redelivery
from bots.rendering.files import DRIVE_HOSTS, FileTransfers
from bots.rendering.plan_board import Proposals
from bots.rendering.rendering import Look
from bots.rendering.run_renderer import RendererParts
from bots.sign_in import Invokes, UserSignIn
from bots.token_service import TokenService
from data_models.clock import Clock
from data_models.errors import ChannelUnavailableError, ForbiddenError, NotFoundError
from services import own_sign_in
from services.access.principal import EVERYBODY
from services.channels.ports import ChannelServices
from services.runs.hub import Run
from settings import Settings

if TYPE_CHECKING:
    from bots.adapter import RoundsAdapter


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """The bots, ready to answer; `delivery` ends in good order."""

    bot: RoundsBot
    delivery: Delivery


def _make_endpoint(config: BotConfig, services: ChannelServices, access: BotAccess) -> _Endpoint:
    """Return the bots of `config`."""
    own = partial(token_source, session=access.session, clock=services.clock)
    tokens = config.bots.each(config.tokens or own)
    connector = Connector(
        session=access.session,
        tokens=tokens,
        service_urls=access.service_urls,
        clock=services.clock,
    )
    outbox = Outbox(connector=connector)
    look = Look(
        footer=services.footer,
        link_hosts=frozenset(config.link_hosts),
        patient_id_example=services.patient_id_example,
    )
    drives = ServiceUrls(hosts=DRIVE_HOSTS, loopback=config.loopback)
    files = FileTransfers(
        reader=services.reader, outbox=outbox, session=access.session, drives=drives
    )
    parts = RendererParts(
        connector=connector,
        outbox=outbox,
        deliveries=services.deliveries,
        files=files,
        look=look,
        proposals=Proposals(),
        clock=services.clock,
    )
    redelivery = Redelivery(parts=parts, answers=services.answers)
    delivery = Delivery(parts=parts, redelivery=redelivery)
    delivery.watch_late_replies()
    sign_in = _sign_in(config, services, access, delivery, tokens.at(None))
    bot = RoundsBot(
        services=services,
        delivery=delivery,
        invokes=Invokes(services=services, files=files, delivery=delivery, sign_in=sign_in),
        orderers=config.orderers,
        sign_in=sign_in,
    )
    return _Endpoint(bot=bot, delivery=delivery)


def _sign_in(
    config: BotConfig,
    services: ChannelServices,
    access: BotAccess,
    delivery: Delivery,
    tokens: own_sign_in.TokenSource,
) -> UserSignIn | None:
    if config.sign_in is None or services.on_behalf is None:
        return None
    service = TokenService(config=config.sign_in, tokens=tokens, session=access.session)
    return UserSignIn(on_behalf=services.on_behalf, service=service, delivery=delivery)


LOGIN = "https://login.microsoftonline.com"
_SCOPE = "https://api.botframework.com/.default"
_TOKEN_ERRORS = own_sign_in.TokenErrors(
    refused=ChannelUnavailableError,
    busy=ChannelUnavailableError,
    unreadable=ChannelUnavailableError,
)


def token_source(
    bot: Registration, *, session: aiohttp.ClientSession, clock: Clock
) -> own_sign_in.TokenSource:
    """Return where replies of `bot` get their tokens, for its kind of app registration."""
    if not bot.app_id:
        return own_sign_in.OwnToken(token="")  # the Emulator and the Playground ask for none
    if bot.app_type == "UserAssignedMSI":
        identity = own_sign_in.ManagedIdentity(
            scope=_SCOPE, refused=ChannelUnavailableError, clock=clock, client_id=bot.app_id
        )
        return own_sign_in.Tokens(sign_in=identity, clock=clock)
    client = own_sign_in.Client(
        client_id=bot.app_id,
        scope=_SCOPE,
        token_url=f"{LOGIN}/{bot.directory or 'botframework.com'}/oauth2/v2.0/token",
        secret=bot.app_password,
        is_secret_posted=True,
    )
    credentials = own_sign_in.ClientCredentials(
        client=client, errors=_TOKEN_ERRORS, session=session, clock=clock
    )
    return own_sign_in.Tokens(sign_in=credentials, clock=clock)


logger = structlog.get_logger()


def add_bot_routes(app: web.Application, *, config: BotConfig, services: ChannelServices) -> None:
    """Add `POST /api/messages` and `POST /api/{agent}/messages` to `app`.

    Errors rise from the handlers as `RoundsError`; the application's middleware answers them.
    """
    gate = _Gate(config=config, services=services)
    app.cleanup_ctx.append(gate.open)
    app.router.add_post("/api/messages", gate.take)
    app.router.add_post("/api/{agent}/messages", gate.take)


def add_closed_routes(app: web.Application) -> None:
    """Refuse every activity: outside dev nobody can be verified without an app id."""
    logger.warning("bot_endpoints_closed", setting="MicrosoftAppId")
    app.router.add_post("/api/messages", _refuse)
    app.router.add_post("/api/{agent}/messages", _refuse)


async def _refuse(_: web.Request) -> web.Response:
    raise ForbiddenError


@dataclass(frozen=True, slots=True)
class _Open:
    """The running bot."""

    access: BotAccess
    endpoint: _Endpoint


class _Gate:
    """Runs the endpoint, and holds its requests until the SDK is loaded."""

    def __init__(self, *, config: BotConfig, services: ChannelServices) -> None:
        self._config = config
        self._services = services
        self._open: _Open | None = None
        self._adapter: asyncio.Task[RoundsAdapter] | None = None

    async def open(self, _app: web.Application) -> AsyncIterator[None]:
        """Run the endpoint for as long as the application runs."""
        _say_who_may_write(self._config)
        access = open_bot_access(self._config, self._services.clock)
        endpoint = _make_endpoint(self._config, self._services, access)
        self._open = _Open(access, endpoint)
        if self._config.bots.team.app_id is not None:
            _ = self._sdk(access)

        async def deliver(run: Run) -> None:
            endpoint.delivery.start(run)

        self._services.scheduler.on_orphan("bot", deliver)
        self._services.hand_over.on_settled(endpoint.delivery.settle)
        yield
        await endpoint.delivery.close()
        if self._adapter is not None:
            await self._adapter
        await access.close()

    async def take(self, request: web.Request) -> web.Response:
        """Take an activity."""
        if self._open is None:
            raise web.HTTPServiceUnavailable
        agent, access = request.match_info.get("agent"), self._open.access
        access.authenticators.at(agent).ticket_of(request)
        known = {card.name.casefold() for card in self._services.team.agents}
        if agent is not None and agent.casefold() not in known:
            raise NotFoundError
        adapter = await asyncio.shield(self._sdk(access))
        return await adapter.process(request, self._open.endpoint.bot)

    def _sdk(self, access: BotAccess) -> "asyncio.Task[RoundsAdapter]":
        if self._adapter is None:
            self._adapter = asyncio.create_task(_adapter_of(access))
        return self._adapter


async def _adapter_of(access: BotAccess) -> "RoundsAdapter":
    await asyncio.to_thread(importlib.import_module, "bots.adapter")
    from bots.adapter import RoundsAdapter

    return RoundsAdapter(authenticators=access.authenticators)


def _say_who_may_write(config: BotConfig) -> None:
    if config.bots.team.app_id is None:
        logger.warning("bot_serves_this_machine_only", setting="MicrosoftAppId")
        return
    for setting, names in (
        ("ADDITIONAL_ALLOWED_TENANT_IDS", config.bots.team.tenants),
        ("ADDITIONAL_ALLOWED_USER_IDS", config.users),
    ):
        if EVERYBODY in names:
            logger.warning("bot_open_to_everybody", setting=setting)
        elif not names:
            logger.warning("bot_open_to_nobody", setting=setting)


def add_bots(app: web.Application, settings: Settings, services: ChannelServices) -> None:
    """Add the endpoints to `app`; they are closed where nobody could be verified.

    Raises:
        ConfigurationError: a bot is set for somebody who cannot have one.
    """
    if settings.serves_bots:
        agents = [card.name for card in services.team.agents]
        config = bot_config(settings, agents=agents, facilitator=services.team.facilitator)
        add_bot_routes(app, config=config, services=services)
    else:
        add_closed_routes(app)
