"""The bot that the settings ask for."""

from aiohttp import web

from bots.config import bot_config
from bots.routes import add_bot_routes, add_closed_routes
from services.channels.ports import ChannelServices
from settings import Settings


def add_bots(app: web.Application, settings: Settings, services: ChannelServices) -> None:
    """Add the endpoints to `app`; they are closed where nobody could be verified.

    Raises:
        ConfigurationError: a bot is set for somebody who cannot have one.
    """
    if settings.serves_bots:
        team = services.team
        config = bot_config(
            settings,
            agents=[card.name for card in team.agents],
            facilitator=team.facilitator,
            patient_id_example=services.patient_id_example,
        )
        add_bot_routes(app, config=config, services=services)
    else:
        add_closed_routes(app)
