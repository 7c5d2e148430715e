"""From a statement to the words of the note it stands on."""

import pytest
from playwright.async_api import Browser, expect

from tests.web.conftest import Site

pytestmark = pytest.mark.slow


async def test_a_citation_opens_the_note_at_the_passage(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    cite = page.get_by_role("link", name="Source 1")
    await cite.focus()
    await page.keyboard.press("Enter")
    sheet = page.get_by_role("dialog", name="CT chest")
    await expect(sheet).to_be_visible()
    await expect(sheet).to_contain_text("imaging report · 2023-11-02 · Dr. Ray")
    await expect(sheet.locator("mark")).to_have_text("Right upper lobe mass of 3.1 cm.")
    await expect(sheet.get_by_text("the passage closest to what the answer says")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(sheet).to_have_count(0)
    await expect(cite).to_be_focused()
    assert site.errors == []


async def test_the_list_of_sources_opens_them_too(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    answer = page.get_by_role("article").last
    await answer.get_by_text("1 source", exact=True).click()
    await answer.get_by_role("button", name="Source 1 CT chest").click()
    await expect(page.get_by_role("dialog").locator("mark")).to_contain_text("3.1 cm")


async def test_a_source_that_is_not_there_is_said_to_be_so(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_15")
    await page.get_by_role("link", name="Source 1").click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    await expect(page.get_by_role("dialog")).not_to_contain_text("contrast")
