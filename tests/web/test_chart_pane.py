"""The chart beside the conversation, and patients found by their names."""

import asyncio
import csv
import io
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect

from data_models.chart_view import ChartView, ViewRow
from data_models.identifiers import PatientId
from tests.web.axe import violations
from tests.web.chart_scenes import ChartTalk
from tests.web.conftest import Site, answered, idle

pytestmark = pytest.mark.slow
DESKTOP = {"width": 1440, "height": 900}
TABLET = {"width": 820, "height": 1180}
PHONE = {"width": 390, "height": 844}


async def opened(site: Site, browser: Browser, size: dict[str, int]) -> Page:
    """Return a page with the chart of patient_4 open."""
    site.scheduler.script = ChartTalk(reader=site.reader)
    context = await browser.new_context(viewport={"width": size["width"], "height": size["height"]})
    page = await site.asked(context, "what is her potassium?")
    if not await page.locator(".chart-pane").count():
        await page.get_by_role("button", name="Chart", exact=True).click()
    return page


async def test_a_patient_found_by_name_is_opened_by_a_press(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    finder = page.get_by_role("search", name="Find a patient")
    await finder.get_by_role("textbox", name="Find a patient").fill("other")
    await expect(finder.get_by_role("status")).to_have_text("1 patient found")
    found = finder.get_by_role("button", name="Ben Other")
    await expect(found).to_contain_text("8 Jul 1961 · male · patient_15")
    assert site.scheduler.messages == []
    await found.click()
    await idle(page)
    assert [message.text for message in site.scheduler.messages] == ["switch to patient_15"]
    await finder.get_by_role("textbox").fill("nobody of that name")
    await expect(finder.get_by_role("status")).to_have_text("Nobody found.")
    assert site.errors == []


async def test_the_chart_stands_beside_the_talk_by_parts(site: Site, browser: Browser) -> None:
    page = await opened(site, browser, DESKTOP)
    chart = page.locator(".chart-pane")
    await expect(chart.get_by_text("Penicillin")).to_be_visible()
    await expect(page.get_by_role("article").last).to_be_visible()
    summary = chart.get_by_role("tab", name="Summary")
    await expect(summary).to_have_attribute("aria-selected", "true")
    await summary.focus()
    await page.keyboard.press("ArrowRight")
    results = chart.get_by_role("tab", name="Results")
    await expect(results).to_be_focused()
    await chart.get_by_role("button", name="Potassium").click()
    await expect(chart.get_by_role("slider", name="Potassium over time")).to_be_visible()
    await chart.get_by_role("tab", name="Documents").click()
    await expect(chart.get_by_text("No documents in the record.")).to_be_visible()
    assert len(site.scheduler.messages) == 1
    assert site.errors == []


@pytest.mark.parametrize("size", [DESKTOP, TABLET, PHONE])
async def test_allergies_stay_in_view_and_open_their_list(
    site: Site, browser: Browser, size: dict[str, int]
) -> None:
    site.scheduler.script = ChartTalk(reader=site.reader)
    context = await browser.new_context(viewport={"width": size["width"], "height": size["height"]})
    page = await site.asked(context, "what is her potassium?")
    line = page.get_by_role("banner").get_by_role("button", name="Allergies")
    await expect(line).to_have_text("Allergies: Penicillin (rash)")
    await expect(line).to_be_in_viewport(ratio=1)
    name = await page.locator(".banner .patient-name").bounding_box()
    # In one line, whatever stands beside it.
    assert name is not None
    assert name["height"] < 40
    await line.click()
    allergies = page.locator(".chart-pane").get_by_role("tab", name="Allergies")
    await expect(allergies).to_have_attribute("aria-selected", "true")
    assert site.errors == []


async def refuse(route: Route) -> None:
    refused = {"code": "unavailable", "message": "The record cannot be read now."}
    await route.fulfill(status=503, json={"error": refused})


async def abandon(route: Route) -> None:
    await route.abort()


async def test_unread_allergies_are_not_shown_as_none(site: Site, browser: Browser) -> None:
    site.scheduler.script = ChartTalk(reader=site.reader)
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    await context.route("**/chart?*part=allergies*", refuse)
    page = await site.asked(context, "what is her potassium?")
    line = page.get_by_role("banner").get_by_role("button", name="Allergies")
    await expect(line).to_have_text("Allergies: not readable now")
    await context.unroute("**/chart?*part=allergies*")
    await line.click()
    await expect(line).to_have_text("Allergies: Penicillin (rash)")


def allergies_of(patient_id: str, *rows: tuple[str, ...]) -> dict[str, Any]:
    shown = [
        ViewRow(kind=kind, name=name, status="active", detail="; ".join(detail))
        for kind, name, *detail in rows
    ]
    return ChartView(
        view_id="view-a",
        patient_id=PatientId(patient_id),
        tool="allergies",
        kind="table",
        title="Allergies",
        columns=("name",),
        rows=tuple(shown),
    ).model_dump(mode="json")


LOW = tuple(("allergy", f"Pollen {number}") for number in range(8))
NONE_KNOWN = ("no known allergy", "No known allergies")


@pytest.mark.parametrize(
    ("rows", "told", "warns"),
    [
        ((*LOW, ("allergy", "Penicillin")), "Pollen 7, Penicillin", True),
        ((NONE_KNOWN,), "Allergies: No known allergies", False),
        ((NONE_KNOWN, ("allergy", "Latex")), "Allergies: Latex, No known allergies", True),
        ((("allergy", "Codeine", "unconfirmed", "nausea"),), "Codeine (unconfirmed)", True),
    ],
)
async def test_no_allergy_is_left_out_of_the_line_and_an_absence_is_none(
    site: Site, browser: Browser, rows: tuple[tuple[str, ...], ...], told: str, warns: bool
) -> None:
    site.scheduler.script = ChartTalk(reader=site.reader)
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    shown = [rows]

    async def answer(route: Route) -> None:
        await route.fulfill(json=allergies_of("patient_4", *shown[0]))

    await context.route("**/chart?*part=allergies*", answer)
    page = await site.asked(context, "what is her potassium?")
    line = page.get_by_role("banner").get_by_role("button", name="Allergies")
    await expect(line).to_contain_text(told)
    assert ("has-allergies" in (await line.get_attribute("class") or "")) == warns
    assert await violations(page) == []
    # Somebody records another one meanwhile: who comes back to the page sees it.
    shown[0] = (*rows, ("allergy", "Iodine"))
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(line).to_contain_text("Iodine")
    # Without a network what was read stays; a chart that was closed meanwhile does not.
    await context.route("**/chart?*part=allergies*", abandon)
    async with page.expect_event("requestfailed"):
        await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(line).to_contain_text("Iodine")
    await context.route("**/chart?*part=allergies*", refuse)
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(line).to_have_text("Allergies: not readable now")


PAIRS = """
window.pairs = [];
new MutationObserver(() => {
  const line = document.querySelector(".allergy-line");
  const name = document.querySelector(".banner .identity");
  if (line && name) window.pairs.push(`${name.textContent} | ${line.textContent}`);
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


async def test_the_allergies_of_one_never_stand_beside_the_name_of_another(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context()
    await context.add_init_script(PAIRS)

    async def answer(route: Route) -> None:
        asked = "patient_15" if "patient_15" in route.request.url else "patient_4"
        # As a server that mixes them up would answer for patient_7.
        await route.fulfill(json=allergies_of(asked, ("allergy", f"Of {asked}.")))

    await context.route("**/chart?*part=allergies*", answer)
    page = await site.asked(context, "open patient_4")
    line = page.get_by_role("banner").get_by_role("button", name="Allergies")
    await expect(line).to_have_text("Allergies: Of patient_4.")
    for patient in ("patient_15", "patient_4", "patient_15"):
        await answered(page, f"switch to {patient}")
        await expect(line).to_have_text(f"Allergies: Of {patient}.")
    pairs = await page.evaluate("window.pairs")
    assert [one for one in pairs if ("patient_4" in one) == ("patient_15" in one)] == []
    await answered(page, "switch to patient_7")
    await expect(line).to_have_text("Allergies: not readable now")


GOES_ON = "20 Mar 2024 – goes on: Osimertinib, 80 mg, active, prescribed"


async def test_the_course_is_drawn_and_zoomed_by_keys(site: Site, browser: Browser) -> None:
    page = await opened(site, browser, DESKTOP)
    chart = page.locator(".chart-pane")
    await chart.get_by_role("tab", name="Timeline").click()
    drawn = chart.get_by_role("slider", name="Timeline over time")
    await expect(drawn.locator(".timeline-bar")).to_have_count(2)
    await expect(drawn.locator("circle")).to_have_count(1)
    await drawn.focus()
    await page.keyboard.press("Home")
    await page.keyboard.press("ArrowRight")
    await expect(drawn).to_have_attribute("aria-valuetext", GOES_ON)
    whole = drawn.locator(".chart-label").last
    await expect(whole).to_have_text("3 Feb 2025")
    for _ in range(3):
        await page.keyboard.press("+")
    await expect(whole).not_to_have_text("3 Feb 2025")
    await expect(drawn.locator(".timeline-bar")).to_have_count(1)
    await page.keyboard.press("End")  # what is chosen comes into the window
    await expect(drawn.locator(".timeline-bar.chosen")).to_have_count(1)
    await chart.get_by_role("button", name="Whole time").click()
    await drawn.focus()
    for browsers in ("Control++", "Control+ArrowLeft"):
        await page.keyboard.press(browsers)
    await expect(whole).to_have_text("3 Feb 2025")
    assert await violations(page) == []
    async with page.expect_download() as begun:
        await chart.get_by_role("button", name="CSV: save Timeline").click()
    saved = (await (await begun.value).path()).read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(saved)))
    assert "Ada Example" in rows[0][0]
    assert [row[3] for row in rows[2:]] == ["Biopsy", "Osimertinib", "Pneumonia"]
    assert site.errors == []


async def test_a_drawn_result_is_saved_with_whose_it_is(site: Site, browser: Browser) -> None:
    page = await opened(site, browser, DESKTOP)
    chart = page.locator(".chart-pane")
    await chart.get_by_role("tab", name="Results").click()
    await chart.get_by_role("button", name="Potassium").click()
    saved = []
    for form in ("CSV", "SVG"):
        async with page.expect_download() as downloaded:
            await chart.get_by_role("button", name=form).click()
        path = await (await downloaded.value).path()
        saved.append(await asyncio.to_thread(path.read_text, "utf-8-sig"))
    table, picture = saved
    [who], columns, *rows = csv.reader(io.StringIO(table))
    for known in ("Ada Example", "1950-02-03", "female", "patient_4"):
        assert known in who
        assert known in picture
    assert columns == ["date", "name", "value", "unit", "range", "flag"]
    assert [row[0] for row in rows] == ["2026-10-02", "2026-11-02", "2026-12-02"]
    assert "<rect" in picture
    assert "stroke=" in picture


@pytest.mark.parametrize("size", [DESKTOP, TABLET], ids=["desktop", "tablet"])
async def test_a_source_opens_beside_the_answer_which_stays_usable(
    site: Site, browser: Browser, size: dict[str, int]
) -> None:
    page = await opened(site, browser, size)
    source = page.locator(".middle .row-sources button").first
    as_table = page.get_by_role("button", name="Show as table").first
    await expect(source.or_(as_table).first).to_be_visible()
    if not await source.is_visible():
        await as_table.click()
    await source.click()
    sheet = page.get_by_role("dialog")
    await expect(sheet).to_be_visible()
    assert await page.evaluate("document.querySelector('dialog:modal')") is None
    answer = await page.get_by_role("article").last.bounding_box()
    beside = await sheet.bounding_box()
    assert answer is not None
    assert beside is not None
    assert answer["x"] + answer["width"] <= beside["x"] + 1
    await page.get_by_role("textbox", name="Message").fill("still usable")
    await sheet.get_by_role("button", name="Close").click()
    await expect(sheet).to_have_count(0)
    await expect(page.locator(".chart-pane")).to_be_visible()


async def test_on_a_phone_the_chart_takes_the_whole_page(site: Site, browser: Browser) -> None:
    page = await opened(site, browser, PHONE)
    chart = page.locator(".chart-pane")
    await expect(chart).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message")).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    await page.get_by_role("button", name="Talk", exact=True).click()
    await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    await expect(chart).to_have_count(0)


@pytest.mark.parametrize("size", [DESKTOP, TABLET, PHONE], ids=["desktop", "tablet", "phone"])
async def test_axe_finds_nothing_in_the_chart(
    site: Site, browser: Browser, size: dict[str, int]
) -> None:
    page = await opened(site, browser, size)
    chart = page.locator(".chart-pane")
    await expect(chart.get_by_text("Penicillin")).to_be_visible()
    assert await violations(page) == []
    await chart.get_by_role("tab", name="Results").click()
    await chart.get_by_role("button", name="Potassium").click()
    await expect(chart.get_by_role("slider")).to_be_visible()
    assert await violations(page) == []


async def test_the_page_speaks_german_where_the_browser_does(site: Site, browser: Browser) -> None:
    context = await browser.new_context(locale="de-DE")
    page = await site.open(context)
    await expect(page.get_by_role("textbox", name="Nachricht")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Patienten suchen")).to_be_visible()
    assert await page.evaluate("document.documentElement.lang") == "de"
    await page.get_by_role("textbox", name="Nachricht").fill("history of patient_4")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Akte", exact=True)).to_be_visible()
    assert await violations(page) == []


async def test_the_side_bar_leaves_when_a_tablet_is_turned(site: Site, browser: Browser) -> None:
    page = await opened(site, browser, {"width": 1180, "height": 820})
    bar = page.get_by_role("navigation", name="Conversations")
    await expect(bar).to_be_visible()
    await page.set_viewport_size({"width": 820, "height": 1180})
    await expect(bar).to_have_count(0)
