"""The running bot: everything of this package put together, without the SDK."""

from dataclasses import dataclass
from functools import partial

import aiohttp

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
from services import own_sign_in
from services.channels.ports import ChannelServices


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The bots, ready to answer; `delivery` ends in good order."""

    bot: RoundsBot
    delivery: Delivery


def make_endpoint(config: BotConfig, services: ChannelServices, access: BotAccess) -> Endpoint:
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
    return Endpoint(bot=bot, delivery=delivery)


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
