"""Conversations are told apart by title, found by their words, called otherwise and put away."""

import pytest
from playwright.async_api import Browser, expect

from tests.web.axe import violations
from tests.web.conftest import Site

pytestmark = pytest.mark.slow
FIRST = "question 1 # not a title"
"""What the history of the double begins with."""


async def test_a_conversation_is_called_otherwise_put_away_and_found_again(
    site: Site, browser: Browser
) -> None:
    page = await site.asked(await browser.new_context(), "history of patient_4")
    bar = page.get_by_role("navigation", name="Conversations")
    row = bar.locator(".side-row")
    await expect(row.locator(".side-question")).to_have_text(FIRST)
    await row.get_by_role("button", name=f"Rename {FIRST}").click()
    field = bar.get_by_role("textbox", name="Title")
    await expect(field).to_be_focused()
    await field.fill("Before the board")
    await field.press("Enter")
    await expect(row.locator(".side-question")).to_have_text("Before the board")
    assert await violations(page) == []
    search = bar.get_by_role("textbox", name="Search conversations")
    await search.fill("ANSWER 3")
    hit = bar.get_by_role("list", name="Search conversations").get_by_role("button")
    await expect(hit.first).to_contain_text("answer 3")
    assert await violations(page) == []
    await search.press("Escape")
    await expect(hit).to_have_count(0)
    await row.get_by_role("button", name="Archive Before the board").press("Enter")
    await expect(row).to_have_count(0)
    await page.reload()
    await expect(bar.get_by_text("None yet")).to_be_visible()
    await bar.get_by_role("button", name="Archived").click()
    await row.get_by_role("button", name="Restore Before the board").click()
    await expect(bar.get_by_text("Nothing is archived.")).to_be_visible()
    await bar.get_by_role("button", name="Archived").click()
    await expect(row.locator(".side-question")).to_have_text("Before the board")
