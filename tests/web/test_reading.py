"""Finding, copying and taking along what was said."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from tests.web.conftest import Site, idle

pytestmark = pytest.mark.slow


async def test_search_reads_back_to_the_first_message(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("searchbox").fill("QUESTION 1")
    await expect(page.get_by_text("1 turn found")).to_be_visible()
    found = page.get_by_role("list", name="Conversation")
    await expect(found.get_by_text("question 1 # not a title")).to_be_visible()
    await expect(found.get_by_text("question 2")).to_have_count(0)
    await page.wait_for_function("() => CSS.highlights.get('search')?.size === 1")
    await page.get_by_role("searchbox").fill("no such word")
    await expect(page.get_by_text("Nothing found.")).to_be_visible()
    await page.keyboard.press("Escape")
    turns = page.get_by_role("list", name="Conversation").locator("> li")
    await expect(turns).to_have_count(6)
    asked = await page.locator(".user-message").all_inner_texts()
    wanted = [f"question {number}" for number in range(1, 6)] + ["history of patient_4"]
    assert all(words in text for words, text in zip(wanted, asked, strict=True)), asked


async def test_answers_code_and_tables_are_copied(site: Site, browser: Browser) -> None:
    context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = await site.asked(context, "history of patient_4")
    answer = page.get_by_role("article").last
    read = "navigator.clipboard.readText()"
    await answer.get_by_role("button", name="Copy this answer").click()
    await expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert (await page.evaluate(read)).startswith("**Timeline**")
    await answer.get_by_role("button", name="Copy table").click()
    await page.wait_for_function(f"async () => (await {read}).startsWith('Date\\tEvent\\n')")
    await answer.get_by_role("button", name="Copy code").click()
    await page.wait_for_function(f"async () => (await {read}).trim() === 'cT2a cN2 cM0'")


@pytest.mark.parametrize(
    ("form", "ending", "begins"),
    [("Markdown", "md", b"# Conversation"), ("Word", "docx", b"PK"), ("JSON", "json", b"{")],
)
async def test_a_patients_conversation_is_exported(
    site: Site, browser: Browser, form: str, ending: str, begins: bytes
) -> None:
    page = await site.asked(browser, "history of patient_4")
    await page.get_by_text("Export", exact=True).click()
    async with page.expect_download() as downloaded:
        await page.get_by_role("link", name=form).click()
    saved = await downloaded.value
    assert saved.suggested_filename == f"rounds-patient_4.{ending}"
    path = await saved.path()
    assert (await asyncio.to_thread(path.read_bytes)).startswith(begins)


async def test_the_main_job_is_done_without_a_pointer(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    await page.keyboard.type("start tumor board for patient_4")
    await page.keyboard.press("Enter")
    confirm = page.get_by_role("button", name="Confirm")
    await expect(confirm).to_be_enabled()
    for _ in range(12):
        await page.keyboard.press("Shift+Tab")
        if await confirm.evaluate("button => button === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    await idle(page)
    press = site.scheduler.messages[-1].press
    assert press is not None
    assert press.answer == "confirm"
    told = page.locator(".middle > [role=status]")
    await expect(told).to_contain_text("Report Creation: Write the tumor board report.")
