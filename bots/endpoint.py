"""The running bot: everything of this package put together. Imports the SDK."""

from aiohttp import web

from bots.adapter import RoundsAdapter
from bots.bot import RoundsBot
from bots.config import BotConfig
from bots.connector import Connector
from bots.credentials import token_source
from bots.delivery import Delivery
from bots.entrance import Entrance
from bots.outbox import Outbox
from bots.ports import BotServices
from services.run_hub import Run


class Endpoint:
    """Takes requests, and ends in good order."""

    def __init__(self, *, adapter: RoundsAdapter, bot: RoundsBot, delivery: Delivery) -> None:
        self._adapter = adapter
        self._bot = bot
        self._delivery = delivery

    async def take(self, request: web.Request) -> web.Response:
        """Answer a request of a channel; see `RoundsAdapter.process`."""
        return await self._adapter.process(request, self._bot)

    async def deliver(self, run: Run) -> None:
        """Reply to a message that came in on another replica, or before a restart."""
        await self._delivery.deliver(run)

    async def close(self) -> None:
        """Finish replies that are under way."""
        await self._delivery.close()


def make_endpoint(config: BotConfig, services: BotServices, entrance: Entrance) -> Endpoint:
    """Return the bot of `config`, ready to take requests."""
    connector = Connector(
        session=entrance.session,
        tokens=token_source(config, services.clock),
        service_urls=entrance.service_urls,
    )
    delivery = Delivery(
        outbox=Outbox(connector=connector), footer=services.footer, link_hosts=config.link_hosts
    )
    bot = RoundsBot(
        services=services, delivery=delivery, patient_id_example=config.patient_id_example
    )
    adapter = RoundsAdapter(door=entrance.door, connector=connector)
    return Endpoint(adapter=adapter, bot=bot, delivery=delivery)
