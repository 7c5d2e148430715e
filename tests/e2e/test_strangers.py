"""Whatever a stranger asks of a conversation by its id, the answer is that of no such id."""

import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import hdrs

from settings import ApiKey, Settings
from tests.e2e.in_process import serving
from tests.e2e.talks import StreamTalk

pytestmark = pytest.mark.slow
ADA, BEN = {"Authorization": "Bearer ada-key"}, {"Authorization": "Bearer ben-key"}
CANARY = "canary-of-ada"
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Site:
    """A whole server with the offline model, a conversation of Ada's, and Ben."""

    def __init__(
        self, base: str, client: aiohttp.ClientSession, routes: list[tuple[str, str]]
    ) -> None:
        self.base, self.client, self.routes = base, client, routes
        self.chat = ""

    async def begin(self) -> None:
        async with self.client.post(f"{self.base}/api/chats", headers=ADA) as reply:
            self.chat = (await reply.json())["chat_id"]
        url = f"{self.base}/api/ws/chats/{self.chat}/messages?stream=1"
        async with self.client.ws_connect(url, headers=ADA) as socket:
            talk = StreamTalk(self.chat, socket)
            for text in ("patient_4", f"@PatientHistory what of {CANARY}?"):
                await talk.say(text)

    async def ask(self, method: str, path: str, who: dict[str, str]) -> tuple[int, Any]:
        """Ask as everybody may: with all that some route needs."""
        sent = {"operations": [{"op": "retire", "item": "x"}], "revision": "x"}
        query = "patient_id=patient_4&ref=DocumentReference/note-1&format=json"
        upgrade = UPGRADE if "/ws/" in path else {}
        async with self.client.request(
            method, f"{self.base}{path}?{query}", headers=who | upgrade, json=sent
        ) as reply:
            body = await reply.read()
            assert CANARY.encode() not in body or who is ADA
            told = orjson.loads(body) if body else {}
        return reply.status, {name: told[name] for name in told if name != "ref"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    keys = [(name, hashlib.sha256(f"{name}-key".encode()).hexdigest()) for name in ("ada", "ben")]
    settings = Settings(
        auth_mode="api_key",
        api_keys=tuple(ApiKey(name, key) for name, key in keys),
        llm_provider="offline",
        data_dir=tmp_path,
        messages_per_minute=1_000,
    )
    async with serving(settings) as served, aiohttp.ClientSession() as client:
        routes = [
            (route.method, route.resource.canonical)
            for route in served.web.router.routes()
            if route.resource is not None and "{chat_id}" in route.resource.canonical
        ]
        found = Site(served.base, client, routes)
        await found.begin()
        yield found


def at(route: str, chat: str) -> str:
    """A path of `route` for a conversation, with ids that a stranger may have seen elsewhere."""
    known = {"chat_id": chat, "patient_id": "patient_4", "artifact_id": "artifact-1", "run_id": "r"}
    known |= {"attachment_id": "att-1", "archive_id": "20260101T000000"}
    return re.sub(r"\{(\w+)\}", lambda found: known[found[1]], route)


async def test_no_route_tells_a_stranger_from_nobody(site: Site) -> None:
    assert len(site.routes) > 9
    stored = await site.ask(hdrs.METH_GET, at("/api/chats/{chat_id}/messages", site.chat), ADA)
    assert CANARY in str(stored), "else this would prove nothing"
    unknown = f"{site.chat[:-4]}AAAA"
    for method, route in site.routes:
        if method == hdrs.METH_HEAD:
            continue
        answer = await site.ask(method, at(route, site.chat), BEN)
        assert answer[0] == 404, route
        if "/ws/" not in route:  # a socket may begin a conversation under an id of nobody's
            assert answer == await site.ask(method, at(route, unknown), BEN), route


async def test_a_stranger_reaches_no_turn_by_a_socket_or_a_run(site: Site) -> None:
    said = {"role": "user", "id": "1", "content": "what do you know?"}
    for chat, statuses in {site.chat: (404,), "": (400, 404), f"../{site.chat}": (200,)}.items():
        body = {"threadId": chat, "runId": "r1", "messages": [said], "tools": [], "context": []}
        async with site.client.post(f"{site.base}/api/ag-ui", headers=BEN, json=body) as reply:
            assert reply.status in statuses, "what is nobody's is a conversation of its own"
            assert CANARY not in await reply.text()
    url = f"{site.base}/api/ws/chats/{site.chat}/messages?stream=1&run=run_1&after=0"
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.client.ws_connect(url, headers=BEN)
    assert refused.value.status == 404
