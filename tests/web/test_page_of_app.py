"""The page of the whole server, with sample patients and the offline rules: nothing is faked."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.server import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def app(built: None, tmp_path: Path) -> Iterator[str]:
    server = Server(folder=tmp_path, environment={"LLM_PROVIDER": "offline"})
    server.start()
    yield server.url
    server.close()


async def say(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()


async def test_the_main_job_end_to_end(app: str, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(app)
    banner = page.get_by_role("heading", level=1)
    await page.get_by_role("button", name="start tumor board for patient_4").click()
    await expect(banner).to_contain_text("Margaret Anne Whitfield")
    await page.get_by_role("button", name="Confirm").click()
    report = page.get_by_role("navigation", name="Files of this patient").get_by_role("link")
    await expect(report).to_be_visible()
    async with page.expect_download() as downloaded:
        await report.click()
    saved = await (await downloaded.value).path()
    assert (await asyncio.to_thread(saved.read_bytes)).startswith(b"PK")

    await say(page, "switch to patient_15")
    await expect(banner).to_contain_text("patient_15")
    await expect(page.get_by_role("article")).to_have_count(1)
    await expect(report).to_have_count(0)
    await page.get_by_role("button", name="Switch to patient_4").click()
    await expect(banner).to_contain_text("Margaret Anne Whitfield")
    await expect(page.get_by_text("Shall I go ahead with this plan?").first).to_be_visible()

    await page.reload()
    await expect(banner).to_contain_text("Margaret Anne Whitfield")
    await expect(page.get_by_text("Shall I go ahead with this plan?").first).to_be_visible()
    await say(page, "clear patient context")
    await expect(banner).to_contain_text("No active patient")
    await expect(page.get_by_role("button", name="Switch to patient_4")).to_have_count(0)


async def test_each_candidate_of_a_question_is_a_button_and_what_ran_is_shown(
    app: str, browser: Browser
) -> None:
    page = await browser.new_page()
    await page.goto(app)
    await say(page, "start with patient_15")
    await say(page, "@Secretary what's on my calendar tomorrow?")
    await say(page, "@Secretary cancel the meeting")
    question = page.get_by_role("region", name="Open question")
    await expect(question).to_contain_text("Which event do you mean?")
    choices = question.get_by_role("button")
    await expect(choices.last).to_have_text("None of these")
    chosen = await choices.nth(1).inner_text()
    await choices.nth(1).click()
    name = chosen.partition(". ")[2].partition(",")[0]
    await expect(question).to_contain_text(name)
    await expect(question.get_by_role("button", name="Yes")).to_be_visible()
    await question.get_by_role("button", name="Yes").click()
    await expect(page.get_by_text("Cancelled:").last).to_be_visible()

    await page.get_by_role("button", name="Memory").click()
    ran = page.get_by_role("dialog", name="Memory of patient_15")
    await expect(ran.get_by_role("heading", name="What ran")).to_be_visible()
    of_tool = page.locator(".memory-label", has_text="Cancel event")
    runs = ran.locator(".memory-item").filter(has=of_tool)
    await expect(runs).to_have_count(3)
    await expect(runs.nth(0)).to_contain_text("Cancelled:")
    await expect(runs.nth(0)).to_contain_text("for “yes”")
    await expect(runs.nth(2)).to_contain_text("failed")
    await expect(runs.nth(2)).to_contain_text("for “@Secretary cancel the meeting”")
    await runs.nth(2).scroll_into_view_if_needed()
