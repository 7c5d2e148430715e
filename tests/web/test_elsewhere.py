"""A turn that runs on another server than the one this screen is connected to."""

import pytest
from playwright.async_api import Browser, expect

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
