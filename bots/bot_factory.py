"""The bot that the settings ask for."""

import asyncio
import importlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from aiohttp import web

from bots.authenticator import BotAccess, open_bot_access
from bots.config import BotConfig, bot_config
from bots.endpoint import Endpoint, make_endpoint
from data_models.errors import ForbiddenError, NotFoundError
from services.access.principal import EVERYBODY
from services.channels.ports import ChannelServices
from services.runs.hub import Run
from settings import Settings

# The Bot Framework endpoints, for `app.py` to add to the web application.
#
# botbuilder takes half a second to import and 15 MB: where a bot is registered it is loaded once
# the port is open, elsewhere for the first activity. Strangers are refused as always, others wait.

if TYPE_CHECKING:
    from bots.adapter import RoundsAdapter

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
    endpoint: Endpoint


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
        endpoint = make_endpoint(self._config, self._services, access)
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
