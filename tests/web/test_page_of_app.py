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
