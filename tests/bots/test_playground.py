"""The bot in Microsoft's own client, in a real browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from data_models.clock import SystemClock
from data_models.plan import Plan, PlanStep
from data_models.turn_events import RunFinished, RunStarted, StateChanged, TurnTiming
from services.runs.hub import Run
from tests.bots.conftest import Bot
from tests.peers import running_playground
from tests.routes.fakes import answer, spoken, state
from tests.web.conftest import PATIENCE_MS

pytestmark = pytest.mark.slow


async def propose(run: Run) -> None:
    """Propose a plan to whoever starts; say what was understood to all others."""
    if run.message.press is not None or not run.message.text.startswith("start"):
        events = answer(run, f"Understood: {run.message.text}")
    else:
        now = SystemClock().now()
        step = PlanStep(number=1, agent="Radiology", text="Read the imaging")
        plan = Plan(plan_id="plan_1", run_id="r", steps=[step], created_at=now, updated_at=now)
        events = [
            RunStarted(run_id=run.run_id, conversation_id=run.conversation_id),
            StateChanged(state=state(run.conversation_id, plan=plan)),
            *spoken("m1", "I propose a plan."),
            RunFinished(outcome="interrupt", timing=TurnTiming()),
        ]
    for event in events:
        run.emit(event)


@pytest.fixture
async def page(bot: Bot, chromium: Path, tmp_path: Path) -> AsyncIterator[Page]:
    """The Playground's page, connected to the bot."""
    bot.scheduler.script = propose
    with ExitStack() as stack:
        playground = running_playground(tmp_path, endpoint=f"{bot.url}/api/messages")
        address = await asyncio.to_thread(stack.enter_context, playground)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            opened = await browser.new_page()
            opened.set_default_timeout(PATIENCE_MS)
            await opened.goto(address)
            yield opened
            await browser.close()


async def test_a_plan_is_confirmed_by_its_button(page: Page, bot: Bot) -> None:
    box = page.locator("[role=textbox][contenteditable=true]").first
    await box.wait_for()
    await box.click()
    await page.keyboard.type("start tumor board for patient_4")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("I propose a plan.", exact=True).first).to_be_visible()
    await expect(page.get_by_text("1. Radiology: Read the imaging").first).to_be_visible()
    await expect(page.get_by_text("PT_CTX").first).to_be_visible()
    await page.get_by_role("button", name="Confirm").first.click()
    await expect(page.get_by_text("Understood: Confirm", exact=True).first).to_be_visible()
    press = bot.scheduler.messages[-1].press
    assert press is not None
    assert (press.target_id, press.answer) == ("plan_1", "confirm")
