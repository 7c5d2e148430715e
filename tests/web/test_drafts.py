"""What was begun on one device is in the composer of another, for the patient it was begun for."""

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.web.axe import violations
from tests.web.conftest import PATIENCE_MS, Site, answered, idle

pytestmark = pytest.mark.slow


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


async def saved(page: Page, text: str) -> None:
    """Write something and wait until the server has it."""
    async with page.expect_response(
        lambda reply: reply.request.method == "PUT" and "/draft?" in reply.url
    ) as told:
        await box(page).fill(text)
    assert (await told.value).status == 204


async def test_a_second_device_goes_on_where_one_stopped(site: Site, browser: Browser) -> None:
    desk = await site.asked(await browser.new_context(), "history of patient_4")
    await saved(desk, "Is she still on warf")
    phone = await (await browser.new_context()).new_page()
    await phone.goto(desk.url)
    await expect(box(phone)).to_have_value("Is she still on warf")
    assert await violations(phone) == []
    await box(phone).press("Enter")
    await idle(phone)
    await expect(box(phone)).to_have_value("")
    await desk.reload()
    await expect(desk.locator("h1.identity")).to_contain_text("patient_4")
    await idle(desk)
    await expect(box(desk)).to_have_value("")


async def test_a_draft_of_one_patient_is_not_kept_for_another(site: Site, browser: Browser) -> None:
    page = await site.asked(await browser.new_context(), "history of patient_4")
    await saved(page, "about the first")
    other = await (await browser.new_context()).new_page()
    await other.goto(page.url)
    await expect(box(other)).to_have_value("about the first")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(f"{one.method} {one.url}"))
    # Opened from elsewhere: what is being written here stays what it was begun for.
    await answered(other, "switch to patient_5")
    async with page.expect_request(lambda one: one.method == "PUT", timeout=PATIENCE_MS):
        await box(page).fill("about the first, more")
    kept = [one for one in asked if one.startswith("PUT")]
    assert kept
    assert all("patient_id=patient_4" in one for one in kept)
