"""How quick the page is, also in a conversation of 1,000 turns: `python -m bench.page`.

A scripted server and a real browser on this machine; medians of five, each row names what was
slowed down. Exits 1 if there are too many nodes; a missed time is shown and fails nothing.
"""

import asyncio
import statistics
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Browser, CDPSession, Page, ViewportSize, async_playwright, expect

from bench.figures import Figure, info, p95, table
from data_models.conversations.turn_events import (
    AgentMessageStarted,
    AgentTextDelta,
    RunFinished,
    RunStarted,
    TurnTiming,
)
from routes.server import WebAccess
from scripts.build_web import build
from services.access.authenticators import DevAuthenticator
from services.access.limits import OriginPolicy
from services.runs.hub import Run
from tests.peers import chromium_program
from tests.web.conftest import QUIET, Site, idle, say, serving
from tests.web.test_long_conversation import NODES, NODES_LIMIT, TURNS, read_all, turn

ROUNDS = 5
KEYS = 32
PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
NOW = "performance.now()"
# The rates of WebPageTest's "Slow 3G": 400 kbit/s each way, 400 ms there and back.
SLOW_3G = {
    "offline": False,
    "latency": 400,
    "downloadThroughput": 400_000 / 8,
    "uploadThroughput": 400_000 / 8,
}
TOKENS = 600
TOKENS_PER_SECOND = 200
# How long each frame took while an answer grew, in milliseconds.
FRAMES = """() => new Promise(done => {
  const frames = [];
  let before = performance.now();
  const note = now => {
    frames.push(now - before);
    before = now;
    const newest = document.querySelector('.transcript')?.lastElementChild;
    if (newest?.textContent.includes('token599end')) done(frames.slice(1));
    else requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
})"""


