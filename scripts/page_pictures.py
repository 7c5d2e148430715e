"""Takes the README's pictures of the page anew: `python -m scripts.page_pictures`.

It starts a server of its own with the built-in rules and an empty folder, and needs Chromium.
"""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from scripts.build_web import build
from scripts.workshop import ROOT
from tests.e2e.server import running_server
from tests.peers import chromium_program
from tests.web.conftest import QUIET, idle
from tests.web.conftest import say as write

PICTURES = ROOT / "docs" / "images"
expect.set_options(timeout=20_000)


async def take(browser: Browser, base: str) -> None:
    """Walk through the tour and keep what is seen."""
    page = await opened(browser, base, width=1280, height=700)
    await say(page, "start tumor board for patient_4")
    await page.get_by_role("button", name="Edit steps").click()
    await page.get_by_role("checkbox").nth(1).uncheck()
    await page.get_by_role("button", name="Move Pathology up").click()
    await keep(page, "plan")
    await page.get_by_role("button", name="As proposed").click()
    await page.get_by_role("button", name="Confirm").click()
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    await idle(page)
    await source(page)
    await page.set_viewport_size({"width": 1280, "height": 560})
    await say(page, "switch to patient_15")
    await keep(page, "switch")
    await page.context.close()
    phone = await opened(browser, base, width=390, height=760, dark=True)
    await say(phone, "show the pathology of patient_15")
    await keep(phone, "phone")


async def source(page: Page) -> None:
    """Open the source of the stage beside the answer."""
    await page.set_viewport_size({"width": 1120, "height": 600})
    await say(page, "What is the current stage?")
    answer = page.get_by_role("article").last
    await answer.get_by_role("link", name="Source 1", exact=True).first.click()
    await expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()
    await keep(page, "source")
    await page.get_by_role("dialog").get_by_role("button", name="Close").click()


async def opened(
    browser: Browser, base: str, *, width: int, height: int, dark: bool = False
) -> Page:
    """Return the page in a window of its own."""
    context = await browser.new_context(
        viewport=ViewportSize(width=width, height=height),
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(base)
    return page


async def say(page: Page, text: str) -> None:
    """Write a message, send it and wait for the end of its turn."""
    await write(page, text)
    await expect(page.get_by_text(text).last).to_be_visible()
    await idle(page)


async def keep(page: Page, name: str) -> None:
    """Store what is seen."""
    await idle(page)
    await page.screenshot(path=PICTURES / f"{name}.png")


async def _pictures(base: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_program(), args=[*QUIET]
        )
        await take(browser, base)
        await browser.close()


def main() -> None:
    """Take the pictures."""
    build()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder), LLM_PROVIDER="offline", AUTH_MODE="dev") as server,
    ):
        asyncio.run(_pictures(server.url))


if __name__ == "__main__":
    main()
