"""axe finds nothing on any view, in any colours."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.axe import COLOUR_RULES, violations
from tests.web.conftest import Site, answered, idle, say

pytestmark = pytest.mark.slow

PHONE = {"width": 360, "height": 740}
COLOURS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "forced dark": {"forced_colors": "active", "color_scheme": "dark"},
    "phone": {"viewport": PHONE},
}
IN_COLOURS_ONLY = ("dark", "forced", "forced dark")


async def welcome(site: Site, page: Page) -> None:
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    await page.get_by_text("Who answers here").click()


async def answer(site: Site, page: Page) -> None:
    await answered(page, "history of patient_4")
    ran = page.locator("details.tool summary").last
    await expect(ran).to_contain_text("Load timeline")
    await ran.click()
    await page.locator("details.sources summary").last.click()


async def proposed_plan(site: Site, page: Page) -> None:
    await say(page, "start tumor board for patient_4")
    await page.get_by_role("button", name="Edit steps").click()
    await page.get_by_role("checkbox", name="Pathology").uncheck()


async def running_plan(site: Site, page: Page) -> None:
    site.board.pause_seconds = 0.5
    await page.get_by_role("button", name="Confirm").click()
    await page.get_by_text("All steps").click()
    await expect(page.get_by_text("Step 1 of 3")).to_be_visible()


async def roster(site: Site, page: Page) -> None:
    await answered(page, "switch to patient_15")
    await page.get_by_text("Export", exact=True).click()


async def source(site: Site, page: Page) -> None:
    await page.get_by_role("link", name="Source 1").click()
    await expect(page.get_by_role("dialog").locator("mark")).to_be_visible()


async def search(site: Site, page: Page) -> None:
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("searchbox").fill("Biopsy")
    await expect(page.get_by_text("1 turn found")).to_be_visible()


async def without_network(site: Site, page: Page) -> None:
    await page.context.set_offline(True)
    await expect(page.get_by_text("last verified at")).to_be_visible()


async def conversations(site: Site, page: Page) -> None:
    await page.keyboard.press("Escape")
    if await page.get_by_role("button", name="Show conversations").count():
        await page.get_by_role("button", name="Show conversations").click()
    bar = page.get_by_role("navigation", name="Conversations")
    await expect(bar.get_by_role("button", name="patient_4")).to_be_visible()


async def interrupted(site: Site, page: Page) -> None:
    await page.get_by_role("button", name="Stop").click()
    await idle(page)
    site.board.pause_seconds = 0.5
    await say(page, "history of patient_4")
    await say(page, "what else is known?")
    await expect(page.get_by_text("Waiting for the running turn")).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text("Stopped.").last).to_be_visible()
    site.board.pause_seconds = 0.0


View = Callable[[Site, Page], Awaitable[None]]
READING: tuple[View, ...] = (welcome, answer, source, search, conversations, roster)
WORKING: tuple[View, ...] = (proposed_plan, running_plan, interrupted, without_network)


def rules_for(colours: str) -> tuple[str, ...]:
    """Return the rules that may say something else than in the light colours; none are all."""
    return COLOUR_RULES if colours in IN_COLOURS_ONLY else ()


async def faults_of(page: Page, view: View, colours: str) -> list[str]:
    """Return what axe finds wrong, and whether the view is wider than its window."""
    wrong = await violations(page, rules=rules_for(colours))
    width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    wrong += [f"{width} pixels too wide"] if width > 0 else []
    return [f"{view.__name__}: {line}" for line in wrong]


# The views of who reads are looked at in test_looks.py, where they are drawn anyway.
@pytest.mark.parametrize("colours", COLOURS)
async def test_axe_finds_nothing_at_work(site: Site, browser: Browser, colours: str) -> None:
    context = await browser.new_context(reduced_motion="reduce", **COLOURS[colours])
    page = await site.open(context)
    found: list[str] = []
    for view in WORKING:
        await view(site, page)
        found += await faults_of(page, view, colours)
        await page.keyboard.press("Escape")
    assert found == []


@pytest.mark.parametrize("colours", COLOURS)
async def test_axe_finds_nothing_where_one_signs_in(
    locked_site: Site, browser: Browser, colours: str
) -> None:
    context = await browser.new_context(reduced_motion="reduce", **COLOURS[colours])
    page = await locked_site.open(context)
    await page.get_by_label("Access key or token").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await violations(page, rules=rules_for(colours)) == []


async def test_axe_would_find_something(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await welcome(site, page)
    await page.evaluate("document.querySelector('#message').labels[0].remove()")
    await page.evaluate("document.querySelector('#message').removeAttribute('placeholder')")
    assert any(line.startswith("label:") for line in await violations(page))
