"""Signing in on the server as it is deployed, at a provider that checks what it is sent."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from data_models.clock import SystemClock
from tests.e2e.server import Server
from tests.peers import free_port
from tests.routes.provider import CLIENT, SECRET, Provider, query_of

pytestmark = pytest.mark.slow


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        yield client


async def signed_in(
    browser: aiohttp.ClientSession, base: str, provider: Provider
) -> dict[str, str]:
    """Return what the browser of a user who signed in sends with each request."""
    async with browser.get(f"{base}/auth/login", allow_redirects=False) as answer:
        url, kept = answer.headers["Location"], answer.cookies["__Host-rounds-login"]
    back = query_of(provider.sign_in(url))
    cookie = {"Cookie": f"{kept.key}={kept.value}"}
    async with browser.get(
        f"{base}/auth/callback?{back}", headers=cookie, allow_redirects=False
    ) as answer:
        assert answer.status == 303
        signed = answer.cookies["__Host-rounds"]
    user = {"Cookie": f"{signed.key}={signed.value}", "Origin": base}
    async with browser.get(f"{base}/api/session", headers=user) as answer:
        user["X-CSRF-Token"] = answer.headers["X-CSRF-Token"]
    return user


async def test_a_user_signs_in_talks_and_signs_out(
    browser: aiohttp.ClientSession, tmp_path: Path
) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    provider = Provider(clock=SystemClock(), redirect_uri=f"{base}/auth/callback")
    await provider.server.start_server()
    settings = {
        "AUTH_MODE": "oidc",
        "PUBLIC_BASE_URL": base,
        "OIDC_ISSUER": provider.issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "ALLOWED_OUTBOUND_NETWORKS": "127.0.0.0/8",
        "BOT_ENDPOINTS": "false",
    }
    server = Server(folder=tmp_path, environment=settings, port=port)
    try:
        server.start()
        user = await signed_in(browser, base, provider)
        async with browser.post(f"{base}/api/chats", headers=user) as answer:
            chat_id = (await answer.json())["chat_id"]
        place = f"{base}/api/ws/chats/{chat_id}/messages"
        async with browser.ws_connect(place, headers=user) as socket:
            await socket.send_json({"content": "open patient_4"})
            said = ""
            while '"done"' not in said:
                said += await socket.receive_str(timeout=120)
            assert "Margaret" in said
        async with browser.post(f"{base}/auth/logout", headers=user) as answer:
            assert answer.status == 200
        async with browser.get(f"{base}/api/chats", headers=user) as answer:
            assert answer.status == 401
    finally:
        server.close()
        await provider.server.close()
