"""A clinician's day at the page: where one writes, what is followed, printed and kept."""

import asyncio

import pytest
from playwright.async_api import Browser, Locator, Page, Route, ViewportSize, expect

from tests.given import present
from tests.web.conftest import Site, answered, idle, say
from tests.web.test_sign_in import sign_in

pytestmark = pytest.mark.slow

IS_AT_END = """() => {
  const box = document.querySelector('.middle');
  return box.scrollHeight - box.scrollTop - box.clientHeight < 80;
}"""
SCROLLED = "document.querySelector('.middle').scrollTop"
SMALL = ViewportSize(width=640, height=400)


def message_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


async def top_of(element: Locator) -> float:
    """Return how far below the window's top it stands."""
    return present(await element.bounding_box())["y"]


async def test_who_has_a_keyboard_writes_at_once(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await expect(message_box(page)).to_be_focused()
    await page.keyboard.type("history of patient_4")
    await page.keyboard.press("Enter")
    await idle(page)
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()


async def test_on_a_touch_screen_no_keyboard_is_opened(site: Site, browser: Browser) -> None:
    phone = await browser.new_context(
        viewport=ViewportSize(width=390, height=800), is_mobile=True, has_touch=True
    )
    page = await site.open(phone)
    await expect(message_box(page)).to_be_visible()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    assert await page.evaluate("document.activeElement === document.body")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the message box")).to_be_focused()


async def test_back_leads_to_the_conversation_before(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    first = page.url
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    assert page.url != first
    await page.go_back()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    assert page.url == first


async def test_what_is_being_written_stays_with_its_talk(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    await message_box(page).fill("half a thought")
    await page.get_by_role("button", name="New conversation").click()
    await expect(message_box(page)).to_have_value("")
    await page.go_back()
    await expect(message_box(page)).to_have_value("half a thought")


async def test_signing_in_again_loses_no_draft(locked_site: Site, browser: Browser) -> None:
    page = await locked_site.open(browser)
    await sign_in(page, "ada-key")
    await answered(page, "history of patient_4")
    await message_box(page).fill("half a thought")
    # The key is taken back: the server closes the socket as it does for one that has expired.
    for open_socket in list(locked_site.sockets()):
        await open_socket.close(code=4401)
    await page.get_by_role("button", name="Sign in again").click()
    await sign_in(page, "ada-key")
    await expect(message_box(page)).to_have_value("half a thought")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")


async def test_the_newest_question_stays_in_view_meanwhile(site: Site, browser: Browser) -> None:
    page = await site.open(await browser.new_context(viewport=ViewportSize(width=640, height=460)))
    await say(page, "start tumor board for patient_4")
    await page.get_by_role("button", name="Confirm").click()
    await idle(page)
    await expect(page.get_by_text("Write the tumor board report.").last).to_be_attached()
    middle = await top_of(page.locator(".middle"))
    asked = page.locator(".transcript > li").last
    await expect(asked).to_contain_text("confirm", ignore_case=True)
    assert 0 <= await top_of(asked) - middle <= 40
    assert not await page.evaluate(IS_AT_END), "the answer is longer than the window"


async def test_who_reads_at_the_end_follows_and_others_stay(site: Site, browser: Browser) -> None:
    page = await site.open(await browser.new_context(viewport=ViewportSize(width=640, height=460)))
    await say(page, "start tumor board for patient_4")
    await page.get_by_role("button", name="Confirm").click()
    await idle(page)
    await page.evaluate(f"{SCROLLED} = 1e9")
    await page.wait_for_function(IS_AT_END)
    await page.set_viewport_size(ViewportSize(width=640, height=440))
    await page.wait_for_function(IS_AT_END)
    await page.evaluate(f"{SCROLLED} = 0")
    await page.wait_for_function(f"() => {SCROLLED} === 0")
    await page.set_viewport_size(ViewportSize(width=640, height=480))
    assert await page.evaluate(SCROLLED) == 0


async def test_older_messages_do_not_move_what_is_read(site: Site, browser: Browser) -> None:
    page = await site.asked(await browser.new_context(viewport=SMALL), "history of patient_4")
    earlier = page.get_by_role("button", name="Show earlier messages")
    await expect(page.locator(".user-message").first).to_contain_text("question 4")
    await earlier.scroll_into_view_if_needed()
    kept = page.locator(".user-message").filter(has_text="question 4")
    place = await top_of(kept)
    await earlier.click()
    await expect(page.locator(".user-message").first).to_contain_text("question 2")
    assert abs(await top_of(kept) - place) < 80, "no further than the button's own height"


async def test_a_history_that_comes_late_stands_before_what_was_said_meanwhile(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    is_answered = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_answered.wait()
        await route.continue_()

    await page.route("**/messages?*", hold)
    await say(page, "history of patient_4")
    await expect(page.locator(".agent-message").last).to_be_visible()
    await idle(page)
    is_answered.set()
    await expect(page.locator(".user-message")).to_have_count(3)
    await expect(page.locator(".user-message").last).to_contain_text("history of patient_4")


async def test_the_whole_conversation_is_printed_with_its_sources_and_nothing_to_press(
    site: Site, browser: Browser
) -> None:
    page = await site.asked(await browser.new_context(viewport=SMALL), "history of patient_4")
    await page.emulate_media(media="print")
    box = "document.querySelector('.middle')"
    assert await page.evaluate(f"{box}.scrollHeight <= {box}.clientHeight + 1"), "all is laid out"
    await expect(page.get_by_role("textbox")).to_have_count(0)
    await expect(page.get_by_role("navigation")).to_have_count(0)
    await expect(page.get_by_role("button", name="Copy this answer")).to_have_count(0)
    header = "getComputedStyle(document.querySelector('.banner')).display"
    assert await page.evaluate(header) == "table-header-group", "on top of every page"
    sources = page.locator("details.sources").last
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    await expect(sources).to_have_attribute("open", "")
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    await expect(sources).not_to_have_attribute("open", "")


async def test_a_long_answer_is_read_out_without_marks_and_not_to_its_end(
    site: Site, browser: Browser
) -> None:
    page = await site.asked(browser, "history of patient_4")
    told = page.locator(".middle > [role=status]")
    await expect(told).to_contain_text("Patient History: Timeline of the recorded course")
    await expect(told).to_contain_text("The rest is in the conversation.")
    assert "**" not in await told.inner_text()
    assert len(await told.inner_text()) < 400


async def test_patients_stand_in_the_order_of_their_numbers(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    for number in (15, 4, 7):
        await answered(page, f"switch to patient_{number}")
        await expect(page.get_by_role("heading", level=1)).to_contain_text(f"patient_{number}")
    await answered(page, "switch to patient_100")
    chips = page.get_by_role("navigation", name="Other patients of this conversation").get_by_role(
        "button"
    )
    await expect(chips).to_contain_text(["patient_4", "patient_7", "patient_15"])


async def test_a_long_draft_is_seen_and_one_that_is_too_long_says_what_to_do(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    one_line = await message_box(page).evaluate("box => box.clientHeight")
    await message_box(page).fill("word " * 200)
    await page.wait_for_function(
        f"document.getElementById('message').clientHeight > {3 * one_line}"
    )
    await message_box(page).fill("word " * 3_400)
    await expect(
        page.get_by_text("17,000 of 16,000 characters: shorten it to send it")
    ).to_be_visible()
    await expect(page.get_by_role("button", name="Send")).to_be_disabled()
    box = present(await message_box(page).bounding_box())
    assert box["height"] < 300, "the conversation stays in view"
