"""A message that waits for the running turn."""

import pytest
from playwright.async_api import Browser, Route, expect

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


async def test_a_message_that_waits_is_withdrawn_by_its_button(
    site: Site, browser: Browser
) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await say(page, "what is his stage?")
    withdraw = page.get_by_role("button", name="Withdraw this message")
    await expect(page.get_by_text("Waiting for the running turn")).to_be_visible()
    await withdraw.click()
    await expect(page.get_by_text("Stopped. Ask again")).to_be_visible()
    await expect(withdraw).to_have_count(0)
    waiting = site.scheduler.messages[-1]
    assert waiting.text == "what is his stage?"
    assert len(site.scheduler.asked_to_stop) == 1
    assert site.scheduler.asked_to_stop[0] in site.scheduler.run_ids(waiting.conversation_id)
    site.board.pause_seconds = 0.0
    await idle(page)


async def test_what_the_server_does_not_withdraw_is_not_shown_as_withdrawn(
    site: Site, browser: Browser
) -> None:
    site.board.pause_seconds = 0.5
    context = await browser.new_context()

    async def not_here(route: Route) -> None:
        await route.fulfill(json={"stopped": False})

    async def unreachable(route: Route) -> None:
        await route.abort()

    await context.route("**/stop?run_id=*", not_here)
    page = await site.open(context)
    await say(page, "history of patient_4")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await say(page, "what is his stage?")
    withdraw = page.get_by_role("button", name="Withdraw this message")
    await withdraw.click()
    await expect(page.get_by_role("alert")).to_contain_text("could not be withdrawn")
    await context.route("**/stop?run_id=*", unreachable)
    async with page.expect_event("requestfailed"):
        await withdraw.click()
    await expect(page.get_by_text("Stopped. Ask again")).to_have_count(0)
    await expect(withdraw).to_be_visible()
    site.board.pause_seconds = 0.0
    await idle(page)
