"""What is dictated stands in the draft, where an operator has switched it on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.e2e.server import Server
from tests.fakes_speech import FakeSpeech, running_speech
from tests.web.axe import violations
from tests.web.conftest import QUIET, Site, answered, in_the_loop_of_the_run

pytestmark = pytest.mark.slow
MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@in_the_loop_of_the_run
async def speech() -> AsyncIterator[FakeSpeech]:
    async with running_speech() as served:
        yield served


@in_the_loop_of_the_run
async def app(built: None, speech: FakeSpeech, tmp_path: Path) -> AsyncIterator[str]:
    given = {"LLM_PROVIDER": "offline", "SPEECH_URL": speech.url, "SPEECH_API_KEY": "k"}
    server = Server(folder=tmp_path, environment=given)
    await asyncio.to_thread(server.start)
    yield server.url
    server.close()


@in_the_loop_of_the_run
async def speaker(chromium: str) -> AsyncIterator[Browser]:
    """A browser with a microphone into which something is always said."""
    async with async_playwright() as playwright:
        args = [*QUIET, *MICROPHONE]
        launched = await playwright.chromium.launch(executable_path=chromium, args=args)
        yield launched
        await launched.close()


async def test_dictated_words_are_added_to_the_draft_and_sent_by_nobody_else(
    app: str, speech: FakeSpeech, speaker: Browser
) -> None:
    page = await speaker.new_page()
    await page.goto(app)
    message = page.get_by_role("textbox", name="Message")
    await message.fill("patient_4:")
    await page.get_by_role("button", name="Dictate").click()
    await expect(page.get_by_text("Listening. Only you send the message.")).to_be_visible()
    assert await violations(page) == []
    await page.wait_for_timeout(500)
    await page.get_by_role("button", name="Stop dictating").click()
    await expect(message).to_have_value("patient_4: What is the current stage?")
    [(kind, size, model, key)] = speech.heard
    assert (kind, model, key) == ("audio/webm", "whisper-1", "Bearer k")
    assert size > 0
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    assert await page.get_by_role("article").count() == 0
    speech.status = 500
    await page.get_by_role("button", name="Dictate").click()
    await page.get_by_role("button", name="Stop dictating").click()
    await expect(page.get_by_role("alert")).to_contain_text("Your draft is as it was")
    await expect(message).to_have_value("patient_4: What is the current stage?")


async def test_what_was_spoken_of_one_patient_is_sent_to_no_other_unasked(
    app: str, speech: FakeSpeech, speaker: Browser
) -> None:
    page = await speaker.new_page()
    await page.goto(app)
    await answered(page, "open patient_4")
    await page.get_by_role("button", name="Dictate").click()
    await expect(page.get_by_role("button", name="Stop dictating")).to_be_visible()
    message = page.get_by_role("textbox", name="Message")
    await message.fill("switch to patient_7")
    await message.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_7")
    await page.get_by_role("button", name="Stop dictating").click()
    await expect(message).to_have_value("What is the current stage?")
    turns = await page.get_by_role("article").count()
    await message.press("Enter")
    asked = page.get_by_role("alert").filter(has_text="patient_4")
    await expect(asked.get_by_role("button", name="patient_7")).to_be_visible()
    assert await page.get_by_role("article").count() == turns


async def test_without_a_microphone_one_is_told_what_to_do(app: str, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(app)
    await page.get_by_role("button", name="Dictate").click()
    await expect(page.get_by_role("alert")).to_contain_text("The browser gives no microphone.")


# The words go to the maker of the browser: its own double stands for what is out of reach here.
HEARD_BY_THE_MAKER = """
class Heard {
  start() {
    window.heard = this;
    const heard = (text) => Object.assign([{ transcript: text }], { isFinal: true });
    const results = [heard(" What is "), heard("the current stage? ")];
    setTimeout(() => this.onresult({ resultIndex: 0, results }), 100);
  }
  stop() { this.onend(); }
  abort() { this.isAborted = true; }
}
window.SpeechRecognition = window.webkitSpeechRecognition = Heard;
"""


async def ends_with_its_chart(page: Page) -> None:
    """What is being said when another chart opens is not written into a message about it."""
    await page.reload()
    await page.get_by_role("button", name="Dictate").click()
    await expect(page.get_by_role("button", name="Stop dictating")).to_be_visible()
    await page.get_by_role("textbox", name="Message").fill("open patient_4")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    await expect(page.get_by_role("button", name="Dictate")).to_be_visible()
    assert await page.evaluate("window.heard.isAborted")


async def test_the_browser_writes_down_what_is_said_and_says_that_the_sound_leaves(
    built: None, browser: Browser, tmp_path: Path
) -> None:
    given = {"LLM_PROVIDER": "offline", "SPEECH_BROWSER": "true"}
    server = Server(folder=tmp_path, environment=given)
    await asyncio.to_thread(server.start)
    try:
        page = await (await browser.new_context()).new_page()
        await page.add_init_script(HEARD_BY_THE_MAKER)
        reply = await page.goto(server.url)
        assert reply is not None
        assert "microphone=(self)" in reply.headers["permissions-policy"]
        message = page.get_by_role("textbox", name="Message")
        await message.fill("patient_4:")
        await page.get_by_role("button", name="Dictate").click()
        await expect(
            page.get_by_text("The sound leaves for the maker of this browser.")
        ).to_be_visible()
        await expect(message).to_have_value("patient_4: What is the current stage?")
        await page.get_by_role("button", name="Stop dictating").click()
        await expect(page.get_by_role("button", name="Dictate")).to_be_visible()
        assert await page.get_by_role("article").count() == 0
        await page.get_by_role("button", name="Dictate").click()
        await page.evaluate("window.heard.onerror({ error: 'network' })")
        await expect(page.get_by_role("alert")).to_contain_text("Please type.")
        await ends_with_its_chart(page)
    finally:
        server.close()


async def test_nobody_is_offered_dictation_where_it_is_off(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await expect(page.get_by_role("button", name="Send")).to_be_visible()
    await expect(page.get_by_role("button", name="Dictate")).to_have_count(0)
