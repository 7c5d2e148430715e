"""The main job in the built page, in a real browser, on the real server with its offline rules."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Request, Route, ViewportSize, expect

from tests.e2e.server import Server, running_server
from tests.web.axe import violations
from tests.web.conftest import PATIENCE_MS, idle, say

pytestmark = pytest.mark.slow

AGENTS = ["Patient History", "Patient Status", "Radiology", "Pathology", "Report Creation"]
DESKTOP = ViewportSize(width=1280, height=800)
CANCEL = "@Secretary cancel the meeting"
# Violations are reported to the page itself; a page that breaks its own policy shows here.
_COLLECT = """
window.broken = [];
addEventListener("securitypolicyviolation", (event) =>
  window.broken.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@pytest.fixture(scope="module")
def server(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("web"), LLM_PROVIDER="offline") as running:
        yield running


@dataclass
class Visit:
    """A page of the server, and all that must not happen in it."""

    page: Page
    base: str
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

    async def assert_in_order(self) -> None:
        """No foreign request, no broken policy, no script error, no barrier."""
        strangers = [one for one in self.asked if not re.match(rf"{self.base}|data:|blob:", one)]
        assert strangers == []
        assert self.errors == []
        assert await self.page.evaluate("window.broken") == []
        assert await violations(self.page) == []


async def review(visit: Visit) -> None:
    page = visit.page
    heading = page.get_by_role("heading", level=1)
    await expect(page.get_by_text("No active patient")).to_be_visible()
    await page.get_by_role("button", name="start tumor board for patient_4").click()
    await expect(heading).to_contain_text("patient_4")
    confirm = page.get_by_role("button", name="Confirm")
    await expect(confirm).to_be_enabled()
    await visit.assert_in_order()
    await confirm.click()
    await idle(visit.page)
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    for agent in AGENTS:
        await expect(page.get_by_role("article").filter(has_text=agent).first).to_be_attached()
    await expect(page.get_by_role("link", name=re.compile(r"tumor-board-.*\.docx"))).to_be_visible()
    await visit.assert_in_order()


async def switch_and_clear(visit: Visit) -> None:
    page = visit.page
    heading = page.get_by_role("heading", level=1)
    await say(visit.page, "switch to patient_15")
    await expect(page.get_by_text("Switched to patient_15.").first).to_be_visible()
    await expect(heading).to_contain_text("patient_15")
    await expect(page.get_by_text("All steps of the plan are done.")).to_have_count(0)
    await idle(visit.page)
    await page.get_by_role("button", name="Switch to patient_4").click()
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    await idle(visit.page)
    await say(visit.page, "clear patient context")
    await expect(page.get_by_text("No active patient")).to_be_visible()
    await idle(visit.page)
    await visit.assert_in_order()


async def test_a_clinician_walks_through_the_page(server: Server, browser: Browser) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url)
    await visit.open()
    await review(visit)
    await switch_and_clear(visit)


async def test_the_report_comes_as_a_word_document(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url)
    await visit.open()
    await say(visit.page, "start tumor board for patient_15")
    await visit.page.get_by_role("button", name="Confirm").click()
    link = visit.page.get_by_role("link", name=re.compile(r"tumor-board-.*\.docx"))
    await expect(link).to_be_visible()
    async with visit.page.expect_download() as download:
        await link.click()
    saved = tmp_path / "report.docx"
    await (await download.value).save_as(saved)
    assert saved.read_bytes().startswith(b"PK")


async def test_words_said_before_connecting_are_not_lost(server: Server, browser: Browser) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url)

    async def late(route: Route) -> None:
        await asyncio.sleep(1.0)
        await route.continue_()

    await visit.page.route(re.compile(r"/api/chats/[^/]+$"), late)
    await visit.open()
    await say(visit.page, "switch to patient_15")
    await expect(visit.page.get_by_text("Switched to patient_15.").first).to_be_visible()


