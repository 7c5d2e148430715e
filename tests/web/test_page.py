"""The page in a real browser: the main job, by pointer and by keyboard."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.web.conftest import Site, idle, say

pytestmark = pytest.mark.slow


async def test_a_clinician_does_the_main_job(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await expect(page.get_by_text("No active patient")).to_be_visible()
    await expect(page.get_by_text("not a language model")).to_be_visible()
    await page.get_by_role("button", name="start tumor board for patient_4").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Ada Example")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    confirm = page.get_by_role("button", name="Confirm")
    await expect(confirm).to_be_enabled()
    await page.get_by_role("checkbox", name="Pathology").uncheck()
    await confirm.click()
    await idle(page)
    press = site.scheduler.messages[-1].press
    assert press is not None
    assert (press.target_id, press.answer, press.steps) == ("plan_patient_4", "confirm", (1, 2, 4))
    await expect(page.get_by_role("article")).to_have_count(2 + 4)
    await page.get_by_role("button", name="Show earlier messages").click()
    await expect(page.get_by_role("article")).to_have_count(4 + 4)
    await expect(page.get_by_role("link", name="tumor-board-patient_4.docx")).to_be_visible()

    await say(page, "switch to patient_15")
    await expect(page.get_by_text("Switched to patient_15.").first).to_be_visible()
    assert site.scheduler.messages[-1].seen_patient_id == "patient_4"
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_15")
    await expect(page.get_by_text("Biopsy")).to_have_count(0)
    await idle(page)
    await page.get_by_role("button", name="Switch to patient_4").click()
    await expect(page.get_by_text("Biopsy").first).to_be_visible()
    assert site.errors == []


async def test_model_text_stays_text_and_nobody_else_is_asked(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    answer = page.get_by_role("article").last
    await expect(answer).to_contain_text("Rule-based")
    await expect(answer).to_contain_text('<img src="https://evil.example/x.png"')
    assert await page.locator(".prose img, .prose script, .prose a[href]:not(.cite)").count() == 0
    strangers = [url for url in site.requested if not url.startswith(site.base)]
    assert strangers == []
    assert site.errors == []


async def test_a_page_loaded_again_amid_a_turn_shows_the_rest(site: Site, browser: Browser) -> None:
    site.board.pause_seconds = 0.5  # half a minute for the whole answer: a slow browser is in time
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_text("Timeline").first).to_be_visible()
    other = await site.open(browser, page.url.removeprefix(site.base))
    await expect(other.get_by_role("button", name="Stop")).to_be_visible()
    await expect(other.get_by_text("history of patient_4")).to_be_visible()
    site.board.pause_seconds = 0.0
    await idle(other)
    await expect(other.get_by_role("article").last).to_contain_text("Biopsy: adenocarcinoma")
    stored = await other.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert stored == [0, 0, ""]


async def test_a_lost_connection_comes_back_without_a_word_missing_or_doubled(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context()
    page = await site.open(context)
    await say(page, "history of patient_4")
    await expect(page.get_by_text("Timeline").first).to_be_visible()
    for socket in tuple(site.sockets()):
        await socket.close(code=1012)
    await expect(page.get_by_text("is not in the record").last).to_be_visible()
    await idle(page)
    text = await page.get_by_role("article").last.inner_text()
    assert len(re.findall("Biopsy: adenocarcinoma", text)) == 1
    assert len(site.scheduler.messages) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_phone_shows_everything_without_scrolling_sideways(
    site: Site, browser: Browser, scheme: str
) -> None:
    context = await browser.new_context(
        viewport={"width": 360, "height": 740}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = await site.open(context)
    await page.get_by_role("button", name="start tumor board").click()
    await expect(page.get_by_role("button", name="Confirm")).to_be_enabled()
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360
    await expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    await expect(page.get_by_role("textbox", name="Message")).to_be_in_viewport()
