"""What one can do with an answer: judge it, ask again, go back to before its question."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.server import Server
from tests.routes.fakes import TURNS
from tests.web.axe import violations
from tests.web.conftest import Site, answered, idle

pytestmark = pytest.mark.slow


async def asked(site: Site, browser: Browser) -> Page:
    site.board.is_repeatable = True
    site.reader.turns = []
    return await site.asked(await browser.new_context(), "history of patient_4")


async def test_a_thumb_down_takes_a_reason_and_stays(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    await page.get_by_role("button", name="Bad answer").click()
    await expect(page.get_by_label("Wrong", exact=True)).to_be_focused()
    await page.get_by_label("Not supported by the record").check()
    await page.get_by_label("In your words (optional)").fill("There was no biopsy.")
    assert await violations(page) == []
    await page.get_by_role("group", name="What is wrong with it?").press("Escape")
    await expect(page.get_by_role("button", name="Bad answer", pressed=False)).to_be_focused()
    await page.keyboard.press("Enter")
    await page.get_by_label("Incomplete").check()
    await page.locator("form.why").get_by_role("button", name="Send").click()
    await expect(page.get_by_role("button", name="Bad answer", pressed=True)).to_be_focused()
    await expect(page.get_by_text("Thank you, noted.")).to_be_visible()
    # What was said before comes from the stored history.
    run_id = next(url for url in site.requested if "/feedback?" in url).split("/")[-2]
    site.reader.turns = [TURNS[0].model_copy(update={"run_id": run_id})]
    await page.reload()
    await expect(page.get_by_role("button", name="Bad answer", pressed=True)).to_be_visible()
    await page.get_by_role("button", name="Bad answer").click()
    await expect(page.get_by_label("Incomplete")).to_be_checked()
    await page.get_by_role("button", name="Good answer").click()
    await expect(page.get_by_role("button", name="Good answer", pressed=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Bad answer", pressed=True)).to_have_count(0)
    assert site.errors == []


async def test_a_thumb_is_taken_back(site: Site, browser: Browser) -> None:
    page = await asked(site, browser)
    good, bad = (page.get_by_role("button", name=f"{one} answer") for one in ("Good", "Bad"))
    for takes_back in (False, True, False):
        await good.click()
        told = page.get_by_text("Taken back." if takes_back else "Thank you, noted.")
        await expect(told).to_be_visible()
        await expect(good).to_have_attribute("aria-pressed", str(not takes_back).lower())
    run_id = next(url for url in site.requested if "/feedback?" in url).split("/")[-2]
    site.reader.turns = [TURNS[0].model_copy(update={"run_id": run_id})]
    await page.reload()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await bad.click()
    await page.get_by_label("Incomplete").check()
    await page.locator("form.why").get_by_role("button", name="Send").click()
    await expect(page.get_by_text("Thank you, noted.")).to_be_visible()
    await bad.click()
    await page.get_by_role("button", name="Take back").click()
    await expect(page.get_by_text("Taken back.")).to_be_visible()
    await page.reload()
    await expect(good).to_have_attribute("aria-pressed", "false")
    await expect(bad).to_have_attribute("aria-pressed", "false")
    assert site.errors == []


async def test_the_newest_answer_can_be_asked_for_again_about_the_same_patient(
    site: Site, browser: Browser
) -> None:
    page = await asked(site, browser)
    again = page.get_by_role("button", name="Ask again")
    await again.click()
    await idle(page)
    await expect(page.locator(".user-message")).to_have_count(2)
    await expect(again).to_have_count(1)
    first, second = site.scheduler.messages
    assert (first.text, second.text) == ("history of patient_4",) * 2
    assert second.seen_patient_id == "patient_4"
    site.board.is_repeatable = False
    await answered(page, "book the CT")
    await expect(again).to_have_count(0)


@pytest.fixture
def app(built: None, tmp_path: Path) -> Iterator[str]:
    server = Server(folder=tmp_path, environment={"LLM_PROVIDER": "offline"})
    server.start()
    yield server.url
    server.close()


async def test_the_steps_of_a_plan_stand_on_a_phone_once(app: str, browser: Browser) -> None:
    page = await (await browser.new_context(viewport={"width": 390, "height": 844})).new_page()
    await page.goto(app)
    await answered(page, "start tumor board for patient_4")
    steps = page.get_by_text("review the imaging reports and studies")
    await expect(steps.filter(visible=True)).to_have_count(1)
    await expect(page.get_by_role("region", name="Plan")).to_contain_text("Report Creation")
    await page.reload()
    await expect(page.get_by_role("region", name="Plan")).to_contain_text("Report Creation")
    await expect(steps.filter(visible=True)).to_have_count(1)
    await answered(page, "what are her allergies?")
    await expect(steps.filter(visible=True)).to_have_count(2)


async def test_what_ran_for_an_answer_stands_beside_it_after_a_reload(
    app: str, browser: Browser
) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(app)
    await answered(page, "open patient_4")
    await answered(page, "current meds")
    ran = page.locator("summary").filter(has_text="Medications")
    await expect(ran).to_contain_text("Patient Status · done")
    await page.reload()
    await expect(ran).to_contain_text("Patient Status · done")
    below = ran.locator("xpath=../following-sibling::article")
    await expect(below).to_contain_text("Osimertinib")


async def test_a_free_time_is_pressed_and_booked_after_a_yes_alone(
    app: str, browser: Browser
) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(app)
    for text in ("open patient_4", "I want to see Dr. Smith", "on Tuesday"):
        await answered(page, text)
    times = page.get_by_role("group", name="Free times").get_by_role("button")
    assert await times.count() > 1
    assert await violations(page) == []
    wanted = await times.nth(1).inner_text()
    await times.nth(1).click()
    await idle(page)
    await expect(page.locator(".user-message").last).to_contain_text(wanted)
    await expect(page.get_by_role("region", name="Question")).to_contain_text(wanted)
    await expect(times).to_have_count(0)


async def test_an_edited_question_goes_on_in_a_branch(app: str, browser: Browser) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(app)
    asked = ("open patient_4", "Which medications does she take?", "What allergies does she have?")
    for text in asked:
        await answered(page, text)
    old = page.url
    await page.get_by_role("button", name="Edit this message").nth(1).click()
    await expect(page.get_by_text("before its question 2")).to_be_visible()
    assert page.url != old
    await expect(page.get_by_role("textbox", name="Message")).to_have_value(asked[1])
    await expect(page.locator(".user-message")).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Margaret Anne Whitfield")
    assert await violations(page) == []
    await answered(page, "Which problems does she have?")
    await expect(page.locator(".user-message")).to_have_count(2)
    await expect(page.get_by_role("article").last).to_contain_text("hypertension")
    await page.get_by_role("button", name="Open that conversation").click()
    await expect(page.locator(".user-message")).to_have_count(3)
    assert page.url == old
