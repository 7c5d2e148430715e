"""The server is killed in mid-answer: the page says so at that message, which is asked again."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.server import Server
from tests.fakes_openai import FakeOpenAI, RecordedRequest, Reply
from tests.fakes_openai_brain import structured_answer
from tests.web.conftest import say

pytestmark = pytest.mark.slow
TOLD_WITHIN_MS = 15_000
STOPPED = "The server stopped while it answered this message"
ASKED = "Please tell me how she is doing, at length"


def talk(request: RecordedRequest) -> Reply:
    """Say long sentences about nothing of the record."""
    if "response_format" in request.body:
        return Reply(text=structured_answer(request.body))
    return Reply(
        text="I will look into that for you. " + "".join(map("Row {}. ".format, range(600))),
        chunk_chars=30,
    )


@pytest.mark.parametrize("reloads", [False, True])
async def test_a_killed_answer_is_told_at_its_message_and_asked_again(
    built: None, browser: Browser, tmp_path: Path, reloads: bool
) -> None:
    async with FakeOpenAI(brain=talk) as model:
        given = {"LLM_PROVIDER": "openai", "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "k"}
        server = Server(folder=tmp_path, environment=given)
        await asyncio.to_thread(server.start)
        try:
            page = await browser.new_page()
            await page.goto(server.url)
            await say(page, "start with patient_4")
            await expect(page.get_by_role("heading", level=1)).to_contain_text("Whitfield")
            await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
            model.pace = 10.0
            await say(page, ASKED)
            asked = page.get_by_role("listitem").filter(has_text=ASKED)
            await expect(asked).to_contain_text("I will look into that")
            server.kill()
            await asyncio.to_thread(server.start)
            if reloads:
                await page.reload()
            await expect(asked).to_contain_text(STOPPED, timeout=TOLD_WITHIN_MS)
            await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
            model.pace = None
            await asked.get_by_role("button", name="Ask again").click()
            again = page.get_by_role("listitem").filter(has_text=ASKED).last
            await expect(again).to_contain_text("I will look into that for you.")
        finally:
            server.close()
