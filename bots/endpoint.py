"""The running bot: everything of this package put together."""

import asyncio

import aiohttp
from aiohttp import web

from bots.adapter import RoundsAdapter
from bots.bot import RoundsBot
from bots.channel_keys import ChannelKeys, MetadataKeyDownload
from bots.config import BotConfig
from bots.connector import Connector, channel_session
from bots.credentials import token_source
from bots.delivery import Delivery
from bots.door import BotDoor, ChannelDoor, LoopbackDoor
from bots.outbox import Outbox
from bots.ports import BotServices
from bots.service_urls import ServiceUrls
from data_models.clock import Clock
from services.access.allow_list import AllowList


class Endpoint:
    """Takes requests, and ends in good order."""

    def __init__(
        self,
        *,
        adapter: RoundsAdapter,
        bot: RoundsBot,
        delivery: Delivery,
        session: aiohttp.ClientSession,
        upkeep: "asyncio.Task[None] | None",
    ) -> None:
        self._adapter = adapter
        self._bot = bot
        self._delivery = delivery
        self._session = session
        self._upkeep = upkeep

    async def take(self, request: web.Request) -> web.Response:
        """Answer a request of a channel; see `RoundsAdapter.process`."""
        return await self._adapter.process(request, self._bot)

    async def close(self) -> None:
        """Finish replies that are under way, then end."""
        await self._delivery.close()
        if self._upkeep is not None:
            self._upkeep.cancel()
        await self._session.close()


async def open_endpoint(config: BotConfig, services: BotServices) -> Endpoint:
    """Return the bot of `config`, ready to take requests."""
    loopback = config.app_id is None
    urls = ServiceUrls(hosts=config.service_url_hosts, loopback=loopback)
    session = channel_session(loopback=loopback)
    tokens = token_source(config, services.clock)
    connector = Connector(session=session, tokens=tokens, service_urls=urls)
    delivery = Delivery(
        outbox=Outbox(connector=connector), footer=services.footer, link_hosts=config.link_hosts
    )
    services.desk.on_orphan("bot", delivery.deliver)
    keys = _keys(config, session, services.clock)
    return Endpoint(
        adapter=RoundsAdapter(door=_door(config, keys, urls, services.clock), connector=connector),
        bot=RoundsBot(
            services=services, delivery=delivery, patient_id_example=config.patient_id_example
        ),
        delivery=delivery,
        session=session,
        upkeep=None if loopback else asyncio.create_task(keys.keep_fresh()),
    )


def _keys(config: BotConfig, session: aiohttp.ClientSession, clock: Clock) -> ChannelKeys:
    download = MetadataKeyDownload(session=session, metadata_url=config.key_metadata_url)
    return ChannelKeys(download=download, clock=clock)


def _door(config: BotConfig, keys: ChannelKeys, urls: ServiceUrls, clock: Clock) -> BotDoor:
    if config.app_id is None:
        return LoopbackDoor(service_urls=urls)
    return ChannelDoor(
        app_id=config.app_id,
        keys=keys,
        service_urls=urls,
        tenants=AllowList(names=config.tenants),
        users=AllowList(names=config.users),
        clock=clock,
    )
