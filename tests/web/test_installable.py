"""The page can be installed and opens without a connection, with nothing of a patient kept."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import Browser, BrowserContext, Page, expect

from routes.server import WebAccess
from routes.static_client import DIST, StaticClient
from services.access.authenticators import DevAuthenticator
from services.access.limits import OriginPolicy
from tests.web.axe import violations
from tests.web.conftest import Site, answered, serving
from tests.web.test_cost import packed_bytes

pytestmark = pytest.mark.slow
# Every path and every text of what the browser keeps for the page.
KEPT = (Path(__file__).parent / "scripts" / "kept.js").read_text("utf-8")
CONTROLLED = "() => navigator.serviceWorker.controller !== null"


def open_access(*frame_ancestors: str) -> WebAccess:
    origins = OriginPolicy(allowed=(), public_host=None, loopback_only=True)
    everybody = DevAuthenticator(operators=())
    return WebAccess(authenticator=everybody, origins=origins, frame_ancestors=frame_ancestors)


async def with_worker(site: Site, context: BrowserContext) -> Page:
    """Return the page once its worker is in force and has kept what it keeps."""
    page = await site.open(context)
    await page.wait_for_function(CONTROLLED)
    await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    return page


async def test_the_browser_may_install_it(site: Site, browser: Browser) -> None:
    context = await browser.new_context()
    page = await with_worker(site, context)
    tools = await context.new_cdp_session(page)
    found = await tools.send("Page.getAppManifest")
    assert found["errors"] == []
    manifest = json.loads(found["data"])
    for icon in manifest["icons"]:
        reply = await context.request.get(site.base + icon["src"])
        assert (reply.status, reply.headers["content-type"]) == (200, icon["type"])
    missing = await tools.send("Page.getInstallabilityErrors")
    # Where nothing may be installed, as in a window that leaves no trace, that is all there is.
    assert [one["errorId"] for one in missing["installabilityErrors"]] in ([], ["in-incognito"])
    worker = await context.request.get(f"{site.base}/worker.js")
    assert worker.headers["cache-control"] == "no-cache"
    assert worker.headers["content-type"].startswith("text/javascript")
    assert site.errors == []


async def test_what_is_kept_is_the_page_and_of_no_patient(site: Site, browser: Browser) -> None:
    page = await with_worker(site, await browser.new_context())
    await answered(page, "history of patient_4")
    await page.reload()  # under the worker from the first byte
    await expect(page.get_by_text("answer 5").last).to_be_visible()
    kept = await page.evaluate(KEPT)
    assert set(kept) > {"/", *(f"/assets/{name}" for name in packed_bytes("index.html"))}
    assert [path for path in kept if path != "/" and not path.startswith("/assets/")] == []
    assert kept["/"] == (DIST / "index.html").read_text("utf-8")
    assert site.errors == []


async def test_without_a_connection_the_page_says_so_and_opens_again_by_itself(
    site: Site, browser: Browser
) -> None:
    context = await browser.new_context()
    page = await with_worker(site, context)
    await answered(page, "history of patient_4")
    await context.set_offline(True)
    await page.reload()
    await expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
    await expect(page.get_by_text("patient_4")).to_have_count(0)
    assert await violations(page) == []
    await context.set_offline(False)
    await expect(page.get_by_text("answer 5").last).to_be_visible()


async def test_a_new_version_is_seen_at_the_next_load_and_nothing_of_the_old_one_is_kept(
    built: None, browser: Browser, tmp_path: Path
) -> None:
    shutil.copytree(DIST, tmp_path, dirs_exist_ok=True)
    client = StaticClient(tmp_path)
    async with serving(open_access(), client) as site:
        page = await with_worker(site, await browser.new_context())
        index, style = (
            tmp_path / "index.html",
            next(name for name in packed_bytes("index.html") if name.endswith(".css")),
        )
        (tmp_path / "assets" / style).rename(tmp_path / "assets" / "new.css")
        new = index.read_text("utf-8").replace(style, "new.css").replace("<title>", "<title>New ")
        index.write_text(new, "utf-8")
        client.load()
        await page.reload()
        await expect(page).to_have_title("New Rounds")
        await expect(page.get_by_role("textbox", name="Message")).to_be_visible()
        kept = f"async () => {{ const kept = await ({KEPT})(); return kept['/'].includes('New') }}"
        await page.wait_for_function(kept)
        paths = set(await page.evaluate(KEPT))
        assert "/assets/new.css" in paths
        assert f"/assets/{style}" not in paths
        # Its server is away, and the network is there.
        await site.runner.cleanup()
        await page.reload()
        await expect(page.get_by_role("alert")).to_contain_text("Rounds cannot be reached")
        await expect(page).to_have_title("New Rounds")


@asynccontextmanager
async def record_system() -> AsyncIterator[tuple[str, list[str]]]:
    """Serve a page that frames what is put into the list."""
    framed: list[str] = []

    async def show(_: web.Request) -> web.Response:
        body = f'<iframe width="900" height="600" src="{framed[-1]}"></iframe>'
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", show)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", framed
    await runner.cleanup()


async def test_what_a_record_system_frames_starts_no_worker_and_meets_none(
    built: None, browser: Browser
) -> None:
    async with record_system() as (outer, framed), serving(open_access(outer)) as site:
        framed.append(f"{site.base}/")
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(outer)
        message = page.frame_locator("iframe").get_by_role("textbox", name="Message")
        await expect(message).to_be_visible()
        begun = "navigator.serviceWorker.getRegistrations().then(all => all.length)"
        assert await page.frames[1].evaluate(begun) == 0
        await with_worker(site, context)
        await page.reload()
        await expect(message).to_be_visible()
        assert site.errors == []
