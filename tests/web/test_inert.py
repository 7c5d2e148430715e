"""Whatever a model writes stays text: nothing runs, nothing is fetched, nothing leads astray."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from data_models.chat_context import AgentMessage
from data_models.conversations import turn_events
from services.runs.hub import Run
from tests.routes.fakes import NOW
from tests.web.conftest import Site, idle, say
from tests.web.payloads import payloads

pytestmark = pytest.mark.slow
# What the page itself puts into an answer: copy buttons and a table's frame, by its own script.
FOREIGN = (Path(__file__).parent / "scripts" / "foreign.js").read_text("utf-8")


async def recite(run: Run) -> None:
    run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
    for number, text in enumerate(payloads()):
        message_id = f"{run.run_id}-{number}"
        run.emit(turn_events.AgentMessageStarted(message_id=message_id, agent="Radiology"))
        run.emit(turn_events.AgentTextDelta(message_id=message_id, text=text))
        message = AgentMessage(message_id=message_id, agent="Radiology", text=text, timestamp=NOW)
        run.emit(turn_events.AgentMessageFinished(message=message))
    run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))


async def test_two_hundred_payloads_do_nothing(site: Site, browser: Browser) -> None:
    site.scheduler.script = recite
    page = await site.open(browser)
    title = await page.title()
    await say(page, payloads()[0])
    await expect(page.get_by_role("article")).to_have_count(len(payloads()))
    await idle(page)
    assert len(payloads()) >= 200
    assert await page.evaluate(FOREIGN) == []
    assert await page.title() == title
    assert [url for url in site.requested if not url.startswith(site.base)] == []
    assert site.errors == []
    await expect(page.get_by_role("article").first).to_contain_text("<script>")
