"""The operators' page speaks German to a browser that does."""

import pytest
from playwright.async_api import Browser, expect

from tests.web.axe import violations
from tests.web.conftest import Site

pytestmark = pytest.mark.slow


async def test_the_operators_page_is_in_german_where_the_browser_is(
    site: Site, browser: Browser
) -> None:
    german = await browser.new_context(locale="de-DE")
    page = await site.open(german, "/operator")
    await expect(page.get_by_text("Diese Seite ist für Betreiber.")).to_be_visible()
    assert await page.evaluate("document.documentElement.lang") == "de"
    assert await violations(page) == []
    english = await site.open(await browser.new_context(locale="en-GB"), "/operator")
    await expect(english.get_by_text("This page is for operators.")).to_be_visible()
