"""Takes the README's pictures of the page anew: `python -m scripts.page_pictures`.

It starts a server of its own with the built-in rules and an empty folder, and needs Chromium.
"""

import asyncio
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from scripts.build_web import build
from scripts.workshop import ROOT

PICTURES = ROOT / "docs" / "images"
expect.set_options(timeout=20_000)
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
START_SECONDS = 60.0


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
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(text).last).to_be_visible()
    await idle(page)


async def idle(page: Page) -> None:
    """Wait until no turn runs."""
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)


async def keep(page: Page, name: str) -> None:
    """Store what is seen."""
    await idle(page)
    await page.screenshot(path=PICTURES / f"{name}.png")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run a server with the built-in rules; yield its address once it is ready."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    environment = {**os.environ, "PORT": str(port), "DATA_DIR": str(folder)}
    environment |= {"LLM_PROVIDER": "offline", "AUTH_MODE": "dev", "LOG_LEVEL": "ERROR"}
    server = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment)
    try:
        _wait(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait(port: int) -> None:
    """Return once the server is ready.

    Raises:
        TimeoutError: it is not within a minute.
    """
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        with suppress(OSError):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            line.request("GET", "/readyz")
            if line.getresponse().status == http.HTTPStatus.OK:
                return
        time.sleep(0.2)
    raise TimeoutError("the server is not ready")


async def _pictures(base: str) -> None:
    async with async_playwright() as playwright:
        program = shutil.which("chromium") or "/usr/bin/chromium"
        browser = await playwright.chromium.launch(executable_path=program, args=[*QUIET])
        await take(browser, base)
        await browser.close()


def main() -> None:
    """Take the pictures."""
    build()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as base:
        asyncio.run(_pictures(base))


if __name__ == "__main__":
    main()
