"""What the page costs: bytes and requests; `bench/page.py` measures the times."""

import gzip
import re
import sys

import pytest
from playwright.async_api import Browser, expect

from routes.static_client import DIST
from tests.web.conftest import Site, answered

pytestmark = pytest.mark.slow
LIMIT_BYTES = 120_000
REQUESTS_OF_HOME = 12
# That opens a patient: also who it is, their allergies, and what was begun to be written of them.
REQUESTS_OF_A_TURN = 7


def packed_bytes(page: str) -> dict[str, int]:
    """The scripts and styles that a page names, and what each costs on its way."""
    text = (DIST / page).read_text("utf-8")
    names = re.findall(r"/assets/([\w.-]+\.(?:js|css))", text)
    return {name: len(gzip.compress((DIST / "assets" / name).read_bytes())) for name in names}


@pytest.mark.parametrize("page", ["index.html", "operator.html"])
def test_each_page_is_small(built: None, page: str) -> None:
    sizes = packed_bytes(page)
    sys.stdout.write(f"{page}, packed: {sizes}\n")
    assert {name.rpartition(".")[2] for name in sizes} == {"js", "css"}
    assert sum(sizes.values()) <= LIMIT_BYTES


def test_who_chats_does_not_load_the_operators_page(built: None) -> None:
    own = set(packed_bytes("operator.html")) - set(packed_bytes("index.html"))
    assert any("operator" in name and name.endswith(".js") for name in own)


async def test_no_view_asks_for_more_than_it_shows(site: Site, browser: Browser) -> None:
    page = await site.open(browser)
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    await page.wait_for_load_state("networkidle")
    # What runs elsewhere is asked for again and again, by the clock.
    home = [url for url in site.requested if not url.endswith("/progress")]
    assert len(home) <= REQUESTS_OF_HOME, home
    await answered(page, "history of patient_4")
    await page.wait_for_load_state("networkidle")
    turn = [url for url in site.requested if not url.endswith("/progress")][len(home) :]
    assert len(turn) <= REQUESTS_OF_A_TURN, turn