async def streamed(run: Run) -> None:
    """Say 200 tokens a second; a late one is made up for."""
    run.emit(RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
    run.emit(AgentMessageStarted(message_id=run.run_id, agent="Radiology"))
    started = asyncio.get_running_loop().time()
    for number in range(TOKENS):
        due = started + number / TOKENS_PER_SECOND
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        end = "end\n\n" if number % 40 == 39 else " "
        run.emit(AgentTextDelta(message_id=run.run_id, text=f"token{number}{end}"))
    run.emit(RunFinished(outcome="success", timing=TurnTiming()))


async def first_paint(site: Site, browser: Browser) -> float:
    """Return the milliseconds until a new page shows anything."""
    page = await site.open(await browser.new_context())
    await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    await page.evaluate(PAINTED)
    found = float(await page.evaluate(FIRST_PAINT))
    await page.context.close()
    return found


async def switched(page: Page, chat_id: str) -> float:
    """Return the milliseconds from the press of a conversation until its newest turn is drawn."""
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    started = float(await page.evaluate(NOW))
    await page.evaluate("id => { location.hash = `#/chats/${id}` }", chat_id)
    await page.wait_for_function("() => document.querySelectorAll('.transcript > li').length > 1")
    await page.evaluate(PAINTED)
    return float(await page.evaluate(NOW)) - started


async def usable(site: Site, browser: Browser) -> float:
    """Return the milliseconds on slow 3G, with an empty cache, until one can write a message."""
    context = await browser.new_context()
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", SLOW_3G)
    await page.goto(site.base, wait_until="commit")
    await page.wait_for_selector("#message")
    await page.evaluate(PAINTED)
    found = float(await page.evaluate(NOW))
    await context.close()
    return found


async def patient_switched(page: Page) -> float:
    """Return the milliseconds from Enter until the head and turns of patient_4 are drawn."""
    await say(page, "switch to patient_5")
    await expect(page.locator("h1.identity")).to_contain_text("patient_5")
    await idle(page)
    box = page.get_by_role("textbox", name="Message")
    await box.fill("switch to patient_4")
    started = float(await page.evaluate(NOW))
    await box.press("Enter")
    await page.wait_for_function(
        """() => document.querySelector('h1.identity').textContent.includes('patient_4')
          && document.querySelectorAll('.transcript > li').length > 100"""
    )
    await page.evaluate(PAINTED)
    took = float(await page.evaluate(NOW)) - started
    await idle(page)
    return took


@dataclass(frozen=True, slots=True)
class Frames:
    """While an answer came at 200 tokens a second: how long frames took, and their work.

    Attributes:
        work_ms: Of the page's thread for a frame, in its own processor time: what else the machine
            does is not in it.
    """

    p95_ms: float
    work_ms: float


async def frames_of(site: Site, page: Page) -> Frames:
    """Let an answer come, and return what its frames cost."""
    before, site.scheduler.script = site.scheduler.script, streamed
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    await say(page, "tell all")
    await page.wait_for_function("() => document.body.textContent.includes('token10 ')")
    started = await worked_ms(session)
    frames = [float(one) for one in await page.evaluate(FRAMES)]
    worked = await worked_ms(session) - started
    await session.detach()
    await idle(page)
    site.scheduler.script = before
    await page.get_by_role("button", name="New conversation").click()
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    return Frames(p95(frames), worked / len(frames))


async def worked_ms(session: CDPSession) -> float:
    """Return how long the page's thread has worked so far."""
    rows = (await session.send("Performance.getMetrics"))["metrics"]
    return next(float(row["value"]) * 1_000 for row in rows if row["name"] == "TaskDuration")


async def median_frames(measure: Callable[[], Awaitable[Frames]]) -> Frames:
    """Return the medians of five, after one that is not counted."""
    await measure()
    found = [await measure() for _ in range(ROUNDS)]
    return Frames(
        statistics.median(one.p95_ms for one in found),
        statistics.median(one.work_ms for one in found),
    )


async def keystroke(page: Page) -> float:
    """Return the milliseconds that one key takes until it is drawn, the mean of some."""
    box = page.get_by_role("textbox", name="Message")
    await box.fill("")
    took = await page.evaluate(
        """async ([keys]) => {
          const box = document.querySelector('textarea');
          const started = performance.now();
          for (let at = 0; at < keys; at += 1) {
            box.focus();
            document.execCommand('insertText', false, 'a');
            await new Promise(done => setTimeout(done));
            document.body.offsetHeight;
          }
          return (performance.now() - started) / keys;
        }""",
        [KEYS],
    )
    await box.fill("")
    return float(took)


async def median(measure: Callable[[], Awaitable[float]]) -> float:
    """Return the median of five, after one that is not counted."""
    await measure()
    return statistics.median([await measure() for _ in range(ROUNDS)])


async def measured() -> list[Figure]:
    """Measure everything; with 1,000 turns once the page has read all of them."""
    origins = OriginPolicy(allowed=(), public_host=None, loopback_only=True)
    access = WebAccess(authenticator=DevAuthenticator(operators=()), origins=origins)
    async with serving(access) as site, async_playwright() as playwright:
        program = str(chromium_program())
        browser = await playwright.chromium.launch(executable_path=program, args=[*QUIET])
        figures = [*await of_a_new_page(site, browser), *await of_many_turns(site, browser)]
        await browser.close()
    return figures


async def of_a_new_page(site: Site, browser: Browser) -> list[Figure]:
    """Measure what is seen before anything was said."""
    paint = await median(lambda: first_paint(site, browser))
    slow = await median(lambda: usable(site, browser))
    page = await wide_page(site, browser)
    frames = await median_frames(lambda: frames_of(site, page))
    await page.context.close()
    return [
        Figure("page", "first paint; not slowed", paint, "ms", 600),
        Figure("page", "usable; slow 3G: 400 kbit/s, 400 ms, empty cache", slow, "ms", 4_000),
        Figure("page", "frame at 200 tokens/s, p95; not slowed", frames.p95_ms, "ms", 20),
        info("page", "page's processor time of such a frame", frames.work_ms, "ms"),
    ]


async def of_many_turns(site: Site, browser: Browser) -> list[Figure]:
    """Measure what a conversation of 1,000 turns costs."""
    site.reader.page_turns = 200
    site.reader.turns = [turn(number) for number in range(1, TURNS + 1)]
    page = await wide_page(site, browser)
    await say(page, "history of patient_4")
    await idle(page)
    chat_id = page.url.rpartition("/")[2]
    opened = await median(lambda: switched(page, chat_id))
    await read_all(page, TURNS)
    patient = await median(lambda: patient_switched(page))
    frames = await median_frames(lambda: frames_of_many(site, page, chat_id))
    await switched(page, chat_id)
    await read_all(page, TURNS)
    key = await median(lambda: keystroke(page))
    nodes = float(await page.evaluate(NODES))
    return [
        Figure("page", "switch of the patient, 1,000 turns; not slowed", patient, "ms", 500),
        Figure("page", "switch of the conversation, 1,000 turns; not slowed", opened, "ms", 500),
        Figure(
            "page", "frame at 200 tokens/s, p95, 1,000 turns; not slowed", frames.p95_ms, "ms", 20
        ),
        info("page", "page's processor time of such a frame, 1,000 turns", frames.work_ms, "ms"),
        Figure("page", "a key, 1,000 turns; not slowed", key, "ms", 50),
        Figure("page", "nodes of 1,000 turns", nodes, "", NODES_LIMIT, kind="count"),
    ]


async def wide_page(site: Site, browser: Browser) -> Page:
    """Return a page in a window of its own."""
    window = ViewportSize(width=1280, height=800)
    return await site.open(await browser.new_context(viewport=window))


async def frames_of_many(site: Site, page: Page, chat_id: str) -> Frames:
    """Return the same as `frames_of` while the page has read all turns."""
    await switched(page, chat_id)
    await read_all(page, TURNS)
    return await frames_of(site, page)


def main() -> int:
    """Print the table."""
    build()
    figures = asyncio.run(measured())
    sys.stdout.write(table(figures) + "\n")
    return int(any(figure.is_missed and figure.kind == "count" for figure in figures))


if __name__ == "__main__":
    raise SystemExit(main())
