"""Who may speak to the bot. What is cheap to refuse is refused first (spec page 7, R3)."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import aiohttp
import orjson
import structlog
from aiohttp import hdrs, web

from bots.config import BotConfig, PerBot, Registration, ServiceUrls
from bots.connector import channel_session
from bots.reference import Inbound
from data_models.clock import Clock
from data_models.errors import ForbiddenError, SignInUnavailableError, UnauthenticatedError
from services.access.principal import AllowList, Handshake, is_loopback
from services.access.signing_keys import SigningKeys, download_keys, read_form, verified_claims

PATIENCE_SECONDS = 0.05
"""So long a caller waits for keys: a new key of the directory serves the next request."""


async def keys_by_metadata(session: aiohttp.ClientSession, metadata_url: str) -> bytes:
    """Return the key document that the OpenID metadata names; see `KeyDownload`."""
    metadata = await download_keys(session, metadata_url)
    try:
        keys_url = orjson.loads(metadata)["jwks_uri"]
    except (ValueError, TypeError, KeyError) as error:
        raise SignInUnavailableError("the metadata is not as expected") from error
    if not isinstance(keys_url, str):
        raise SignInUnavailableError("the metadata is not as expected")
    if urlsplit(keys_url)[:2] != urlsplit(metadata_url)[:2]:
        raise SignInUnavailableError("the metadata points to another server")
    return await download_keys(session, keys_url)


ISSUER = "https://api.botframework.com"
_SERVICE_URL_CLAIM = "serviceurl"
_FORWARDING = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a caller showed at the authenticator, before its body was read."""

    token: str = field(default="", repr=False)
    key_id: str = ""
    claims: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackAuthenticator:
    """For the Emulator and the Playground: this machine only, in dev and without an app id."""

    service_urls: ServiceUrls

    def ticket_of(self, request: web.Request) -> Ticket:
        """Look at the caller; nothing is read or fetched.

        Raises:
            UnauthenticatedError, ForbiddenError: it cannot be one of ours.
        """
        passed_on = any(name in request.headers for name in _FORWARDING)
        # A page of elsewhere whose name was made to point here names its own host or origin.
        named = [f"http://{request.headers.get(hdrs.HOST, '')}"]
        named += request.headers.getall(hdrs.ORIGIN, [])
        if passed_on or not is_loopback(request.remote) or not all(map(_is_here, named)):
            raise ForbiddenError
        return Ticket()

    async def admit(self, ticket: Ticket, activity: Inbound) -> None:
        """Return if the caller may send `activity`.

        Raises:
            UnauthenticatedError, ForbiddenError: it may not.
        """
        if not activity.channel_id or not self.service_urls.allows(activity.service_url):
            raise ForbiddenError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAuthenticator:
    """For channels: a token of the Bot Framework for this bot, from an allowed user.

    Attributes:
        app_id: The audience of the tokens.
        tenants: Directories whose users may write.
        users: Object ids of users who may write.
    """

    app_id: str
    keys: SigningKeys
    service_urls: ServiceUrls
    tenants: AllowList
    users: AllowList
    clock: Clock

    def ticket_of(self, request: web.Request) -> Ticket:
        """Look at the caller; nothing is read or fetched.

        Raises:
            UnauthenticatedError, ForbiddenError: it cannot be one of ours.
        """
        shown = request.headers.getall(hdrs.AUTHORIZATION, [])
        authorization = shown[0] if len(shown) == 1 else None
        token = Handshake(peer=request.remote, host="", authorization=authorization).bearer
        if token is None:
            raise UnauthenticatedError
        form = read_form(token, now=self.clock.now())
        if form.claims.get("iss") != ISSUER or form.claims.get("aud") != self.app_id:
            raise UnauthenticatedError
        return Ticket(token=token, key_id=form.key_id, claims=form.claims)

    async def admit(self, ticket: Ticket, activity: Inbound) -> None:
        """Return if the caller may send `activity`.

        Raises:
            UnauthenticatedError, ForbiddenError: it may not.
        """
        if not activity.channel_id or not self.service_urls.allows(activity.service_url):
            raise ForbiddenError
        signed_for = ticket.claims.get(_SERVICE_URL_CLAIM)
        asked_from = (activity.service_url or "").rstrip("/")
        if not isinstance(signed_for, str) or signed_for.rstrip("/") != asked_from:
            raise UnauthenticatedError
        try:
            key = await self.keys.find(ticket.key_id)
        except SignInUnavailableError:
            raise UnauthenticatedError from None  # the channel comes again
        verified_claims(ticket.token, key.key, audience=self.app_id, issuer=ISSUER)
        if activity.channel_id not in key.endorsements:
            raise ForbiddenError
        user = activity.from_.aad_object_id if activity.from_ is not None else None
        if not self.tenants.allows(activity.tenant) or not self.users.allows(user):
            logger.info("bot_user_not_allowed", channel=activity.channel_id)
            raise ForbiddenError


BotAuthenticator: TypeAlias = LoopbackAuthenticator | ChannelAuthenticator
"""Lets callers in, in two steps: without the body, and with it."""


def _is_here(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname
    except ValueError:
        return False
    return host == "localhost" or is_loopback(host)


# What stands before the SDK and needs nothing of it: who may post, keys, the session of replies.


@dataclass(frozen=True, slots=True)
class BotAccess:
    """The open access.

    Attributes:
        maintenance: Renews the keys; None where there are none.
    """

    authenticators: PerBot[BotAuthenticator]
    session: aiohttp.ClientSession
    service_urls: ServiceUrls
    maintenance: "asyncio.Task[None] | None" = None

    async def close(self) -> None:
        """End what runs; nobody may use the session any more."""
        if self.maintenance is not None:
            self.maintenance.cancel()
        await self.session.close()


def open_bot_access(config: BotConfig, clock: Clock) -> BotAccess:
    """Return the access of `config`; call inside a running loop."""
    session = channel_session(loopback=config.loopback)
    urls = ServiceUrls(hosts=config.service_url_hosts, loopback=config.loopback)
    if config.bots.team.app_id is None:
        # Settings see to it that no agent has a bot of its own then.
        return BotAccess(PerBot(LoopbackAuthenticator(service_urls=urls)), session, urls)
    download = partial(keys_by_metadata, session, config.key_metadata_url)
    keys = SigningKeys(download=download, clock=clock, patience_seconds=PATIENCE_SECONDS)

    def authenticator(bot: Registration) -> BotAuthenticator:
        return ChannelAuthenticator(
            app_id=bot.app_id or "",
            keys=keys,
            service_urls=urls,
            tenants=AllowList(names=bot.tenants),
            users=AllowList(names=config.users),
            clock=clock,
        )

    authenticators = config.bots.each(authenticator)
    return BotAccess(authenticators, session, urls, asyncio.create_task(keys.keep_fresh()))
