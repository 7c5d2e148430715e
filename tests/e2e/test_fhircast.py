"""A launched conversation follows its record system where nothing of the user's is in the way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from data_models.clock import SystemClock
from tests.e2e.server import ROOT, Server
from tests.e2e.test_smart import launched, settings_for
from tests.peers import free_port
from tests.routes.conftest import Socket
from tests.routes.ehr import Ehr
from tests.routes.hub import TOPIC, FakeHub

pytestmark = pytest.mark.slow
Json = dict[str, Any]


def theirs(number: int, **changes: Any) -> Json:
    """Return a Patient of the samples as the record system names it."""
    sample = orjson.loads((ROOT / f"samples/patients/patient_{number}.json").read_bytes())
    resources = [row["resource"] for row in sample["entry"]]
    (found,) = [one for one in resources if one["resourceType"] == "Patient"]
    return {**found, "id": f"p-{number}", **changes}


@dataclass
class Ward:
    """A server, the record system that starts it, and its hub."""

    ehr: Ehr
    hub: FakeHub
    base: str
    browser: aiohttp.ClientSession
    server: Server

    async def launched(self) -> tuple[dict[str, str], str]:
        """Return the headers of a launched page, and its conversation."""
        cookie, place = await launched(self.browser, self.ehr, self.base)
        user, chat = {"Cookie": cookie, "Origin": self.base}, place.removeprefix("/#/chats/")
        await self.until(
            user,
            chat,
            lambda found: found.get("patient_id") == "patient_4" and found["running_turn"] is None,
        )
        return user, chat

    async def until(self, user: dict[str, str], chat: str, is_so: Callable[[Json], bool]) -> None:
        """Return once the conversation is so; the last write of a turn comes after its end."""
        for _ in range(300):
            if is_so(await self.view(user, chat)):
                return
            await asyncio.sleep(0.2)
        raise AssertionError("it never was")

    async def view(self, user: dict[str, str], chat: str) -> Json:
        async with self.browser.get(f"{self.base}/api/chats/{chat}", headers=user) as answer:
            found: Json = await answer.json()
            return found

    async def page(self, user: dict[str, str], chat: str, *, stream: str = "1") -> Socket:
        url = f"{self.base}/api/ws/chats/{chat}/messages?stream={stream}"
        return Socket(await self.browser.ws_connect(url, headers=user))

    async def followed(self) -> tuple[dict[str, str], str, Socket]:
        """Return a launched page, its conversation, and its socket once it follows the hub."""
        user, chat = await self.launched()
        page = await self.page(user, chat)
        await page.until(is_told("followed"))
        return user, chat, page

    async def asked(self, page: Socket, text: str) -> None:
        """Say something on a page, and wait for the end of its turn."""
        await page.say(text)
        await page.until_finished()

    async def csrf(self, user: dict[str, str]) -> str:
        async with self.browser.get(f"{self.base}/api/session", headers=user) as answer:
            return answer.headers["X-CSRF-Token"]

    async def drafted(self, user: dict[str, str], chat: str, text: str) -> None:
        csrf = await self.csrf(user)
        url = f"{self.base}/api/chats/{chat}/draft?patient_id=patient_4"
        headers = {**user, "X-CSRF-Token": csrf}
        async with self.browser.put(url, json={"text": text}, headers=headers) as answer:
            assert answer.status == 204, await answer.text()


@pytest.fixture
async def ward(tmp_path: Path) -> AsyncIterator[Ward]:
    port, hub = free_port(), FakeHub()
    base = f"http://127.0.0.1:{port}"
    ehr = Ehr(clock=SystemClock(), redirect_uri=f"{base}/smart/callback")
    await ehr.server.start_server()
    await hub.server.start_server()
    ehr.patients["p-77"] = theirs(4, id="p-77")
    ehr.context |= hub.context
    environment = settings_for(ehr, base) | {"FHIRCAST_HUB_URL": hub.url}
    server = Server(folder=tmp_path, environment=environment, port=port)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser:
        try:
            server.start()
            yield Ward(ehr, hub, base, browser, server)
        finally:
            server.close()
            await hub.close()
            await ehr.server.close()


def is_told(kind: str) -> Any:
    return lambda frame: frame.get("name") == "record_system" and frame["value"]["kind"] == kind


async def test_an_idle_conversation_opens_whom_the_record_system_opens(ward: Ward) -> None:
    user, chat, page = await ward.followed()
    assert "fhircast/Patient-open.read" in ward.ehr.asked["scope"].split()
    assert ward.hub.forms == [
        {
            "hub.channel.type": "websocket",
            "hub.mode": "subscribe",
            "hub.topic": TOPIC,
            "hub.events": "Patient-open,syncerror",
            "hub.lease_seconds": "3600",
            "subscriber.name": "Rounds",
        }
    ]
    assert await ward.hub.opens(theirs(4)) == 200
    assert await ward.hub.opens(theirs(7)) == 200
    frames = await page.until_finished()
    said = str(frames)
    assert "1968-07-21" in said
    assert (await ward.view(user, chat))["patient_id"] == "patient_7"
    # Another system's word, told again, changes nothing.
    assert await ward.hub.opens(theirs(7)) == 200
    assert (await ward.view(user, chat))["running_turn"] is None


async def test_whoever_has_begun_something_is_asked_and_nothing_changes(ward: Ward) -> None:
    user, chat, page = await ward.followed()

    await ward.drafted(user, chat, "what was her last CEA")
    assert await ward.hub.opens(theirs(7)) == 409
    (*_, asks) = await page.until(is_told("asks"))
    assert asks["value"]["patient"]["patient_id"] == "patient_7"
    assert asks["value"]["patient"]["birth_date"] == "1968-07-21"
    await ward.drafted(user, chat, "")

    await ward.asked(page, "start tumor board for patient_4")
    assert await ward.hub.opens(theirs(7)) == 409
    await page.until(is_told("asks"))
    assert (await ward.view(user, chat))["patient_id"] == "patient_4"

    await ward.asked(page, "cancel")
    await ward.asked(page, "what is the stage of pateint_15?")
    await ward.until(user, chat, lambda found: found["question"] is not None)
    assert await ward.hub.opens(theirs(7)) == 409
    await page.until(is_told("asks"))

    # What the button says is the user's own word.
    await ward.asked(page, "open patient_7")
    assert (await ward.view(user, chat))["patient_id"] == "patient_7"


NOT_SURELY: tuple[Json, ...] = (
    {"birthDate": "1968-07-22"},
    {"birthDate": None},
    {"identifier": [{"system": "urn:elsewhere", "value": "patient_7"}]},
    {"active": False},
)


async def test_who_is_not_surely_the_same_person_is_not_followed(ward: Ward) -> None:
    user, chat, page = await ward.followed()
    for changes in NOT_SURELY:
        assert await ward.hub.opens(theirs(7, **changes)) == 409, changes
        (*_, told) = await page.until(is_told("unknown"))
        assert told["value"]["patient"] is None, changes
        assert (await ward.view(user, chat))["patient_id"] == "patient_4", changes


async def test_foreign_and_broken_events_are_refused_and_a_sync_error_is_told(ward: Ward) -> None:
    user, chat, page = await ward.followed()
    assert await ward.hub.opens(theirs(7), topic="topic of ben") == 403
    assert await ward.hub.tell("Patient-open", []) == 400
    assert await ward.hub.tell("Patient-open", [{"key": 4}]) == 400
    assert await ward.hub.tell("ImagingStudy-open", []) == 400
    assert await ward.hub.tell("SyncError", [{"key": "operationoutcome", "resource": {}}]) == 200
    await page.until(is_told("apart"))
    assert (await ward.view(user, chat))["patient_id"] == "patient_4"


async def test_a_lost_line_is_told_and_what_was_missed_is_asked(ward: Ward) -> None:
    user, chat, page = await ward.followed()
    ward.hub.current = theirs(7)
    await ward.hub.breaks()
    await page.until(is_told("lost"))
    await page.until(is_told("followed"))
    (*_, asks) = await page.until(is_told("asks"))
    assert asks["value"]["patient"]["patient_id"] == "patient_7"
    assert (await ward.view(user, chat))["patient_id"] == "patient_4"
    assert await ward.hub.opens(theirs(7)) == 200


async def test_who_signed_out_is_followed_no_more(ward: Ward) -> None:
    user, _chat, _page = await ward.followed()
    csrf = await ward.csrf(user)
    headers = {**user, "X-CSRF-Token": csrf}
    async with ward.browser.post(f"{ward.base}/auth/logout", headers=headers) as answer:
        assert answer.status == 200, await answer.text()
    assert await ward.hub.is_dropped(theirs(7))


@pytest.mark.parametrize("way", ["refuses", "denies", "confirms"])
async def test_a_hub_that_confirms_no_subscription_is_not_followed(ward: Ward, way: str) -> None:
    changes: dict[str, Any] = {"refuses": 403, "denies": True, "confirms": "topic of ben"}
    user, chat = await ward.launched()
    setattr(ward.hub, way, changes[way])
    page = await ward.page(user, chat)
    frames = await page.until(is_told("lost"))
    assert not any(map(is_told("followed"), frames))


async def test_only_the_launched_conversation_follows_and_only_on_the_page(ward: Ward) -> None:
    user, chat = await ward.launched()
    other = await ward.page(user, "another-talk-of-mine")
    plain = await ward.page(user, chat, stream="0")
    await other.say("open patient_4")
    await other.until_finished()
    await plain.say("open patient_4")
    await plain.until_done()
    assert ward.hub.forms == []
    async with ward.browser.get(f"{ward.base}/api/session", headers=user) as answer:
        assert answer.status == 200
    assert b"at-secret" not in b"".join(
        path.read_bytes() for path in ward.server.data.rglob("*") if path.is_file()
    )
    assert "at-secret" not in ward.server.log
