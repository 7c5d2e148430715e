"""Colours and the size of letters are the user's, on every page of this browser."""

import pytest
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.web.axe import violations
from tests.web.chart_scenes import ChartTalk
from tests.web.conftest import DRAWN, Site
from tests.web.test_identity import INSIDE, KNOWN, WINDOWS

pytestmark = pytest.mark.slow
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
LETTERS = "getComputedStyle(document.documentElement).fontSize"
KEPT = "Object.fromEntries(Object.entries(localStorage))"
DARK, LIGHT, BLACK = "rgb(31, 31, 31)", "rgb(245, 245, 245)", "rgb(0, 0, 0)"


async def choose(page: Page, *names: str) -> None:
    await page.get_by_role("button", name="Appearance").click()
    for name in names:
        await page.get_by_role("radio", name=name, exact=True).check()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_choice_holds_at_once_after_a_reload_and_on_the_operators_page(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context(
        color_scheme="light", viewport={"width": 1440, "height": 900}
    )
    page = await site.open(context)
    await expect(page.get_by_role("button", name="Appearance")).to_be_visible()
    assert [await page.evaluate(BACKGROUND), await page.evaluate(LETTERS)] == [LIGHT, "15px"]
    await choose(page, "Dark", "130 %")
    assert [await page.evaluate(BACKGROUND), await page.evaluate(LETTERS)] == [DARK, "19.5px"]
    await expect(page.get_by_role("button", name="Appearance")).to_be_focused()
    await page.reload()
    await expect(page.get_by_role("button", name="Appearance")).to_be_visible()
    assert [await page.evaluate(BACKGROUND), await page.evaluate(LETTERS)] == [DARK, "19.5px"]
    operators = await site.open(context, "/operator")
    assert [await operators.evaluate(BACKGROUND), await operators.evaluate(LETTERS)] == [
        DARK,
        "19.5px",
    ]
    assert await page.evaluate(KEPT) == {"rounds.theme": "dark", "rounds.text-size": "130"}
    await choose(page, "As the system", "100 %")
    assert [await page.evaluate(BACKGROUND), await page.evaluate(KEPT)] == [LIGHT, {}]
    await page.emulate_media(color_scheme="dark")
    assert await page.evaluate(BACKGROUND) == DARK
    await choose(page, "Light")
    assert await page.evaluate(BACKGROUND) == LIGHT
    assert site.errors == []


async def large(site: Site, context: BrowserContext) -> Page:
    """Return a page with an answer in the largest letters and the strongest contrast."""
    site.scheduler.script = ChartTalk(reader=site.reader)
    page = await site.asked(context, "what is her potassium?")
    await page.get_by_role("button", name="Appearance").click()
    await page.get_by_role("radio", name="High contrast").check()
    await page.get_by_role("radio", name="150 %").check()
    return page


async def test_in_the_largest_letters_who_it_is_is_in_view(site: Site, browser: Browser) -> None:
    context = await browser.new_context(color_scheme="dark", reduced_motion="reduce")
    page = await large(site, context)
    assert await page.evaluate(BACKGROUND) == BLACK
    found: list[str] = []
    for shows_settings in (True, False):
        for width, height in WINDOWS:
            await page.set_viewport_size(ViewportSize(width=width, height=height))
            await page.evaluate(DRAWN)
            missing = await page.evaluate(INSIDE, list(KNOWN))
            found += [f"{width}x{height}, {shows_settings}: no {text}" for text in missing]
            wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            found += [f"{width}x{height}: {wide} pixels too wide"] if wide > 0 else []
        found += await violations(page)
        await page.keyboard.press("Escape")
    assert found == []


async def test_who_asked_the_system_for_contrast_gets_it(site: Site, browser: Browser) -> None:
    page = await site.open(await browser.new_context(color_scheme="dark", contrast="more"))
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    assert await page.evaluate(BACKGROUND) == BLACK
    await page.emulate_media(contrast="no-preference")
    await expect(page.locator("html:not([data-contrast])")).to_be_attached()
    assert await page.evaluate(BACKGROUND) == DARK
