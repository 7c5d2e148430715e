"""Where the patient's scenario is: said with the answer that moved it, and not again."""

from typing import Any

import pytest

from data_models.scenarios.scenario_session import ScenarioPlace
from tests.bots.conftest import Bot
from tests.bots.scripts import Talk, telling
from tests.fakes_connector import FakeConnector

DAY = ScenarioPlace(scenario="Booking", step="Preferred day", done=2, total=10)
TIME = ScenarioPlace(scenario="Booking", step="Free <b> times", done=3, total=10)


async def said(bot: Bot, channel: FakeConnector, *after: ScenarioPlace, **before: Any) -> str:
    """Return what a user is sent in a turn that goes from place to place."""

    async def tell(talk: Talk) -> None:
        for place in after:
            talk.show(scenario=place)
        await talk.say("First words.", message_id="m1")
        await talk.say("Last words.", message_id="m2")

    bot.scheduler.script = telling(tell, **before)
    await channel.ask(bot.url, "go on", until="Last words.")
    return "\n".join(one.get("text", "") for one in await channel.until_quiet())


@pytest.mark.slow
async def test_a_new_place_is_told_once_with_the_answer(bot: Bot, channel: FakeConnector) -> None:
    told = await said(bot, channel, DAY, TIME, scenario=None)
    assert told.count("steps done") == 1
    first, _ = told.split("Last words.")
    assert "\n\n*Booking: Free < b> times, 3 of 10 steps done*\n\n---" in first


@pytest.mark.slow
async def test_a_place_that_stays_is_not_told(bot: Bot, channel: FakeConnector) -> None:
    told = await said(bot, channel, DAY, scenario=DAY)
    assert "steps done" not in told


@pytest.mark.slow
async def test_nothing_is_told_without_a_scenario(bot: Bot, channel: FakeConnector) -> None:
    assert "steps done" not in await said(bot, channel)
