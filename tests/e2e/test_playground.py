"""The bot in the channel's own client: Agents Playground, in a real browser."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.e2e.server import Server, running_server
from tests.peers import running_playground
from tests.web.conftest import PATIENCE_MS, QUIET

pytestmark = pytest.mark.slow

TURN_MS = PATIENCE_MS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("bot"), LLM_PROVIDER="offline") as running:
        yield running


@pytest.fixture(params=["emulator", "msteams"])
async def page(
    request: pytest.FixtureRequest, server: Server, chromium: Path, tmp_path: Path
) -> AsyncIterator[Page]:
    endpoint = f"{server.url}/api/messages"
    with running_playground(tmp_path, endpoint=endpoint, channel=request.param) as address:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=[*QUIET])
            opened = await browser.new_page(viewport={"width": 1280, "height": 900})
            opened.set_default_timeout(PATIENCE_MS)
            await opened.goto(address)
            yield opened
            await browser.close()


async def say(page: Page, text: str) -> None:
    box = page.locator("[role=textbox][contenteditable=true]")
    await box.click()
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def shown(page: Page, text: str) -> None:
    await expect(page.get_by_text(text).last).to_be_visible(timeout=TURN_MS)


async def test_a_clinician_walks_through_in_the_playground(
    page: Page, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_teams = "msteams" in request.node.name
    example = page.get_by_role("button", name="start tumor board for patient_4")
    await example.click(timeout=TURN_MS)
    await shown(page, "Shall I go ahead with this plan?")
    confirm = page.get_by_role("button", name="Confirm")
    await expect(confirm).to_be_visible(timeout=TURN_MS)
    await page.screenshot(path=tmp_path / "1-plan.png")
    await confirm.click()
    if not is_teams:  # there the plan's card says which step runs
        await shown(page, "Step 1 of 5:")
    await shown(page, "All steps of the plan are done.")
    await shown(page, "All steps are done.")
    if is_teams:
        # Text while it was written, sources that open, and thumbs.
        await shown(page, "looks something up")
        await expect(page.locator(".fai-Citation").last).to_be_visible(timeout=TURN_MS)
    await page.screenshot(path=tmp_path / "2-done.png")
    await say(page, "switch to patient_15")
    await shown(page, "Switched to patient_15.")
    await expect(page.get_by_text(re.compile(r"patient_15.*\(active\)")).last).to_be_visible()
    await page.screenshot(path=tmp_path / "3-switched.png")
    await page.get_by_role("button", name="switch to patient_4").last.click(timeout=TURN_MS)
    await shown(page, "Switched to patient_4.")
    await say(page, "clear patient context")
    await shown(page, "No active patient.")
    await page.screenshot(path=tmp_path / "4-cleared.png")
