"""Whatever somebody asks of a chart that is closed to them, by any route or message: nothing."""

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import hdrs

from services.stores import Stores
from settings import ApiKey, Settings
from tests.e2e.in_process import serving
from tests.e2e.talks import StreamTalk
from tests.tables import with_cases

pytestmark = pytest.mark.slow
ADA = {"Authorization": "Bearer ada-key"}
CANARY = "canary-of-the-chart"
READS = {hdrs.METH_GET, hdrs.METH_PATCH}


class Site:
    """A whole server with the offline model, and a conversation about a chart that gets closed."""

    def __init__(
        self,
        base: str,
        client: aiohttp.ClientSession,
        routes: list[tuple[str, str]],
        roster: Path,
        stores: Stores,
    ) -> None:
        self.base, self.client, self.routes, self.roster = base, client, routes, roster
        self.stores = stores
        self.chat = ""
        self.round = ""
        self.artifact = "artifact-1"

    async def begin(self) -> None:
        async with self.client.post(f"{self.base}/api/chats", headers=ADA) as reply:
            self.chat = (await reply.json())["chat_id"]
        for text in ("patient_4", f"@PatientHistory what of {CANARY}?"):
            await self.say(text)
        url = f"{self.base}/api/rounds"
        async with self.client.post(url, headers=ADA, json={"patients": ["patient_4"]}) as reply:
            self.round = (await reply.json())["round_id"]

    async def say(self, text: str) -> str:
        url = f"{self.base}/api/ws/chats/{self.chat}/messages?stream=1"
        async with self.client.ws_connect(url, headers=ADA) as socket:
            return str(await StreamTalk(self.chat, socket).say(text))

    async def ask(self, method: str, route: str) -> tuple[int, str]:
        known = {
            "chat_id": self.chat,
            "patient_id": "patient_4",
            "artifact_id": self.artifact,
            "round_id": self.round,
        }
        path = re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], "x"), route)
        sent = {"operations": [{"op": "retire", "item": "x"}], "revision": "x"}
        query = "patient_id=patient_4&ref=DocumentReference/note-1&format=json"
        async with self.client.request(
            method, f"{self.base}{path}?{query}", headers=ADA, json=sent
        ) as reply:
            return reply.status, (await reply.read()).decode(errors="replace")

    def close_the_chart(self) -> None:
        self.roster.write_text("key:ada: [patient_7]\n")


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    roster = tmp_path / "care.yaml"
    roster.write_text("key:ada: [patient_4]\n")
    keys = tmp_path / "keys.yaml"
    digest = hashlib.sha256(b"rhea-key").hexdigest()
    keys.write_text(f"keys: [{{name: rhea, sha256: '{digest}', scopes: [reviewer]}}]\n")
    settings = Settings(
        auth_mode="api_key",
        api_keys_file=keys,
        api_keys=(ApiKey("ada", hashlib.sha256(b"ada-key").hexdigest()),),
        llm_provider="offline",
        data_dir=tmp_path,
        messages_per_minute=1_000,
        access_policy="roster",
        care_roster_file=roster,
        break_glass_minutes=30,
    )
    async with serving(settings) as served, aiohttp.ClientSession() as client:
        routes = [
            (route.method, route.resource.canonical)
            for route in served.web.router.routes()
            if route.resource is not None
            and route.resource.canonical.startswith("/api/")
            and route.method in READS
            and "/ws/" not in route.resource.canonical
        ]
        found = Site(served.base, client, routes, roster, served.stores)
        await found.begin()
        yield found


async def test_no_route_shows_anything_of_a_chart_that_was_closed(site: Site) -> None:
    before: dict[str, Any] = {route: await site.ask(m, route) for m, route in site.routes}
    assert sum(CANARY in body for _, body in before.values()) >= 2, "else this proves nothing"
    assert "Whitfield" in str(before), "the patient's name was shown"
    card = "/api/rounds/{round_id}/patients/{patient_id}"
    assert "Whitfield" in before[card][1], "the card showed who it is"
    site.close_the_chart()

    for method, route in site.routes:
        status, body = await site.ask(method, route)
        assert CANARY not in body, route
        assert "Whitfield" not in body, route
        assert status < 500, (route, body)
        if route == card:
            continue  # of a list one's own number stays
        if route.endswith(("/messages", "/export", "/memory", "/sources", "{patient_id}")):
            assert (status, "chart_closed" in body) == (403, True), (route, body)