async def test_a_wish_before_any_patient_goes_on_and_a_patient_is_picked_by_button(
    server: Server, browser: Browser
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url)
    page = visit.page
    await visit.open()
    await say(visit.page, "what is the current stage?")
    await expect(page.get_by_text("Which patient is this for?").first).to_be_visible()
    await idle(visit.page)
    await page.reload()
    await expect(page.get_by_text("Not answered yet: “what is the current stage?”")).to_be_visible()
    await idle(visit.page)
    await say(visit.page, "patient_15")
    await expect(page.get_by_text("Stage: IIIA").first).to_be_visible()
    await idle(visit.page)
    bar = await page.get_by_role("banner").bounding_box()
    assert bar is not None
    assert bar["height"] < 110, "a long name breaks within itself"
    await say(visit.page, "compare the stage of patient_15 and patient_4")
    await page.get_by_role("button", name="No", exact=True).click()
    await idle(visit.page)
    await say(visit.page, "show me patient_15 and patient_4")
    await page.get_by_role("button", name="patient_4", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("patient_4")
    await idle(visit.page)
    await say(visit.page, "which appointments are there?")
    await idle(visit.page)
    await page.get_by_role("button", name="Memory").click()
    memory = page.get_by_role("dialog", name="Memory of patient_4")
    await expect(memory.get_by_text("list appointments")).to_be_visible()
    await expect(memory.get_by_text("nothing found")).to_be_visible()
    await visit.assert_in_order()


async def test_without_a_network_the_page_says_so_and_asks_for_nothing(
    server: Server, browser: Browser
) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    visit = Visit(await context.new_page(), server.url)
    await visit.open()
    await say(visit.page, "patient_4")
    await expect(visit.page.get_by_text("Switched to patient_4.").first).to_be_visible()
    await idle(visit.page)
    await context.set_offline(True)
    warning = visit.page.get_by_text("No connection: you can read but not send.")
    await expect(warning).to_be_visible()
    await visit.quiet()  # what was under way just then comes to its end
    asked = len(visit.asked)
    await visit.page.wait_for_timeout(2_600)  # one round of asking what happens elsewhere
    assert visit.asked[asked:] == []
    await context.set_offline(False)
    await expect(warning).to_have_count(0)
    await say(visit.page, "what is the current stage?")
    await expect(visit.page.get_by_text("Stage: IVB").first).to_be_visible()
    # The browser itself reports what was under way when the network went.
    visit.errors = [one for one in visit.errors if "ERR_INTERNET_DISCONNECTED" not in one]
    await visit.assert_in_order()


async def test_what_brings_a_clear_back_stays_when_the_page_reads_again(
    server: Server, browser: Browser
) -> None:
    visit = Visit(await browser.new_page(viewport=DESKTOP), server.url)
    await visit.open()
    for said in ("patient_4", "clear patient context"):
        await say(visit.page, said)
        await idle(visit.page)
    undo = visit.page.get_by_role("button", name="Undo the clear")
    await expect(undo).to_be_visible()

    # Of a turn before the clear, which the page no longer shows: an answer that came late.
    async def late(route: Route) -> None:
        await route.fulfill(json={"running_run_id": None, "last_run_id": "run_before"})

    is_chat = re.compile(r"/api/chats/[^/?]+$")
    async with visit.page.expect_response(lambda got: is_chat.search(got.url) is not None):
        await visit.page.route("**/progress", late)
    await idle(visit.page)
    await expect(undo).to_be_visible()


async def test_each_candidate_of_a_question_is_a_button_and_what_ran_is_shown(
    server: Server, browser: Browser
) -> None:
    page = await browser.new_page()
    await page.goto(server.url)
    for text in ("start with patient_15", "@Secretary what's on my calendar tomorrow?", CANCEL):
        await say(page, text)
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()
    question = page.get_by_role("region", name="Open question")
    await expect(question).to_contain_text("Which event do you mean?")
    choices = question.get_by_role("button")
    await expect(choices.last).to_have_text("None of these")
    chosen = await choices.nth(1).inner_text()
    await choices.nth(1).click()
    name = chosen.partition(". ")[2].partition(",")[0]
    await expect(question).to_contain_text(name)
    await expect(question.get_by_role("button", name="Yes")).to_be_visible()
    await question.get_by_role("button", name="Yes").click()
    await expect(page.get_by_text("Cancelled:").last).to_be_visible()

    await page.get_by_role("button", name="Memory").click()
    ran = page.get_by_role("dialog", name="Memory of patient_15")
    await expect(ran.get_by_role("heading", name="What ran")).to_be_visible()
    of_tool = page.locator(".memory-label", has_text="Cancel event")
    runs = ran.locator(".memory-item").filter(has=of_tool)
    await expect(runs).to_have_count(3)
    await expect(runs.nth(0)).to_contain_text("Cancelled:")
    await expect(runs.nth(0)).to_contain_text("for “yes”")
    await expect(runs.nth(2)).to_contain_text("failed")
    await expect(runs.nth(2)).to_contain_text(f"for “{CANCEL}”")
    await runs.nth(2).scroll_into_view_if_needed()
