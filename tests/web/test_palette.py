"""Everything is a few keys away, and no key does what was not seen."""

import asyncio

import pytest
from playwright.async_api import Browser, Locator, Page, Route, ViewportSize, expect

from tests.web.axe import violations
from tests.web.chart_scenes import ChartTalk
from tests.web.conftest import Site, idle, say
from tests.web.test_daily_work import message_box
from tests.web.test_identity import INSIDE, KNOWN, WINDOWS

pytestmark = pytest.mark.slow
AWAY = "document.activeElement.blur()"
# A key, and out of the box before the next paint as on a busy machine; where the focus is then.
WRITES_AND_LEAVES = """async box => {
    box.value = "/?";
    box.dispatchEvent(new Event("input", {bubbles: true}));
    await new Promise(done => queueMicrotask(() => queueMicrotask(done)));
    box.blur();
    await new Promise(done => setTimeout(done, 200));
    return document.activeElement.tagName;
}"""


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Patient, conversation or action")


async def go_to(page: Page, words: str) -> None:
    await page.keyboard.press("Control+k")
    await expect(field(page)).to_be_focused()
    await page.keyboard.type(words)


async def test_a_patient_a_conversation_and_an_action_are_found_by_keys(
    site: Site, browser: Browser
) -> None:
    page = await site.asked(browser, "history of patient_4")
    await go_to(page, "ben oth")
    ben = page.get_by_role("option", name="Ben Other")
    await expect(ben).to_contain_text("8 Jul 1961 · male · patient_15")
    await expect(ben).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_15")
    await expect(message_box(page)).to_be_focused()
    assert site.scheduler.messages[-1].text == "switch to patient_15"
    await idle(page)
    await go_to(page, "medicat")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("tab", name="Medications")).to_have_attribute(
        "aria-selected", "true"
    )
    await go_to(page, "new conv")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    unwritten = page.url
    await go_to(page, "")
    conversations = page.get_by_role("group", name="Conversations")
    await expect(conversations.get_by_role("option").last).to_be_visible()
    await page.keyboard.press("ArrowUp")  # from the first to the last
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    assert page.url != unwritten
    assert site.errors == []


