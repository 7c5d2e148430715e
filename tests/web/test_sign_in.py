"""A server that wants a key: asked for once, kept in memory, sent everywhere."""

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.conftest import Site, answered

pytestmark = pytest.mark.slow


async def sign_in(page: Page, key: str) -> None:
    await page.get_by_label("Access key or token").fill(key)
    await page.keyboard.press("Enter")


async def test_a_wrong_key_is_refused_and_the_right_one_opens_everything(
    locked_site: Site, browser: Browser
) -> None:
    page = await locked_site.open(browser)
    await sign_in(page, "not-the-key")
    await expect(page.get_by_role("alert")).to_contain_text("not accepted")
    await sign_in(page, "not a key")
    await expect(page.get_by_role("alert")).to_contain_text("cannot send")
    await sign_in(page, "ada-key")
    await answered(page, "history of patient_4")
    await expect(page.get_by_role("article").last).to_contain_text("Biopsy")
    assert locked_site.scheduler.messages[-1].owner == "key:ada"


async def test_the_key_is_in_no_store_and_no_address(locked_site: Site, browser: Browser) -> None:
    page = await locked_site.open(browser)
    await sign_in(page, "ada-key")
    await answered(page, "history of patient_4")
    stored = await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert stored == [0, 0, ""]
    assert not [url for url in locked_site.requested if "ada-key" in url]
    await page.reload()
    await expect(page.get_by_label("Access key or token")).to_be_visible()


async def test_files_are_saved_with_the_key(locked_site: Site, browser: Browser) -> None:
    page = await locked_site.open(browser)
    await sign_in(page, "ada-key")
    await answered(page, "history of patient_4")
    await page.get_by_text("Export", exact=True).click()
    async with page.expect_download() as downloaded:
        await page.get_by_role("link", name="Markdown").click()
    saved = await downloaded.value
    assert saved.suggested_filename == "rounds-patient_4.md"
    path = await saved.path()
    assert "answer 5" in await asyncio.to_thread(path.read_text, "utf-8")
