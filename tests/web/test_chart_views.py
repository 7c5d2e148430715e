"""Rows of the chart are drawn, and what the record does not support is marked."""

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from data_models.chart_view import ChartView
from services.records.answers.whole_chart import in_own_words
from tests.web.axe import violations
from tests.web.chart_scenes import MEDICATIONS, POTASSIUM, STRANGERS, ChartTalk
from tests.web.conftest import Site

pytestmark = pytest.mark.slow


async def asked(site: Site, browser: Browser, *views: ChartView) -> Page:
    """Return a page on which the chart was just asked for."""
    site.scheduler.script = ChartTalk(reader=site.reader, views=views or (POTASSIUM, MEDICATIONS))
    return await site.asked(browser, "what is her potassium?")


def answer(page: Page) -> Locator:
    return page.get_by_role("article").last


async def test_a_series_is_drawn_with_range_flags_and_twin(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    drawn = answer(page).locator("figure.chart")
    await expect(drawn).to_have_count(1)
    await expect(drawn.locator("figcaption")).to_have_text(
        "Potassium (mmol/L) 4 values, 2 Jan 2026 to 2 Sep 2026; "
        "lowest 3.4, highest 5.6; range 3.5-5.1"
    )
    await expect(drawn.locator(".chart-point")).to_have_count(4)
    await expect(drawn.locator(".chart-point.high")).to_have_count(1)
    await expect(drawn.locator(".chart-point.low")).to_have_count(1)
    await expect(drawn.locator(".chart-band")).to_have_count(1)
    view = answer(page).get_by_role("group", name="Potassium", exact=True)
    await expect(view).to_contain_text("Not shown: 7 older values of Potassium")
    await expect(view).to_contain_text("2 entries could not be read")
    await view.get_by_role("button", name="Show as table").click()
    rows = view.get_by_role("row")
    await expect(rows).to_have_count(5)
    await expect(rows.nth(1)).to_contain_text("2 Sep 2026")
    await expect(rows.nth(1)).to_contain_text("5.6 mmol/L")
    await expect(rows.nth(1)).to_contain_text("▲ high")
    assert site.errors == []


async def test_a_series_is_read_by_value_with_the_keyboard(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    line = page.get_by_role("slider", name="Potassium over time")
    await line.focus()
    newest = "2 Sep 2026, 09:12: 5.6 mmol/L (high, range 3.5-5.1)"
    await expect(line).to_have_attribute("aria-valuetext", newest)
    await page.keyboard.press("Home")
    oldest = "2 Jan 2026, 09:12: 3.4 mmol/L (low, range 3.5-5.1)"
    await expect(line).to_have_attribute("aria-valuetext", oldest)
    await page.keyboard.press("ArrowRight")
    await expect(line).to_have_attribute("aria-valuenow", "2")
    await expect(page.locator(".chart-read")).to_contain_text("4.1 mmol/L")


async def test_a_table_with_columns_in_german_names_its_sources(
    site: Site, browser: Browser
) -> None:
    page = await asked(site, browser, in_own_words(MEDICATIONS, "de"))
    view = answer(page).get_by_role("group", name="Medikamente", exact=True)
    await expect(view.get_by_role("columnheader").first).to_have_text("Bezeichnung")
    await expect(view.get_by_role("button", name="Source 1 of Drug 1", exact=True)).to_be_visible()


async def test_a_long_table_is_folded_and_rows_open_sources(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    view = answer(page).get_by_role("group", name="Medications", exact=True)
    await expect(view.get_by_role("row")).to_have_count(1 + 12)
    await view.get_by_role("button", name="Show all 20 rows").click()
    await expect(view.get_by_role("row")).to_have_count(1 + 20)
    await expect(view).to_contain_text("<b>daily</b>")
    await view.get_by_role("button", name="Source 1 of Drug 20").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Right upper lobe mass of 3.1 cm")


async def test_rows_of_another_patients_chart_are_never_drawn(site: Site, browser: Browser) -> None:
    page = await asked(site, browser, STRANGERS, MEDICATIONS)
    await expect(answer(page).locator("div.view")).to_have_count(1)
    await expect(page.get_by_text("stranger")).to_have_count(0)


async def test_what_the_record_does_not_support_is_marked(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    await the_marks_stand(page)


async def the_marks_stand(page: Page) -> None:
    spoken = answer(page)
    marked = await spoken.locator(".unsupported").all_inner_texts()
    assert "".join(marked) == "She takes warfarin 5 mg daily."
    await expect(spoken.locator(".claim-sign")).to_have_text("(not supported by the record)")
    await expect(spoken).to_contain_text("1 of 3 statements supported")
    await expect(spoken).to_contain_text("1 statement was left out")
    await expect(spoken).to_contain_text("The record says: Potassium 3.4 mmol/L on 2026-01-02")
    await expect(spoken).not_to_contain_text("9.9")
    await expect(spoken.locator(".ai-label")).to_have_text("AI-generated")
    assert "⸢" not in await spoken.inner_text()


async def test_marks_rows_and_labels_are_there_after_reload(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    before = await answer(page).inner_text()
    await page.reload()
    await expect(answer(page)).to_contain_text("statements supported")
    await the_marks_stand(page)
    await expect(page.locator("figure.chart")).to_have_count(1)
    assert await answer(page).inner_text() == before


async def test_what_was_typed_about_numbers_is_shown_as_typed(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    prose = answer(page).locator(".prose")
    await expect(prose).to_contain_text("The response was ~60%, the target INR 2~3, 5*3 cm.")
    await expect(prose.locator("del")).to_have_count(0)
    await expect(prose).not_to_contain_text("Back to you")


async def test_views_and_marks_keep_rules_of_accessibility(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    await page.get_by_role("button", name="Show as table").click()
    assert await violations(page) == []


async def test_paper_shows_every_row(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    view = answer(page).get_by_role("group", name="Medications", exact=True)
    await expect(view.get_by_role("row")).to_have_count(1 + 20)
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    await expect(view.get_by_role("row")).to_have_count(1 + 12)
