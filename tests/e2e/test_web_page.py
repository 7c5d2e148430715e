"""The main job in the built page, in a real browser, on the real server with its offline rules."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import (
    Browser,
    Page,
    Request,
    Route,
    ViewportSize,
    async_playwright,
    expect,
)

from scripts.build_web import build
from tests.e2e.server import Server, running_server
from tests.peers import node_module
from tests.web.conftest import DRAWN, PATIENCE_MS, QUIET

pytestmark = pytest.mark.slow

AGENTS = ["PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation"]
DESKTOP, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
_SERIOUS = ("serious", "critical")
# Violations are reported to the page itself; a page that breaks its own policy shows here.
_COLLECT = """
window.broken = [];
addEventListener("securitypolicyviolation", (event) =>
  window.broken.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    build()
    with running_server(tmp_path_factory.mktemp("web"), LLM_PROVIDER="offline") as running:
        yield running


@pytest.fixture
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium, args=[*QUIET])
        yield launched
        await launched.close()


@dataclass
class Visit:
    """A page of the server, and all that must not happen in it."""

    page: Page
    base: str
    pictures: Path
    asked: list[str] = field(default_factory=list)
    under_way: set[Request] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    async def open(self) -> None:
        self.page.on("request", self._begun)
        self.page.on("requestfinished", self._ended)
        self.page.on("requestfailed", self._ended)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda line: self._note(line.type, line.text))
        await self.page.add_init_script(_COLLECT)
        await self.page.goto(self.base)

    def _begun(self, request: Request) -> None:
        self.asked.append(request.url)
        self.under_way.add(request)

    def _ended(self, request: Request) -> None:
        self.under_way.discard(request)

    async def quiet(self) -> None:
        """Wait until every request has come to its end."""
        async with asyncio.timeout(PATIENCE_MS / 1_000):
            while self.under_way:  # noqa: ASYNC110 - playwright tells it by a callback
                await asyncio.sleep(0.05)

    def _note(self, kind: str, text: str) -> None:
        if kind == "error":
            self.errors.append(text)

    async def say(self, text: str) -> None:
        await self.page.get_by_role("textbox", name="Message").fill(text)
        await self.page.keyboard.press("Enter")

    async def idle(self) -> None:
        await self.page.evaluate(DRAWN)
        await expect(self.page.get_by_role("button", name="Stop")).to_have_count(0)

    async def picture(self, name: str) -> None:
        await self.page.screenshot(path=self.pictures / f"{name}.png")

    async def assert_in_order(self) -> None:
        """No foreign request, no broken policy, no script error, no barrier."""
        strangers = [one for one in self.asked if not re.match(rf"{self.base}|data:|blob:", one)]
        assert strangers == []
        assert self.errors == []
        assert await self.page.evaluate("window.broken") == []
        assert await serious_barriers(self.page) == []


async def serious_barriers(page: Page) -> list[str]:
    """Return what axe finds that would keep somebody out."""
    # As an expression: the page's policy lets no script element in.
    await page.evaluate((node_module("axe-core", "axe") / "axe.min.js").read_text("utf-8"))
    found: dict[str, Any] = await page.evaluate("axe.run()")
    return [
        f"{row['id']}: {row['nodes'][0]['html']}"
        for row in found["violations"]
        if row["impact"] in _SERIOUS
    ]


async def review(visit: Visit, name: str) -> None:
    page = visit.page
    heading = page.get_by_role("heading", level=1)
    await expect(page.get_by_text("No active patient")).to_be_visible()
    await visit.picture(f"{name}-1-welcome")
    await page.get_by_role("button", name="start tumor board for patient_4").click()
    await expect(heading).to_contain_text("patient_4")
    confirm = page.get_by_role("button", name="Confirm")
    await expect(confirm).to_be_enabled()
    await visit.picture(f"{name}-2-plan")
    await visit.assert_in_order()
    await confirm.click()
    await visit.idle()
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    for agent in AGENTS:
        await expect(page.get_by_role("article").filter(has_text=agent).first).to_be_attached()
    await expect(page.get_by_role("link", name=re.compile(r"tumor-board-.*\.docx"))).to_be_visible()
    await visit.picture(f"{name}-3-done")
    await visit.assert_in_order()


