"""Whose chart is open stays inside the window, whatever is done to the window."""

import io
import random
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect
from pypdf import PdfReader

from data_models.conversations.turn_events import RunFinished, RunStarted, StateChanged, TurnTiming
from data_models.patient_context_models import PatientIdentity
from services.runs.hub import Run
from tests.routes.fakes import spoken, state
from tests.web.axe import violations
from tests.web.chart_scenes import ChartTalk
from tests.web.conftest import DRAWN, Site, answered, idle, say

pytestmark = pytest.mark.slow
KNOWN = ("Ada Example", "1950-02-03", "female", "patient_4")
# Desktop, tablet, phone upright and on its side, a window of 1280 by 800 at 400 %.
WINDOWS = ((1440, 900), (820, 1180), (390, 844), (844, 390), (320, 200))
FORCED: tuple[Literal["active", "none"], ...] = ("active", "none")
INSIDE = (Path(__file__).parent / "scripts" / "inside.js").read_text("utf-8")


async def read(site: Site, browser: Browser) -> Page:
    """Return a page with a conversation that is longer than any window."""
    site.scheduler.script = ChartTalk(reader=site.reader)
    page = await site.open(browser)
    for _ in range(3):
        await answered(page, "what is her potassium?")
    return page


async def disturb(page: Page, chance: random.Random) -> str:
    """Do one thing that a clinician may do to a window; return what it was."""
    deeds = ["wheel", "keys", "turn", "side bar", "source", "chart", "close"]
    match deed := chance.choice(deeds):
        case "wheel":
            await page.mouse.move(150, 150)
            await page.mouse.wheel(0, chance.choice([-9_000, -400, 400, 9_000]))
        case "keys":
            await page.keyboard.press(chance.choice(["PageDown", "End", "PageUp", "Tab"]))
        case "turn":
            width, height = chance.choice(WINDOWS)
            await page.set_viewport_size(ViewportSize(width=width, height=height))
        case "side bar":
            buttons = page.get_by_role("button", name="conversations")
            if await buttons.count() == 1:
                await buttons.evaluate("button => button.click()")
        case "chart":
            await page.evaluate(
                "[...document.querySelectorAll('.banner-tools .button')][1]?.click()"
            )
        case "source":
            await page.evaluate("document.querySelector('.row-sources button')?.click()")
        case _:
            await page.keyboard.press("Escape")
    await page.evaluate(DRAWN)
    return deed


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_name_birth_date_sex_and_id_are_inside_the_window_in_any_state(
    site: Site, browser: Browser, seed: int
) -> None:
    page = await read(site, browser)
    chance, done = random.Random(seed), list[str]()
    for width, height in WINDOWS:
        await page.set_viewport_size(ViewportSize(width=width, height=height))
        forced = chance.choice(FORCED)
        await page.emulate_media(forced_colors=forced)
        done.append(f"{width}x{height}, forced colours {forced}")
        for _ in range(6):
            done.append(await disturb(page, chance))
            assert await page.evaluate(INSIDE, list(KNOWN)) == [], done


async def test_nothing_scrolls_the_page_itself_away(site: Site, browser: Browser) -> None:
    page = await read(site, browser)
    heights = "[document.documentElement.scrollHeight, innerHeight]"
    whole, window = await page.evaluate(heights)
    assert whole <= window
    await expect(page.get_by_placeholder("Ask about Ada Example", exact=True)).to_be_visible()
    await page.mouse.move(700, 500)
    await page.mouse.wheel(0, 20_000)
    await page.wait_for_timeout(200)
    assert await page.evaluate("document.documentElement.scrollTop") == 0


async def test_each_sheet_of_paper_names_the_patient(site: Site, browser: Browser) -> None:
    page = await read(site, browser)
    await page.evaluate("document.querySelector('.view button')?.click()")
    for options in ({"format": "A4"}, {"format": "Letter"}, {"format": "A4", "landscape": True}):
        paper = await page.pdf(**options, prefer_css_page_size=True)
        sheets = PdfReader(io.BytesIO(paper)).pages
        assert len(sheets) > 1
        for sheet in sheets:
            text = " ".join(sheet.extract_text().split())
            assert [known for known in KNOWN if known not in text] == []


async def opening(run: Run) -> None:
    """Open whichever patient is named; all of them have names."""
    number = int(run.message.text.rpartition("_")[2])
    ids = tuple(f"patient_{each}" for each in range(1, number + 1))
    who = PatientIdentity(f"Given{number} Family{number}", "1960-01-01", "male")
    shown = state(
        run.conversation_id,
        patient_id=ids[-1],
        all_patient_ids=tuple(sorted(ids)),
        patient_count=number,
        patient=who,
    )
    run.emit(RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
    run.emit(StateChanged(state=shown))
    for event in spoken(f"{run.run_id}-m", "Opened."):
        run.emit(event)
    run.emit(RunFinished(outcome="success", timing=TurnTiming()))


async def test_the_first_twelve_patients_have_marks_that_stay(site: Site, browser: Browser) -> None:
    site.scheduler.script = opening
    page = await site.open(browser)
    seen: dict[str, str] = {}
    colour = "mark => getComputedStyle(mark).backgroundColor"
    for number in range(1, 13):
        await say(page, f"open patient_{number}")
        await expect(page.get_by_role("heading", level=1)).to_contain_text(f"patient_{number}")
        await idle(page)
        mark = page.locator("h1 .patient-mark")
        # Of patient_4 the records know more than this conversation.
        await expect(mark).to_have_text("AE" if number == 4 else "GF")
        seen[f"patient_{number}"] = await mark.evaluate(colour)
    assert len(set(seen.values())) == 12
    chip = page.get_by_role("button", name="Switch to patient_3 Given3 Family3")
    assert await chip.locator(".patient-mark").evaluate(colour) == seen["patient_3"]
    assert await violations(page) == []


async def test_a_message_begun_for_another_patient_is_stopped(site: Site, browser: Browser) -> None:
    site.scheduler.script = opening
    page = await site.open(browser)
    for number in (1, 2):
        await answered(page, f"open patient_{number}")
    message = page.get_by_role("textbox", name="Message")
    await message.fill("stop drug_1")
    await page.get_by_role("button", name="Switch to patient_1").click()
    await idle(page)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Family1")
    await message.press("Enter")
    asked = page.get_by_role("alert")
    await expect(asked).to_contain_text("you began this for Given2 Family2")
    await expect(asked).to_contain_text("Open now: Given1 Family1")
    assert "stop drug_1" not in [one.text for one in site.scheduler.messages]
    await expect(message).to_have_value("stop drug_1")
    assert await violations(page) == []
    await asked.get_by_role("button", name="Send it about Given1 Family1").click()
    await idle(page)
    assert site.scheduler.messages[-1].text == "stop drug_1"
