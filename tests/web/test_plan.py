"""The plan as a card: changed before it runs, followed while it does."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.given import present
from tests.web.conftest import Site, idle, say
from tests.web.scenes import STEPS

pytestmark = pytest.mark.slow
# Notes every text of the card's heading and of its line for screen readers, however short.
WATCH = (Path(__file__).parent / "scripts" / "watch.js").read_text("utf-8")

READ = {"PatientHistory": "Patient History", "ReportCreation": "Report Creation"}
"""How names are shown that are one word where they are addressed."""


async def proposed(site: Site, browser: Browser | BrowserContext) -> Page:
    page = await site.open(browser)
    await page.get_by_role("button", name="start tumor board").click()
    await expect(page.get_by_role("button", name="Confirm")).to_be_enabled()
    return page


async def test_steps_are_reworded_dropped_and_moved_first(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    await page.get_by_role("button", name="Edit steps").click()
    await page.get_by_role("textbox", name="What Radiology does").fill("Look at the brain only")
    await page.get_by_role("checkbox", name="Pathology").uncheck()
    up = page.get_by_role("button", name="Move Radiology up")
    await up.focus()
    await page.keyboard.press("Enter")
    await expect(up).to_be_focused()
    await expect(page.get_by_text("Radiology is now step 1 of 4.")).to_be_attached()
    assert len(site.scheduler.messages) == 1, "nothing was sent yet"
    await page.get_by_role("button", name="Confirm with changes").click()
    await idle(page)
    press = present(site.scheduler.messages[-1].press)
    assert (press.target_id, press.steps) == ("plan_patient_4", (2, 1, 4))
    assert [(edit.number, edit.text) for edit in press.edits] == [(2, "Look at the brain only")]


async def test_an_unchanged_plan_is_confirmed_as_proposed(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    await page.get_by_role("button", name="Edit steps").click()
    await page.get_by_role("button", name="Move Radiology up").click()
    await page.get_by_role("button", name="As proposed").click()
    await page.get_by_role("button", name="Confirm", exact=True).click()
    await idle(page)
    press = present(site.scheduler.messages[-1].press)
    assert (press.answer, press.steps, press.edits) == ("confirm", None, ())


async def test_progress_is_told_step_by_step(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    await page.evaluate(WATCH)

    async def is_told(number: int) -> None:
        """Wait until the screen has shown the step: a slow one shows only what is left."""
        is_seen = f"() => window.told.some(one => one.startsWith('Step {number} '))"
        await page.wait_for_function(is_seen)

    site.board.at_step = is_told
    await page.get_by_role("button", name="Confirm").click()
    plan = page.get_by_role("region", name="Plan")
    await expect(plan.get_by_role("progressbar")).to_have_attribute("max", "4")
    await expect(plan).to_have_count(0)
    told: list[str] = await page.evaluate("window.told")
    assert [line for line in told if line.startswith("Plan")] == [
        f"Plan: {done} of 4 steps done" for done in range(4)
    ]
    assert [line for line in told if line.startswith("Step")] == [
        f"Step {number} of 4: {READ.get(agent, agent)} {text}"
        for number, (agent, text) in enumerate(STEPS, 1)
    ]


async def test_a_running_plan_is_a_line_that_opens(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    is_looked_at = asyncio.Event()

    async def hold(number: int) -> None:
        await is_looked_at.wait()

    site.board.at_step = hold
    await page.get_by_role("button", name="Confirm").click()
    plan = page.get_by_role("region", name="Plan")
    await expect(plan).to_contain_text("Step 1 of 4: Patient History")
    steps = plan.get_by_role("listitem")
    await expect(steps).to_have_count(0)
    await plan.locator("summary").press("Enter")
    await expect(steps).to_have_count(4)
    await expect(steps.nth(1)).to_contain_text("Radiology Review the imaging reports (to do)")
    is_looked_at.set()
    await expect(plan).to_have_count(0)


async def test_change_begins_a_sentence_and_cancel_says_so(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    field = page.get_by_role("textbox", name="Message")
    await field.fill("Written before")
    await page.get_by_role("button", name="Change").click()
    await expect(field).to_have_value("Written before\nChange the plan: ")
    await field.fill("")
    await page.get_by_role("button", name="Change").click()
    await expect(field).to_be_focused()
    await expect(field).to_have_value("Change the plan: ")
    await page.get_by_role("button", name="Cancel").click()
    await idle(page)
    press = present(site.scheduler.messages[-1].press)
    assert (press.target_id, press.answer) == ("plan_patient_4", "cancel")


async def test_a_plan_of_another_patient_is_not_offered(site: Site, browser: Browser) -> None:
    page = await proposed(site, browser)
    await say(page, "switch to patient_15")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_15")
    await expect(page.get_by_role("button", name="Confirm")).to_have_count(0)


async def test_nothing_lies_over_the_plan_on_a_small_phone(site: Site, browser: Browser) -> None:
    small = await browser.new_context(viewport={"width": 320, "height": 568})
    page = await proposed(site, small)
    heading = page.get_by_role("heading", name="Proposed plan")
    at = present(await heading.bounding_box())
    point = [at["x"] + at["width"] * 0.9, at["y"] + at["height"] / 2]
    shown = await page.evaluate("([x, y]) => document.elementFromPoint(x, y).textContent", point)
    assert shown == "Proposed plan"


# A notice is the system's: its double keeps what would be shown. The page is out of view.
UNSEEN = """
window.told = [];
window.Notification = class {
  static requestPermission() { return Promise.resolve("granted"); }
  constructor(title, options) { window.told.push(`${title}: ${options.body}`); }
};
Object.defineProperty(document, "hidden", { get: () => true });
"""


@pytest.mark.parametrize(
    ("is_wanted", "told"), [(True, ["Rounds: A plan has ended."]), (False, [])]
)
async def test_the_end_of_a_plan_is_told_to_who_wants_it_and_looks_elsewhere(
    site: Site, browser: Browser, is_wanted: bool, told: list[str]
) -> None:
    context = await browser.new_context()
    await context.add_init_script(UNSEEN)
    page = await proposed(site, context)
    if is_wanted:
        await page.get_by_role("button", name="Appearance").click()
        await page.get_by_role("checkbox", name="Notify me").check()
        await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Confirm", exact=True).click()
    await idle(page)
    assert await page.evaluate("window.told") == told
    assert site.errors == []
