"""The worklist on the page: who is seen today, whom one pins, and the way to them by keyboard."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from routes.requests.context import CONTEXT
from services.records.resources.entry import Entry
from tests.routes.fakes import FakePeople
from tests.web.axe import violations
from tests.web.conftest import Site, idle

pytestmark = pytest.mark.slow


def seen_today(site: Site, patient_id: str, reason: str) -> None:
    """Give the patient an appointment of today, at half past nine."""
    worklist = site.runner.app[CONTEXT].worklist
    assert worklist is not None
    assert isinstance(worklist.days, FakePeople)
    start = f"{datetime.now(UTC).date()}T09:30:00Z"
    raw = {"subject": {"reference": f"Patient/{patient_id}"}, "start": start, "description": reason}
    worklist.days.visits.append(Entry(f"Appointment/{patient_id}", "Appointment", raw))


def home(page: Page) -> Locator:
    return page.get_by_role("region", name="Patients of today")


def beside(page: Page) -> Locator:
    return page.get_by_role("region", name="Today", exact=True)


async def pinning(page: Page, button: Locator, *, by: str) -> None:
    """Press it with `by`, and wait until the server has it."""
    async with page.expect_response(
        lambda reply: reply.request.method in ("PUT", "DELETE") and "/worklist/" in reply.url
    ) as told:
        await button.press(by)
    assert (await told.value).status == 204


async def test_today_is_there_and_a_pinned_patient_is_opened_by_keyboard_after_a_reload(
    site: Site, browser: Browser
) -> None:
    seen_today(site, "patient_4", "Restaging")
    page = await site.open(browser)
    for place in (home(page), beside(page)):
        row = place.get_by_role("list", name="Today").get_by_role("listitem")
        await expect(row).to_have_count(1)
        for text in ("09:30", "Ada Example", "3 Feb 1950", "patient_4", "Restaging"):
            await expect(row).to_contain_text(text)
    await pinning(page, home(page).get_by_role("button", name="Pin Ada Example"), by="Space")
    await expect(home(page).get_by_role("button", name="Unpin Ada Example")).to_be_focused()
    assert await violations(page) == []
    await page.reload()
    await expect(home(page).get_by_role("button", name="Unpin Ada Example")).to_be_visible()
    await home(page).get_by_role("button", name="09:30 Ada Example").focus()
    await page.keyboard.press("Enter")
    await idle(page)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    await expect(home(page)).to_have_count(0)


async def test_without_appointments_the_list_says_so_and_keeps_whom_one_pins(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    await expect(home(page)).to_contain_text(
        "No appointments today. Pin patients to keep them here."
    )
    finder = page.get_by_role("textbox", name="Find a patient")
    await finder.fill("ada")
    await page.get_by_role("search").get_by_role("button", name="Ada Example").press("Enter")
    await idle(page)
    banner = page.get_by_role("banner")
    await pinning(page, banner.get_by_role("button", name="Pin patient_4"), by="Enter")
    await expect(banner.get_by_role("button", name="Unpin patient_4")).to_be_visible()
    pinned = beside(page).get_by_role("list", name="Pinned").get_by_role("listitem")
    await expect(pinned).to_contain_text("Ada Example")
    assert await violations(page) == []
    await pinning(page, pinned.get_by_role("button", name="Unpin Ada Example"), by="Enter")
    await expect(pinned).to_have_count(0)
    await expect(beside(page).get_by_role("heading", name="Today")).to_be_focused()
