"""What stands before the SDK and needs nothing of it: who may post, keys, the replies' session."""

import asyncio
from dataclasses import dataclass

import aiohttp

from bots.authenticator import BotAuthenticator, ChannelAuthenticator, LoopbackAuthenticator
from bots.channel_keys import ChannelKeys, MetadataKeyDownload
from bots.config import BotConfig, PerBot, Registration
from bots.connector import channel_session
from bots.service_urls import ServiceUrls
from data_models.clock import Clock
from services.access.principal import AllowList


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
    download = MetadataKeyDownload(session=session, metadata_url=config.key_metadata_url)
    keys = ChannelKeys(download=download, clock=clock)

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
