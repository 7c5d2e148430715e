"""The running bot: everything of this package put together. Imports the SDK."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import requests
from aiohttp import web
from botframework.connector.auth import AppCredentials, MicrosoftAppCredentials
from botframework.connector.auth.managedidentity_app_credentials import (
    ManagedIdentityAppCredentials,
)

from bots.adapter import RoundsAdapter
from bots.authenticator import BotAccess
from bots.bot import RoundsBot
from bots.config import BotConfig, Registration, ServiceUrls
from bots.connector import Connector
from bots.invokes import Invokes
from bots.outbox import Outbox
from bots.rendering.delivery import Delivery
from bots.rendering.files import DRIVE_HOSTS, FileTransfers
from bots.rendering.plan_board import Proposals
from bots.rendering.redelivery import Redelivery
from bots.rendering.rendering import Look
from bots.rendering.run_renderer import RendererParts
from bots.sign_in import UserSignIn
from bots.token_service import TokenService
from data_models.clock import Clock
from data_models.errors import ChannelUnavailableError
from services.channels.ports import ChannelServices
from services.own_sign_in import OwnToken, TokenSource


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The bots, ready to take requests; `delivery` ends in good order."""

    adapter: RoundsAdapter
    bot: RoundsBot
    delivery: Delivery

    async def take(self, request: web.Request) -> web.Response:
        """Answer a request of a channel; see `RoundsAdapter.process`."""
        return await self.adapter.process(request, self.bot)


def make_endpoint(config: BotConfig, services: ChannelServices, access: BotAccess) -> Endpoint:
    """Return the bots of `config`."""
    tokens = config.bots.each(config.tokens or partial(token_source, clock=services.clock))
    connector = Connector(
        session=access.session,
        tokens=tokens,
        service_urls=access.service_urls,
        clock=services.clock,
    )
    outbox, deliveries = Outbox(connector=connector), services.deliveries
    look = Look(
        footer=services.footer,
        link_hosts=frozenset(config.link_hosts),
        patient_id_example=config.patient_id_example,
    )
    drives = ServiceUrls(hosts=DRIVE_HOSTS, loopback=config.loopback)
    files = FileTransfers(
        reader=services.reader, outbox=outbox, session=access.session, drives=drives
    )
    parts = RendererParts(
        connector=connector,
        outbox=outbox,
        deliveries=deliveries,
        files=files,
        look=look,
        proposals=Proposals(),
        clock=services.clock,
    )
    redelivery = Redelivery(
        outbox=outbox, deliveries=deliveries, answers=services.answers, look=look
    )
    delivery = Delivery(parts=parts, redelivery=redelivery)
    delivery.watch_late_replies()
    sign_in = _sign_in(config, services, access, delivery, tokens.at(None))
    bot = RoundsBot(
        services=services,
        delivery=delivery,
        invokes=Invokes(services=services, files=files, delivery=delivery, sign_in=sign_in),
        patient_id_example=config.patient_id_example,
        orderers=config.orderers,
        sign_in=sign_in,
    )
    adapter = RoundsAdapter(authenticators=access.authenticators)
    return Endpoint(adapter=adapter, bot=bot, delivery=delivery)


def _sign_in(
    config: BotConfig,
    services: ChannelServices,
    access: BotAccess,
    delivery: Delivery,
    tokens: TokenSource,
) -> UserSignIn | None:
    if config.sign_in is None or services.on_behalf is None:
        return None
    service = TokenService(config=config.sign_in, tokens=tokens, session=access.session)
    return UserSignIn(on_behalf=services.on_behalf, service=service, delivery=delivery)


KEEP_SECONDS = 300.0


class AppTokens:
    """Tokens of the bot's app registration; botbuilder asks for them and keeps them."""

    def __init__(self, *, credentials: Callable[[], AppCredentials], clock: Clock) -> None:
        """`credentials` makes them anew: those that exist give the token they have kept."""
        self._make = credentials
        self._credentials = credentials()
        self._clock = clock
        self._token: str | None = None
        self._ask_at = float("-inf")
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """Return it: see `TokenSource`."""
        async with self._lock:
            if self._token is None or self._clock.monotonic() >= self._ask_at:
                self._token = await asyncio.to_thread(self._ask)
                self._ask_at = self._clock.monotonic() + KEEP_SECONDS
        return self._token

    def note_refusal(self, token: str) -> bool:
        """Forget the token: the channel would not have it."""
        self._credentials, self._token = self._make(), None
        return True

    def _ask(self) -> str:
        """Ask the directory; this blocks, so it runs in a thread."""
        try:
            return str(self._credentials.get_access_token())
        except (PermissionError, KeyError, ValueError, requests.RequestException):
            # Not `from error`: the directory's answer may quote the request.
            raise ChannelUnavailableError("the directory gave the bot no token") from None


def token_source(bot: Registration, clock: Clock) -> TokenSource:
    """Return where replies of `bot` get their tokens, for its kind of app registration."""
    if not bot.app_id:
        return OwnToken(token="")  # the Emulator and the Playground ask for none
    if bot.app_type == "UserAssignedMSI":
        return AppTokens(
            credentials=partial(ManagedIdentityAppCredentials, bot.app_id), clock=clock
        )
    credentials = partial(
        MicrosoftAppCredentials, bot.app_id, bot.app_password, channel_auth_tenant=bot.directory
    )
    return AppTokens(credentials=credentials, clock=clock)
