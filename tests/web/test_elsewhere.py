"""A turn that runs on another server than the one this screen is connected to."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from services.runs.hub import Run
from tests.routes.fakes import FakeScheduler
from tests.web.conftest import Site, idle, say

pytestmark = pytest.mark.slow
ELSEWHERE = "Another server is answering."


async def test_a_screen_says_that_it_cannot_see_the_answer_yet(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody(*_: object, **__: object) -> None:
        return None

    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    monkeypatch.setattr(site.scheduler, "watch", nobody)
    other = await site.open(browser, page.url.removeprefix(site.base))
    await expect(other.get_by_text(ELSEWHERE)).to_be_visible()
    site.board.pause_seconds = 0.0
    await idle(page)
    await expect(other.get_by_text(ELSEWHERE)).to_have_count(0)
    assert site.errors == []


class FarScheduler:
    """Shows runs as a scheduler does that must ask another server first: late, and as a copy."""

    def __init__(self, scheduler: FakeScheduler) -> None:
        self._find = scheduler.watch
        self.answers = asyncio.Event()
        self._telling: list[asyncio.Task[None]] = []

    async def watch(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        real = await self._find(conversation_id, run_id, owner=owner)
        if real is None:
            return None
        shown = Run(run_id=run_id, message=real.message)
        self._telling.append(asyncio.create_task(self._tell(real, shown)))
        return shown

    async def _tell(self, real: Run, shown: Run) -> None:
        await self.answers.wait()
        async for _, event in real.events():
            shown.emit(event)


async def test_a_screen_shows_the_answer_as_it_grows_once_the_other_server_tells_it(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.board.pause_seconds = 0.5
    page = await site.open(browser)
    await say(page, "history of patient_4")
    stop = page.get_by_role("button", name="Stop")
    await expect(stop).to_be_visible()
    far = FarScheduler(site.scheduler)
    monkeypatch.setattr(site.scheduler, "watch", far.watch)
    other = await site.open(browser, page.url.removeprefix(site.base))
    await expect(other.get_by_text(ELSEWHERE)).to_be_visible()
    far.answers.set()
    await expect(other.get_by_text("history of patient_4")).to_be_visible()
    await expect(other.get_by_text(ELSEWHERE)).to_have_count(0)
    await expect(other.get_by_role("button", name="Stop")).to_be_visible()
    await expect(stop).to_be_visible()  # so it was seen before its end
    site.board.pause_seconds = 0.0
    await idle(page)
    await idle(other)
    texts = [await each.locator("main").inner_text() for each in (page, other)]
    assert texts[0] == texts[1]
    assert site.errors == []
