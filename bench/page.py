"""How quick the page is in a conversation of 1,000 turns: `python -m bench.page`.

A scripted server and a real browser on this machine, nothing throttled; medians of five. Exits 1 if
there are too many nodes; a missed time is shown and fails nothing.
"""

import asyncio
import statistics
import sys
from collections.abc import Awaitable, Callable

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from bench.figures import Figure, table
from routes.server import Door
from scripts.build_web import build
from services.access.dev import DevAuthenticator
from services.access.origin import OriginPolicy
from tests.peers import chromium_program
from tests.web.conftest import QUIET, Site, idle, say, serving
from tests.web.test_long_conversation import NODES, NODES_LIMIT, TURNS, read_all, turn

ROUNDS = 5
KEYS = 32
PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
NOW = "performance.now()"


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
    """Measure everything once the page has read all turns."""
    origins = OriginPolicy(allowed=(), public_host=None, loopback_only=True)
    door = Door(authenticator=DevAuthenticator(operators=()), origins=origins)
    async with serving(door) as site, async_playwright() as playwright:
        site.reader.page_turns = 200
        site.reader.turns = [turn(number) for number in range(1, TURNS + 1)]
        program = str(chromium_program())
        browser = await playwright.chromium.launch(executable_path=program, args=[*QUIET])
        paint = await median(lambda: first_paint(site, browser))
        window = ViewportSize(width=1280, height=800)
        page = await site.open(await browser.new_context(viewport=window))
        await say(page, "history of patient_4")
        await idle(page)
        chat_id = page.url.rpartition("/")[2]
        switch = await median(lambda: switched(page, chat_id))
        await read_all(page, TURNS)
        key = await median(lambda: keystroke(page))
        nodes = float(await page.evaluate(NODES))
        await browser.close()
    return [
        Figure("page", "first paint", paint, "ms", 600),
        Figure("page", "switch to a conversation of 1,000 turns", switch, "ms", 500),
        Figure("page", "a key, with 1,000 turns on the page", key, "ms", 50),
        Figure("page", "nodes of 1,000 turns", nodes, "", NODES_LIMIT, kind="count"),
    ]


def main() -> int:
    """Print the table."""
    build()
    figures = asyncio.run(measured())
    sys.stdout.write(table(figures) + "\n")
    return int(any(figure.is_missed and figure.kind == "count" for figure in figures))


if __name__ == "__main__":
    raise SystemExit(main())
