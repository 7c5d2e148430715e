"""The SDK is loaded once the port is open or the first activity is there; requests wait for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bots.conftest import Start, registered
from tests.bots.directory import ChannelDirectory
from tests.fakes_connector import FakeConnector

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_adding_the_routes_does_not_load_the_sdk() -> None:
    code = "import sys, bots.bot_factory, bots.bot_factory; sys.exit('botbuilder' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


async def test_strangers_are_turned_away_before_the_sdk_is_there(
    start: Start, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    bot = await start(**registered(directory))
    assert (await channel.say(bot.url, "hello")).status == 401
