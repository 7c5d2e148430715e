"""What is remembered of a patient, where it comes from, and how people put it right."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.web.axe import violations
from tests.web.conftest import Site, answered
from tests.web.test_accessibility import COLOURS

pytestmark = pytest.mark.slow


async def opened(site: Site, page: Page) -> Locator:
    await answered(page, "history of patient_4")
    await page.get_by_role("button", name="Memory").click()
    sheet = page.get_by_role("dialog", name="Memory of patient_4")
    await expect(sheet.get_by_role("heading", name="What was understood")).to_be_visible()
    return sheet


def row(sheet: Locator, text: str) -> Locator:
    return sheet.locator(".memory-item", has_text=text).first


async def test_three_lists_tell_what_is_known_and_each_source_opens_its_turn(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    sheet = await opened(site, page)
    for heading in ("Topic", "What was understood", "What tools found", "What ran"):
        await expect(sheet.get_by_role("heading", name=heading)).to_be_visible()
    await expect(row(sheet, "Doctor preference")).to_contain_text("Dr. Lindqvist")
    await expect(row(sheet, "Available slots")).to_contain_text("09:00, 09:30")
    await expect(row(sheet, "2 slots")).to_contain_text("for “a time on Friday?”")
    point = row(sheet, "Allergy: penicillin")
    await point.get_by_role("button", name="Turn 1").click()
    await expect(point.get_by_role("blockquote")).to_contain_text("question 1")
    assert site.errors == []


async def test_an_entry_is_corrected_and_the_change_undone_with_the_keyboard_alone(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    sheet = await opened(site, page)
    await sheet.get_by_role("button", name="Correct Doctor preference").focus()
    await page.keyboard.press("Enter")
    field = sheet.get_by_role("textbox", name="New value of Doctor preference")
    await expect(field).to_be_focused()
    await field.fill("Dr. Okafor")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(sheet.get_by_role("status").first).to_have_text("Doctor preference was corrected.")
    await expect(row(sheet, "Doctor preference")).to_contain_text("Dr. Okafor")
    change = sheet.locator(".memory-item", has_text="corrected Doctor preference")
    await expect(change).to_contain_text("Dr. Lindqvist")
    await change.get_by_role("button", name="Undo the change of Doctor preference").focus()
    await page.keyboard.press("Enter")
    await expect(change.get_by_role("button", name="No")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(row(sheet, "Doctor preference")).to_contain_text("Dr. Lindqvist")
    await expect(change.first).to_contain_text("undone")


async def test_what_is_retired_asks_first_and_can_be_restored(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    sheet = await opened(site, page)
    point = row(sheet, "Allergy: penicillin")
    await point.get_by_role("button", name="Retire Key point").click()
    await point.get_by_role("button", name="No").click()
    await expect(point.get_by_text("retired")).to_have_count(0)
    await point.get_by_role("button", name="Retire Key point").click()
    await point.get_by_role("button", name="Yes").click()
    await expect(point.get_by_text("retired", exact=True)).to_be_visible()
    await point.get_by_role("button", name="Restore Key point").click()
    await expect(point.get_by_role("button", name="Correct Key point")).to_be_visible()


async def test_who_is_late_sees_what_holds_now(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    sheet = await opened(site, page)
    other = await site.open(browser, page.url.removeprefix(site.base))
    await other.get_by_role("button", name="Memory").click()
    await other.get_by_role("button", name="Retire Key point").click()
    await other.get_by_role("button", name="Yes").click()
    await expect(other.get_by_text("Key point was retired.")).to_be_visible()
    await sheet.get_by_role("button", name="Correct Doctor preference").click()
    await sheet.get_by_role("textbox").fill("Dr. Late")
    await sheet.get_by_role("button", name="Save").click()
    await expect(sheet.get_by_role("alert")).to_contain_text("changed meanwhile")
    await expect(sheet.get_by_role("textbox")).to_have_value("Dr. Late")
    await expect(
        row(sheet, "Allergy: penicillin").get_by_text("retired", exact=True)
    ).to_be_visible()


async def test_it_closes_with_the_patient_it_belongs_to(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    sheet = await opened(site, page)
    await page.keyboard.press("Escape")
    await expect(sheet).to_have_count(0)
    await answered(page, "switch to patient_15")
    await page.get_by_role("button", name="Memory").click()
    other = page.get_by_role("dialog", name="Memory of patient_15")
    await expect(other.get_by_role("alert")).to_be_visible()
    await expect(other).not_to_contain_text("Lindqvist")


@pytest.mark.parametrize("colours", COLOURS)
async def test_axe_finds_nothing_in_any_colours(
    site: Site, browser: Browser, colours: str, tmp_path: Path
) -> None:
    context = await browser.new_context(reduced_motion="reduce", **COLOURS[colours])
    page = await site.open(context)
    sheet = await opened(site, page)
    await sheet.get_by_role("button", name="Turn 1").first.click()
    await sheet.get_by_role("button", name="Correct Doctor preference").click()
    await sheet.get_by_role("button", name="Retire Key point").click()
    await page.screenshot(path=tmp_path / f"memory-{colours}.png")
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
