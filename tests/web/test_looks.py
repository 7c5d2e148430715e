"""Thirty states look as they did when somebody looked at them, and axe finds nothing there.

A picture that is not there is taken, and the test fails once: look at it before it is kept. To
take one anew, delete it. Pictures are small, so that fonts and clocks may differ a little.
"""

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.web.conftest import Site
from tests.web.test_accessibility import COLOURS, READING, faults_of

pytestmark = pytest.mark.slow
PICTURES = Path(__file__).parent / "pictures"
# Of a hundred small pixels so many may differ by more than a twelfth of all brightness.
DIFFER_LIMIT = 8.0
# Draws at a quarter of the size; with a second picture it tells how many pixels differ, in percent.
LOOK = (Path(__file__).parent / "scripts" / "look.js").read_text("utf-8")


def as_url(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


async def difference(beside: Page, seen: bytes, name: str) -> float:
    """Return how far `seen` is from the kept picture; keep it if there is none."""
    kept = PICTURES / f"{name}.webp"
    now = as_url(seen, "png")
    if kept.exists():
        found: float = await beside.evaluate(LOOK, [now, as_url(kept.read_bytes(), "webp")])
        return found
    small: str = await beside.evaluate(LOOK, [now, None])
    PICTURES.mkdir(exist_ok=True)
    kept.write_bytes(base64.b64decode(small.partition(",")[2]))
    return 100.0


@pytest.mark.parametrize("colours", COLOURS)
async def test_the_states_look_as_they_did(site: Site, browser: Browser, colours: str) -> None:
    given: dict[str, Any] = {"reduced_motion": "reduce", "locale": "en-GB", **COLOURS[colours]}
    page = await site.open(await browser.new_context(**given))
    beside = await browser.new_page()
    differ: dict[str, float] = {}
    faults: list[str] = []
    for view in READING:
        await page.bring_to_front()
        await view(site, page)
        await page.evaluate("document.querySelector('.middle').scrollTop = 0")
        await page.wait_for_timeout(300)
        seen = await page.screenshot(animations="disabled", caret="hide")
        name = f"{colours} {view.__name__}".replace(" ", "-")
        differ[name] = round(await difference(beside, seen, name), 2)
        await page.bring_to_front()
        faults += await faults_of(page, view, colours)
        await page.keyboard.press("Escape")
    assert len(differ) == 6
    assert faults == []
    assert {name: by for name, by in differ.items() if by > DIFFER_LIMIT} == {}, differ


async def test_a_changed_page_would_be_seen(site: Site, browser: Browser) -> None:
    page = await site.open(
        await browser.new_context(reduced_motion="reduce", locale="en-GB", color_scheme="light")
    )
    beside = await browser.new_page()
    await page.bring_to_front()
    await READING[0](site, page)
    await page.evaluate("document.querySelector('.welcome').style.fontSize = '200%'")
    await page.evaluate("document.querySelector('.welcome').style.textAlign = 'right'")
    seen = await page.screenshot(animations="disabled", caret="hide")
    assert await difference(beside, seen, "light-welcome") > DIFFER_LIMIT
