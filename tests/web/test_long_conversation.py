"""Many turns: few of them are drawn, all of them are found, printed and reached."""

import io
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, ViewportSize, expect
from pypdf import PdfReader

from data_models.chat_context import AgentMessage, Turn
from tests.amounts import amount
from tests.routes.fakes import NOW
from tests.web.axe import violations
from tests.web.conftest import Site, in_the_loop_of_the_run
from tests.web.scenes import HISTORY

pytestmark = [pytest.mark.slow, pytest.mark.large]
TURNS = amount(by_day=300, by_night=1_000)
MIDDLE = TURNS // 2
NODES_LIMIT = 15_000
NODES = """() => {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  let count = 1;
  while (walker.nextNode()) count += 1;
  return count;
}"""
IS_DRAWN = """() => {
  const box = document.querySelector('.middle').getBoundingClientRect();
  const item = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return item !== null && item.closest('.turn.away') === null;
}"""
TOP = "document.querySelector('.middle').scrollTop"


def turn(number: int) -> Turn:
    """One long answer, of another word each."""
    said = AgentMessage(
        message_id=f"m{number}",
        agent="Orchestrator",
        text=f"{HISTORY}\n\nword{number}end",
        timestamp=NOW,
    )
    return Turn(
        turn_id=number,
        run_id=f"run_of_{number}",
        timestamp=NOW,
        user="Ada",
        user_message=f"question {number}",
        agent_responses=[said],
        turn_status="COMPLETED",
    )


async def read_all(page: Page, count: int) -> None:
    """Read back to the first message."""
    earlier = page.get_by_role("button", name="Show earlier messages")
    items = page.locator(".transcript > li")
    before = await items.count()
    while before < count:
        await earlier.evaluate("button => button.click()")
        await expect(items).not_to_have_count(before)
        before = await items.count()


@in_the_loop_of_the_run
async def long_page(site: Site, browser: Browser) -> AsyncIterator[Page]:
    site.reader.page_turns = TURNS // 5
    site.reader.turns = [turn(number) for number in range(1, TURNS + 1)]
    page = await site.asked(
        await browser.new_context(viewport=ViewportSize(width=1280, height=800)),
        "history of patient_4",
    )
    await read_all(page, TURNS + 1)
    yield page
    await page.context.close()


async def test_many_turns_are_few_nodes_wherever_one_reads(long_page: Page) -> None:
    counted = [int(await long_page.evaluate(NODES))]
    for share in (0.0, 0.33, 0.66, 1.0):
        await long_page.evaluate(
            f"{TOP} = document.querySelector('.middle').scrollHeight * {share}"
        )
        await expect(long_page.locator(".transcript > li:not(.away)").nth(2)).to_be_attached()
        await long_page.wait_for_function(IS_DRAWN)  # what is looked at
        counted.append(int(await long_page.evaluate(NODES)))
    assert max(counted) <= NODES_LIMIT, counted
    assert await violations(long_page) == []


async def test_what_is_not_drawn_is_found_by_the_browsers_own_search(long_page: Page) -> None:
    found = long_page.locator(".transcript > li").nth(MIDDLE - 1)
    await expect(found).to_have_class("turn away")
    hidden = found.locator("[hidden='until-found']")
    await expect(hidden).to_contain_text(f"word{MIDDLE}end")
    # As the browser does before it shows what its search found.
    await hidden.dispatch_event("beforematch", {"bubbles": True})
    await expect(found.get_by_role("article")).to_contain_text(f"word{MIDDLE}end")


async def test_paper_holds_every_turn(site: Site, browser: Browser) -> None:
    site.reader.page_turns = TURNS // 5
    site.reader.turns = [turn(number) for number in range(1, 41)]
    page = await site.asked(browser, "history of patient_4")
    await read_all(page, 41)
    await expect(page.locator(".transcript > li.away").first).to_be_attached()
    paper = await page.pdf(format="A4", prefer_css_page_size=True)
    text = " ".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(paper)).pages)
    assert [number for number in range(1, 41) if f"word{number}end" not in text] == []
    await expect(page.locator(".transcript > li.away").first).to_be_attached()
