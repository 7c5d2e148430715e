"""A record system starts the server as it is deployed, with a patient of the samples."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import orjson
import pytest

from data_models.clock import SystemClock
from tests.e2e.server import ROOT, Server
from tests.peers import free_port
from tests.routes.ehr import Ehr
from tests.routes.provider import CLIENT, SECRET, query_of

pytestmark = pytest.mark.slow


def settings_for(ehr: Ehr, base: str) -> dict[str, str]:
    return {
        "AUTH_MODE": "oidc",
        "PUBLIC_BASE_URL": base,
        "OIDC_ISSUER": ehr.issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "SMART_ISSUERS": ehr.fhir,
        "SMART_CLIENT_ID": CLIENT,
        "SMART_CLIENT_SECRET": SECRET,
        "FRAME_ANCESTORS": "https://ehr.example",
        "ALLOWED_OUTBOUND_NETWORKS": "127.0.0.0/8",
        "BOT_ENDPOINTS": "false",
    }


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        yield client


@pytest.fixture
async def ehr(tmp_path: Path) -> AsyncIterator[tuple[Ehr, str]]:
    """A record system with Margaret Whitfield open, and the address of the server beside it."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    ehr = Ehr(clock=SystemClock(), redirect_uri=f"{base}/smart/callback")
    await ehr.server.start_server()
    sample = orjson.loads((ROOT / "samples" / "patients" / "patient_4.json").read_bytes())
    resources = [row["resource"] for row in sample["entry"]]
    (theirs,) = [one for one in resources if one["resourceType"] == "Patient"]
    ehr.patients["p-77"] = theirs | {"id": "p-77"}
    server = Server(folder=tmp_path, environment=settings_for(ehr, base), port=port)
    try:
        server.start()
        yield ehr, base
    finally:
        server.close()
        await ehr.server.close()


async def launched(browser: aiohttp.ClientSession, ehr: Ehr, base: str) -> tuple[str, str]:
    """Return the cookie and the place with which the browser ends."""
    begin = f"{base}/smart/launch?iss={ehr.fhir}&launch=xyz"
    async with browser.get(begin, allow_redirects=False) as answer:
        url, kept = answer.headers["Location"], answer.cookies["__Host-rounds-launch"]
    back = f"{base}/smart/callback?{query_of(ehr.sign_in(url))}"
    cookie = {"Cookie": f"{kept.key}={kept.value}"}
    async with browser.get(back, headers=cookie, allow_redirects=False) as answer:
        assert answer.status == 303, await answer.text()
        signed = answer.cookies["__Host-rounds"]
        return f"{signed.key}={signed.value}", answer.headers["Location"]


async def test_a_record_system_starts_a_talk_that_names_its_patient_twice(
    browser: aiohttp.ClientSession, ehr: tuple[Ehr, str]
) -> None:
    system, base = ehr
    cookie, place = await launched(browser, system, base)
    user = {"Cookie": cookie, "Origin": base}
    chat = f"{base}/api/chats/{place.removeprefix('/#/chats/')}"
    said = ""
    for _ in range(120):
        async with browser.get(f"{chat}/messages?patient_id=patient_4", headers=user) as answer:
            said = await answer.text()
        if "1957-03-14" in said:
            break
        await asyncio.sleep(0.5)
    assert "Margaret Anne Whitfield" in said
    assert "1957-03-14" in said
    async with browser.get(chat, headers=user) as answer:
        assert (await answer.json())["patient_id"] == "patient_4"