async def switch_and_clear(visit: Visit, name: str) -> None:
    page = visit.page
    heading = page.get_by_role("heading", level=1)
    await visit.say("switch to patient_15")
    await expect(page.get_by_text("Switched to patient_15.").first).to_be_visible()
    await expect(heading).to_contain_text("patient_15")
    await expect(page.get_by_text("All steps of the plan are done.")).to_have_count(0)
    await visit.idle()
    await visit.picture(f"{name}-4-switched")
    await page.get_by_role("button", name="Switch to patient_4").click()
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    await visit.idle()
    await visit.say("clear patient context")
    await expect(page.get_by_text("No active patient")).to_be_visible()
    await visit.idle()
    await visit.picture(f"{name}-5-cleared")
    await visit.assert_in_order()


@pytest.mark.parametrize(
    ("name", "viewport", "dark"),
    [("desktop", DESKTOP, False), ("desktop-dark", DESKTOP, True), ("phone", PHONE, False)],
)
async def test_a_clinician_walks_through_the_page(
    server: Server, browser: Browser, tmp_path: Path, name: str, viewport: ViewportSize, dark: bool
) -> None:
    context = await browser.new_context(viewport=viewport, color_scheme="dark" if dark else "light")
    visit = Visit(await context.new_page(), server.url, tmp_path)
    await visit.open()
    await review(visit, name)
    await switch_and_clear(visit, name)
    width = await visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]


async def test_the_report_comes_as_a_word_document(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url, tmp_path)
    await visit.open()
    await visit.say("start tumor board for patient_15")
    await visit.page.get_by_role("button", name="Confirm").click()
    link = visit.page.get_by_role("link", name=re.compile(r"tumor-board-.*\.docx"))
    await expect(link).to_be_visible()
    async with visit.page.expect_download() as download:
        await link.click()
    saved = tmp_path / "report.docx"
    await (await download.value).save_as(saved)
    assert saved.read_bytes().startswith(b"PK")


async def test_words_said_before_the_page_is_connected_are_not_lost(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url, tmp_path)

    async def late(route: Route) -> None:
        await asyncio.sleep(1.0)
        await route.continue_()

    await visit.page.route(re.compile(r"/api/chats/[^/]+$"), late)
    await visit.open()
    await visit.say("switch to patient_15")
    await expect(visit.page.get_by_text("Switched to patient_15.").first).to_be_visible()


async def test_a_wish_before_any_patient_goes_on_and_a_patient_is_picked_by_button(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url, tmp_path)
    page = visit.page
    await visit.open()
    await visit.say("what is the current stage?")
    await expect(page.get_by_text("Which patient is this for?").first).to_be_visible()
    await visit.idle()
    await visit.say("patient_15")
    await expect(page.get_by_text("Stage: IIIA").first).to_be_visible()
    await visit.idle()
    bar = await page.get_by_role("banner").bounding_box()
    assert bar is not None
    assert bar["height"] < 80, "a long name breaks within itself"
    await visit.say("compare the stage of patient_15 and patient_4")
    await page.get_by_role("button", name="No", exact=True).click()
    await visit.idle()
    await visit.say("show me patient_15 and patient_4")
    await page.get_by_role("button", name="patient_4", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    await visit.idle()
    await visit.say("which appointments are there?")
    await visit.idle()
    await page.get_by_role("button", name="Memory").click()
    memory = page.get_by_role("dialog", name="Memory of patient_4")
    await expect(memory.get_by_text("list appointments")).to_be_visible()
    await expect(memory.get_by_text("nothing found")).to_be_visible()
    await visit.assert_in_order()


async def test_without_a_network_the_page_says_so_and_asks_for_nothing(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url, tmp_path)
    await visit.open()
    await visit.say("patient_4")
    await expect(visit.page.get_by_text("Switched to patient_4.").first).to_be_visible()
    await visit.idle()
    await context.set_offline(True)
    warning = visit.page.get_by_text("No connection: you can read but not send.")
    await expect(warning).to_be_visible()
    await visit.quiet()  # what was under way just then comes to its end
    asked = len(visit.asked)
    await visit.page.wait_for_timeout(2_600)  # one round of asking what happens elsewhere
    assert visit.asked[asked:] == []
    await context.set_offline(False)
    await expect(warning).to_have_count(0)
    await visit.say("what is the current stage?")
    await expect(visit.page.get_by_text("Stage: IVB").first).to_be_visible()
    # The browser itself reports what was under way when the network went.
    visit.errors = [one for one in visit.errors if "ERR_INTERNET_DISCONNECTED" not in one]
    await visit.assert_in_order()