@with_cases("said")
async def test_no_message_shows_anything_of_a_chart_that_was_closed(site: Site, said: str) -> None:
    site.close_the_chart()
    told = await site.say(said)
    assert CANARY not in told
    assert "Whitfield" not in told.replace(said, ""), told


async def test_a_refusal_can_be_broken_with_a_reason_and_is_on_record(site: Site) -> None:
    site.close_the_chart()
    assert "not open to you" in await site.say("patient_4")
    told = await site.say("break glass: unconscious in the emergency room")
    assert "unconscious in the emergency room" in told
    assert "Whitfield" in await site.say("any allergies?")
    trail = [one async for one in site.stores.audit.list("trail/")]
    blobs = [await site.stores.audit.read(one.name) for one in trail]
    written = b"".join(one.data for one in blobs if one is not None)
    assert b'"open_chart"' in written
    assert b'"break_glass"' in written


async def test_a_reviewer_says_what_an_emergency_was_and_sees_nothing_else(site: Site) -> None:
    rhea = {"Authorization": "Bearer rhea-key"}
    emergencies = f"{site.base}/api/operator/emergencies"

    async def listed(headers: dict[str, str]) -> list[dict[str, Any]]:
        async with site.client.get(emergencies, headers=headers) as reply:
            assert reply.status == 200
            rows: list[dict[str, Any]] = (await reply.json())["emergencies"]
            return rows

    site.close_the_chart()
    await site.say("patient_4")
    await site.say("break glass: unconscious in the emergency room")
    (found,) = await listed(rhea)
    review = f"{emergencies}/{found['grant_id']}/review"
    said = {"is_justified": True, "note": "She was brought in by ambulance."}
    async with site.client.post(review, json=said, headers=ADA) as reply:
        assert reply.status == 403
    async with site.client.post(review, json=said, headers=rhea) as reply:
        assert reply.status == 200
    assert "ambulance" in str(await listed(rhea))
    for closed in ("operator/scenarios", "operator/quality", "chats", "patients"):
        async with site.client.get(f"{site.base}/api/{closed}", headers=rhea) as reply:
            assert reply.status == 403, closed


async def by_socket(site: Site, text: str) -> str:
    """Say it over the plain socket, as scripts do."""
    url = f"{site.base}/api/ws/chats/{site.chat}/messages"
    told = ""
    async with site.client.ws_connect(url, headers=ADA) as socket:
        await socket.send_json({"content": text})
        while (frame := await socket.receive_json(timeout=60)).get("type") != "done":
            told += str(frame)
    return told


async def by_ag_ui(site: Site, text: str) -> str:
    """Say it as an AG-UI client does; the conversation is its thread."""
    message = {"id": f"m-{text}", "role": "user", "content": text}
    given = {"threadId": site.chat, "runId": f"run of {text}", "messages": [message], "state": {}}
    body = {**given, "tools": [], "context": [], "forwardedProps": {}}
    async with site.client.post(f"{site.base}/api/ag-ui", json=body, headers=ADA) as reply:
        assert reply.status == 200
        return await reply.text()


@pytest.mark.parametrize("say", [by_socket, by_ag_ui])
async def test_each_door_offers_break_glass_asks_for_a_reason_and_puts_it_on_record(
    site: Site, say: Callable[[Site, str], Awaitable[str]]
) -> None:
    site.close_the_chart()

    offered = await say(site, "patient_4")
    without = await say(site, "break glass:")
    still = await say(site, "any allergies?")
    await say(site, "open patient_4")
    told = await say(site, "break glass: unconscious in the emergency room")

    assert "not open to you" in offered
    assert "break glass:" in offered
    assert "Whitfield" not in offered + without + still
    assert "unconscious in the emergency room" in told
    assert "Whitfield" in await say(site, "who is she?")
    blobs = [
        await site.stores.audit.read(one.name) async for one in site.stores.audit.list("trail/")
    ]
    assert b'"break_glass"' in b"".join(one.data for one in blobs if one is not None)


async def test_over_ag_ui_two_charts_stand_side_by_side_after_a_yes(site: Site) -> None:
    site.roster.write_text("key:ada: [patient_4, patient_7]\n")

    asked = await by_ag_ui(site, "compare patient_4 and patient_7")
    done = await by_ag_ui(site, "yes")

    assert "side by side?" in asked
    assert "Whitfield" in asked
    assert "Adeyemi" in asked
    assert "Side by side: " in done
    assert '"labels"' in done
