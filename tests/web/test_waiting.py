"""A message that waits for the running turn."""

import pytest
from playwright.async_api import Browser, expect

from data_models.conversations.turn_events import Notice
from services.turn.answers.safety import IS_ANSWER
from tests.web.conftest import Site, idle, say

pytestmark = pytest.mark.slow

HELP = "Please call 112 now."


async def test_what_a_call_for_help_is_told_at_once_is_on_the_screen_while_it_waits(
    site: Site, browser: Browser
) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    site.scheduler.while_waiting = Notice("queued", HELP, IS_ANSWER)
    await say(page, "I want to kill myself")
    await expect(page.get_by_text(HELP)).to_be_visible()
    await expect(page.get_by_text("Waiting for the running turn")).to_have_count(0)
    site.board.pause_seconds = 0.0
    await idle(page)
    await expect(page.get_by_text(HELP)).to_have_count(0)
    assert site.errors == []
