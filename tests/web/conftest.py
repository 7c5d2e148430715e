"""The built page, a server around a scripted scheduler, and a real browser.

The browser is one for all tests, in the loop of the run: to start one costs more than most tests.
Each test's windows are closed behind it; windows share nothing, as each is a context of its own.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from data_models.clock import SystemClock
from routes.server import WebAccess, create_runner, create_web_app
from routes.static_client import StaticClient
from routes.streams.following import OPEN_SOCKETS, OpenSockets
from scripts.build_web import build
from services.access.authenticators import DevAuthenticator
from services.access.limits import OriginPolicy
from tests.fakes import CountingIds
from tests.peers import chromium_program
from tests.routes.conftest import make_context
from tests.routes.conftest import web_access as keys_access
from tests.routes.fakes import FakeReader, FakeScheduler
from tests.web.scenes import Team, TumorBoard

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--in-process-gpu",
    "--disable-extensions",
    "--disable-site-isolation-trials",
)
HERE = Path(__file__).parent
in_the_loop_of_the_run = pytest_asyncio.fixture(loop_scope="session")
# The machine may be busy with other tests.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
# What happened just now is on the screen a frame later; a page behind another draws none.
DRAWN = """() => new Promise(done => {
  setTimeout(done, 1_000);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
})"""


@pytest.fixture(scope="session")
def built() -> None:
    """The client, built from the sources as they are now."""
    build()


@dataclass
class Site:
    """A running server and what browsers asked of whom."""

    base: str
    scheduler: FakeScheduler
    board: TumorBoard
    runner: web.AppRunner
    reader: FakeReader
    requested: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def sockets(self) -> OpenSockets:
        return self.runner.app[OPEN_SOCKETS]

    async def open(self, browser: Browser | BrowserContext, path: str = "/") -> Page:
        """Open a page and note what it asks for and what goes wrong in it."""
        page = await browser.new_page()
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        await page.goto(self.base + path)
        return page

    async def asked(self, browser: Browser | BrowserContext, text: str) -> Page:
        """Open a page on which `text` was said and answered."""
        page = await self.open(browser)
        await answered(page, text)
        return page


async def say(page: Page, text: str) -> None:
    """Write a message and send it."""
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")


async def idle(page: Page) -> None:
    """Wait until no turn runs, not even the one that was asked for just now."""
    await page.evaluate(DRAWN)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)


async def answered(page: Page, text: str) -> None:
    """Write a message, send it, and wait for the end of its turn."""
    await say(page, text)
    await idle(page)


@asynccontextmanager
async def serving(access: WebAccess, client: StaticClient | None = None) -> AsyncIterator[Site]:
    """Serve the page behind `access`; `client` instead of the one that was built."""
    board = TumorBoard()
    scheduler = FakeScheduler(clock=SystemClock(), ids=CountingIds(), script=board)
    context = make_context(scheduler, team=Team())
    reader = context.reader
    assert isinstance(reader, FakeReader)
    app = create_web_app(context=context, access=access, client=client)
    runner = create_runner(app, handshake_seconds=10.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield Site(f"http://127.0.0.1:{runner.addresses[0][1]}", scheduler, board, runner, reader)
    await scheduler.close()
    await runner.cleanup()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of this folder run in the loop that their browser lives in."""
    for item in items:
        if item.path.is_relative_to(HERE) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@in_the_loop_of_the_run
async def site(built: None) -> AsyncIterator[Site]:
    origins = OriginPolicy(allowed=(), public_host=None, loopback_only=True)
    access = WebAccess(authenticator=DevAuthenticator(operators=()), origins=origins)
    async with serving(access) as served:
        yield served


@in_the_loop_of_the_run
async def locked_site(built: None) -> AsyncIterator[Site]:
    """A site that lets in who shows `ada-key`."""
    async with serving(keys_access()) as served:
        yield served


@pytest.fixture(scope="session")
def chromium() -> str:
    return str(chromium_program())


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium, args=[*QUIET])
        yield launched
        await launched.close()


@in_the_loop_of_the_run
async def browser(running_browser: Browser) -> AsyncIterator[Browser]:
    yield running_browser
    for context in running_browser.contexts:
        await context.close()
