"""The ward round at the page of the whole server: a list, its cards, what is done on them."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.e2e.server import Server
from tests.services.rounds.charts_of_a_ward import canary, family, given, write_ward
from tests.web.axe import violations

pytestmark = pytest.mark.slow


@pytest.fixture
def app(built: None, tmp_path: Path) -> Iterator[str]:
    write_ward(tmp_path / "ward", 3)
    server = Server(
        folder=tmp_path,
        environment={"LLM_PROVIDER": "offline", "SAMPLES_DIR": str(tmp_path / "ward")},
    )
    server.start()
    yield server.url
    server.close()


def name(number: int) -> str:
    return f"{given(number)} {family(number)}"


async def prepared(app: str, page: Page) -> None:
    await page.goto(app)
    await page.get_by_role("link", name="Ward rounds").click()
    box = page.get_by_role("textbox", name="Patients, one a line")
    await box.fill(f"patient_1\n{name(2)}\npatient_3")
    await page.get_by_role("button", name="Prepare the round").click()
    await expect(page.get_by_text("3 of 3 prepared")).to_be_visible()


async def test_a_round_is_prepared_paged_ticked_and_noted(app: str, browser: Browser) -> None:
    page = await browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await prepared(app, page)
    row = page.get_by_role("link", name=re.compile(name(1)))
    await expect(row).to_contain_text("born 3 Feb 1941")
    await expect(row).to_contain_text("patient_1")
    await row.click()
    await page_through(page)
    await tick_and_note(page)
    await page.get_by_role("link", name="All patients").click()
    await expect(page.get_by_text("1 done")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_role("button", name="Same patients again").click()
    await expect(page.get_by_text("3 of 3 prepared")).to_be_visible()
    await expect(page.get_by_text("1 done")).to_have_count(0)
    await page.get_by_role("link", name="Back to the conversations").click()
    await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    assert errors == []


async def page_through(page: Page) -> None:
    for number in (1, 2, 3):
        head = page.get_by_role("heading", level=2)
        await expect(head).to_contain_text(f"{name(number)} · born 3 Feb {1940 + number}")
        card = page.get_by_role("article")
        await expect(card).to_contain_text(f"Admitted for {canary(number)}")
        text = await card.inner_text()
        assert [one for one in (1, 2, 3) if canary(one) in text] == [number]
        if number < 3:
            await page.get_by_role("link", name="Next").click()


async def tick_and_note(page: Page) -> None:
    await page.get_by_role("button", name="Tick off").click()
    await expect(page.get_by_role("button", name="Done: take the tick back")).to_be_visible()
    await page.get_by_role("textbox", name="New note").fill("Ask the daughter.")
    # The card is read anew late, and takes no word of the next note.
    shown = asyncio.Event()

    async def late(route: Route) -> None:
        if route.request.method == "GET":
            await shown.wait()
        await route.continue_()

    await page.route("**/api/rounds/**", late)
    async with page.expect_response(lambda found: found.request.method == "POST"):
        await page.get_by_role("button", name="Add the note").click()
    await page.get_by_role("textbox", name="New note").fill("And the son")
    shown.set()
    await expect(page.get_by_role("article")).to_contain_text("Ask the daughter.")
    await page.unroute("**/api/rounds/**")
    await expect(page.get_by_role("textbox", name="New note")).to_have_value("And the son")
    assert await violations(page) == []


async def test_what_nobody_is_called_makes_no_list_and_is_kept(app: str, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(f"{app}/#/rounds")
    box = page.get_by_role("textbox", name="Patients, one a line")
    await box.fill("patient_1\nNobody Here")
    await page.get_by_role("button", name="Prepare the round").click()
    await expect(page.get_by_role("alert")).to_contain_text("“Nobody Here”: nobody was found")
    await expect(box).to_have_value("patient_1\nNobody Here")
    await expect(page.get_by_text("No list yet.")).to_be_visible()


async def test_the_page_is_german_and_hands_over_after_i_pass(app: str, browser: Browser) -> None:
    german = await browser.new_context(locale="de-DE")
    page = await german.new_page()
    await page.goto(f"{app}/#/rounds")
    await page.get_by_role("textbox", name="Patienten, je Zeile einer").fill("patient_1")
    await page.get_by_role("button", name="Visite vorbereiten").click()
    await expect(page.get_by_text("1 von 1 vorbereitet")).to_be_visible()
    await page.get_by_role("link", name=re.compile(name(1))).click()
    await page.locator("summary").click()
    await page.get_by_role("textbox", name="Kollegin oder Kollege").fill("ben")
    await page.get_by_role("radio", name="zu beobachten").check()
    await page.get_by_role("textbox", name="Zusammenfassung").fill("Stabil.")
    await page.get_by_role("button", name="Übergeben", exact=True).click()
    await expect(page.get_by_text("Übergeben an ben").first).to_be_visible()
    assert await violations(page) == []
