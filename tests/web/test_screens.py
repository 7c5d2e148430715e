"""Several screens of one user, and a screen that lost the server."""

import pytest
from playwright.async_api import Browser, expect

from tests.web.conftest import Site, idle, say

pytestmark = pytest.mark.slow


async def test_another_device_sees_a_turn_while_it_runs(site: Site, browser: Browser) -> None:
    page = await site.asked(await browser.new_context(), "history of patient_4")
    other = await site.open(await browser.new_context(), page.url.removeprefix(site.base))
    await expect(other.get_by_text("answer 5").first).to_be_visible()
    site.board.pause_seconds = 0.5
    await say(page, "history of patient_4 once more")
    await expect(other.get_by_text("once more")).to_be_visible()
    await expect(other.get_by_role("button", name="Stop")).to_be_visible()
    await other.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text("Stopped.").first).to_be_visible()
    await expect(other.get_by_text("Stopped.").first).to_be_visible()


async def test_two_tabs_show_one_turn_word_for_word(site: Site, browser: Browser) -> None:
    context = await browser.new_context()
    page = await site.open(context)
    site.board.pause_seconds = 0.5  # half a minute for the whole answer: a slow tab is in time
    await say(page, "history of patient_4")
    await expect(page.get_by_text("Timeline").first).to_be_visible()
    other = await site.open(context, page.url.removeprefix(site.base))
    await expect(other.get_by_text("Timeline").first).to_be_visible()
    site.board.pause_seconds = 0.0
    for tab in (page, other):
        await tab.bring_to_front()
        await idle(tab)
    texts = [await tab.locator(".agent-message .prose").last.inner_text() for tab in (page, other)]
    assert texts[0] == texts[1]


async def test_the_side_bar_lists_talks_by_their_patients(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    bar = page.get_by_role("navigation", name="Conversations")
    first = bar.get_by_role("button", name="patient_4")
    await expect(first).to_have_attribute("aria-current", "true")
    await bar.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    await first.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    await page.get_by_role("button", name="Hide conversations").click()
    await expect(bar).to_have_count(0)


async def test_a_press_beside_the_side_bar_puts_it_away_on_a_phone(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = await site.asked(context, "history of patient_4")
    bar = page.get_by_role("navigation", name="Conversations")
    await page.get_by_role("button", name="Show conversations").click()
    await expect(bar).to_be_visible()
    await page.touchscreen.tap(375, 500)
    await expect(bar).to_have_count(0)
    await expect(page.get_by_role("article").last).to_be_visible()


async def test_without_a_network_the_page_reads_and_waits(site: Site, browser: Browser) -> None:
    context = await browser.new_context()
    page = await site.asked(context, "history of patient_4")
    await context.set_offline(True)
    await expect(page.get_by_text("last verified at")).to_be_visible()
    await page.get_by_role("textbox", name="Message").fill("and now?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()
    await expect(page.get_by_text("Biopsy").first).to_be_visible()
    await context.set_offline(False)
    await expect(page.get_by_text("last verified at")).to_have_count(0)
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    await idle(page)
    assert [message.text for message in site.scheduler.messages][-1] == "and now?"


async def test_messages_that_wait_are_shown_and_answered(site: Site, browser: Browser) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_text("Timeline").first).to_be_visible()
    await say(page, "switch to patient_15")
    await expect(page.get_by_text("Waiting for the running turn")).to_be_visible()
    await expect(page.get_by_text("1 message waits")).to_be_visible()
    site.board.pause_seconds = 0.0
    await idle(page)
    await expect(page.get_by_text("Switched to patient_15.").first).to_be_visible()


async def test_what_was_stopped_can_be_edited_and_sent_again(site: Site, browser: Browser) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_text("Timeline").first).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text("Stopped.").first).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message")).to_be_enabled()
    await page.get_by_role("button", name="Edit this message").last.click()
    field = page.get_by_role("textbox", name="Message")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("history of patient_4")
    site.board.pause_seconds = 0.0
    await page.get_by_role("button", name="Ask again").click()
    await idle(page)
    await expect(page.get_by_role("article").last).to_contain_text("Biopsy: adenocarcinoma")
    asked = [message.text for message in site.scheduler.messages]
    assert asked == ["history of patient_4", "history of patient_4"]