async def test_what_is_wanted_again_before_its_end_opens(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    await go_to(page, "")
    # Both in one task: the end of a dialog is told in the next.
    await page.evaluate(
        """() => {
            document.querySelector("dialog").close();
            dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
        }"""
    )
    await page.evaluate("() => new Promise((told) => setTimeout(told, 200))")
    await expect(field(page)).to_be_focused()


async def test_enter_does_what_was_marked_before_the_finding(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    asked: asyncio.Future[Route] = asyncio.get_running_loop().create_future()

    async def hold(route: Route) -> None:
        asked.set_result(route)

    await page.route("**/api/patients?*", hold)
    await go_to(page, "e")
    await expect(page.get_by_role("option", name="New conversation")).to_have_attribute(
        "aria-selected", "true"
    )
    await (await asked).continue_()
    await expect(page.get_by_role("option", name="Ben Other")).to_be_visible()
    await expect(page.get_by_role("option", selected=True)).to_have_text("New conversation")
    await page.keyboard.press("Escape")
    await expect(message_box(page)).to_be_focused()


async def test_while_an_answer_comes_no_other_chart_is_opened(site: Site, browser: Browser) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await go_to(page, "ben")
    ben = page.get_by_role("option", name="Ben Other")
    await expect(ben).to_have_attribute("aria-disabled", "true")
    await ben.click(force=True)
    await page.keyboard.press("Enter")
    await expect(field(page)).to_be_visible()
    assert len(site.scheduler.messages) == 1


async def test_single_keys_act_only_where_nobody_writes_and_can_be_turned_off(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    await expect(message_box(page)).to_be_focused()
    await page.keyboard.type("/?")
    await expect(message_box(page)).to_have_value("/?")
    await page.evaluate(AWAY)
    await page.keyboard.press("/")
    await expect(message_box(page)).to_be_focused()
    await page.evaluate(AWAY)
    await page.keyboard.press("?")
    help_list = page.get_by_role("dialog", name="Shortcuts")
    await expect(help_list).to_contain_text("Ctrl K")
    await help_list.get_by_role("checkbox").uncheck()
    await page.keyboard.press("Escape")
    await expect(help_list).to_have_count(0)
    await page.keyboard.press("?")
    await page.keyboard.press("/")
    await expect(message_box(page)).not_to_be_focused()
    await go_to(page, "shortc")
    await page.keyboard.press("Enter")
    await expect(help_list.get_by_role("checkbox")).not_to_be_checked()
    assert await page.evaluate("Object.keys(localStorage)") == ["rounds.single-keys"]


async def test_who_leaves_the_box_right_after_a_key_is_not_brought_back(
    site: Site, browser: Browser
) -> None:
    page = await site.open(browser)
    await expect(message_box(page)).to_be_focused()
    assert await message_box(page).evaluate(WRITES_AND_LEAVES) == "BODY"
    await expect(message_box(page)).to_have_value("/?")


async def test_in_front_of_the_page_the_open_chart_is_named(site: Site, browser: Browser) -> None:
    site.scheduler.script = ChartTalk(reader=site.reader)
    page = await site.asked(
        await browser.new_context(reduced_motion="reduce"), "what is her potassium?"
    )
    await go_to(page, "e")
    await expect(page.get_by_role("option", name="Ben Other")).to_be_visible()
    found = await violations(page)
    for width, height in WINDOWS:
        await page.set_viewport_size(ViewportSize(width=width, height=height))
        found += [f"{width}x{height}: {no}" for no in await page.evaluate(INSIDE, list(KNOWN))]
    assert found == []


async def test_a_slash_offers_templates_and_an_at_who_answers(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    box, options = message_box(page), page.get_by_role("listbox", name="Suggestions")
    asked = len(site.scheduler.messages)
    await box.press_sequentially("/re")
    await expect(options.get_by_role("option")).to_have_count(3)
    assert await violations(page) == []
    await page.keyboard.press("ArrowDown")
    await expect(options.get_by_role("option", name="/remember")).to_have_attribute(
        "aria-selected", "true"
    )
    await page.keyboard.press("Enter")
    await expect(box).to_have_value("Remember that ")
    await expect(options).to_have_count(0)
    await box.press_sequentially("she lives alone, @radio")
    await options.get_by_role("option", name="@Radiology").click()
    await expect(box).to_have_value("Remember that she lives alone, @Radiology ")
    await expect(box).to_be_focused()
    assert len(site.scheduler.messages) == asked
    await box.fill("/no")
    await page.keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await page.keyboard.press("Enter")
    await idle(page)
    assert site.scheduler.messages[-1].text == "/no"
    await box.fill("mail ada@example.org")
    await expect(options).to_have_count(0)
    assert site.errors == []


async def test_what_is_marked_is_in_view_and_nothing_is_offered_for_a_whole_name(
    site: Site, browser: Browser
) -> None:
    page = await site.asked(browser, "history of patient_4")
    await page.set_viewport_size(ViewportSize(width=320, height=256))
    box, options = message_box(page), page.get_by_role("listbox", name="Suggestions")
    await box.fill("/")
    for _ in range(7):
        await page.keyboard.press("ArrowDown")
    await expect(options.locator("[aria-selected=true]")).to_be_in_viewport(ratio=0.9)
    await page.keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await box.press_sequentially("h")
    await expect(options.get_by_role("option")).to_have_count(2)
    await page.keyboard.press("Backspace")  # what was put away is offered anew
    await expect(options).to_be_visible()
    await box.fill("ask @radiolog")
    await expect(options).to_be_visible()
    await box.press_sequentially("y")
    await expect(options).to_have_count(0)
