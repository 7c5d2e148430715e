"""A turn's receipt: over real HTTP, by a validator of FHIR R4, and against the audit trail."""

import base64
import hashlib
import json
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import fhirkit
import pytest

from services.audit.__main__ import find_receipt, verify
from services.audit.receipt import digest_of, run_of
from services.stores import Stores
from settings import ApiKey, Settings
from tests.e2e.in_process import serving
from tests.e2e.talks import StreamTalk
from tests.given import present

pytestmark = pytest.mark.slow


@dataclass
class Site:
    base: str
    client: aiohttp.ClientSession
    stores: Stores
    chat: str = ""

    async def say(self, text: str) -> str:
        url = f"{self.base}/api/ws/chats/{self.chat}/messages?stream=1"
        async with self.client.ws_connect(url, headers=_key("ada")) as socket:
            return str(await StreamTalk(self.chat, socket).say(text))

    async def last_turn(self) -> dict[str, Any]:
        url = f"{self.base}/api/chats/{self.chat}/export?format=json"
        async with self.client.get(url, headers=_key("ada")) as reply:
            turn: dict[str, Any] = (await reply.json())["turns"][-1]
            return turn

    async def receipt(
        self, run_id: str, query: str = "", *, user: str = "ada", chat: str = ""
    ) -> tuple[int, bytes]:
        url = f"{self.base}/api/chats/{chat or self.chat}/runs/{run_id}/receipt{query}"
        async with self.client.get(url, headers=_key(user)) as reply:
            return reply.status, await reply.read()

    async def new_chat(self) -> str:
        async with self.client.post(f"{self.base}/api/chats", headers=_key("ada")) as reply:
            return str((await reply.json())["chat_id"])


def _key(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {user}-key"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    keys = tuple(
        ApiKey(user, hashlib.sha256(f"{user}-key".encode()).hexdigest()) for user in ("ada", "bob")
    )
    settings = Settings(
        auth_mode="api_key", api_keys=keys, llm_provider="offline", data_dir=tmp_path
    )
    async with serving(settings) as served, aiohttp.ClientSession() as client:
        site = Site(served.base, client, served.stores)
        site.chat = await site.new_chat()
        yield site


async def test_a_receipt_is_valid_fhir_and_its_hash_is_on_the_trail(site: Site) -> None:
    await site.say("patient_4")
    said = await site.say("latest CEA")
    turn = await site.last_turn()
    status, data = await site.receipt(turn["run_id"])

    assert status == 200
    assert [str(issue) for issue in fhirkit.parse(data.decode()).issues] == []
    event, origin = (one["resource"] for one in json.loads(data)["entry"])
    for one in (event, origin):
        assert [str(issue) for issue in fhirkit.parse(json.dumps(one)).issues] == []
    assert event["agent"][0] == {
        "who": {"identifier": {"system": "urn:rounds:principal", "value": "key:ada"}},
        "requestor": True,
    }
    assert {"display": "offline"} in [one["who"] for one in event["agent"]]
    answers = turn["agent_responses"]
    assert [one["identifier"]["value"] for one in origin["target"]] == [
        one["message_id"] for one in answers
    ]
    rows = {one["ref"] for answer in answers for one in answer["citations"]}
    assert rows
    assert rows <= {one["what"].get("reference") for one in origin["entity"]}
    record = present(await find_receipt(site.stores.audit, data))
    assert record.run_id == run_of(data) == turn["run_id"]
    assert (await verify(site.stores.audit)).breaks == []
    assert "CEA" in said
    for word in (b"CEA", b"latest", b"Whitfield", b"ng/mL"):
        assert word not in data, "neither words of the talk nor values of the chart"


async def test_rows_that_are_shown_are_stored_once(site: Site) -> None:
    await site.say("patient_4")
    await site.say("Show the trend of CEA")
    store = site.stores.sessions
    (name,) = [row.name async for row in store.list(f"{site.chat}/") if "_4_context" in row.name]
    packed = json.loads(present(await store.read(name)).data)["recent_runs"]["2"]
    stored = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert [one["tool"] for one in stored["views"]] == ["results"]
    assert "results" not in [one["tool_name"] for one in stored["runs"]]


async def test_a_changed_receipt_is_not_on_the_trail(site: Site) -> None:
    await site.say("patient_4")
    await site.say("latest CEA")
    _, data = await site.receipt((await site.last_turn())["run_id"])

    assert await find_receipt(site.stores.audit, data.replace(b"key:ada", b"key:bob")) is None
    assert digest_of(data) != digest_of(data + b" ")


async def test_a_receipt_is_of_its_conversation_its_patient_and_its_owner(site: Site) -> None:
    await site.say("patient_4")
    await site.say("latest CEA")
    run_id = (await site.last_turn())["run_id"]

    assert (await site.receipt(run_id, "?patient_id=patient_4"))[0] == 200
    assert (await site.receipt(run_id, "?patient_id=patient_7"))[0] == 404
    assert (await site.receipt(run_id, "?patient_id=session"))[0] == 404
    assert (await site.receipt(run_id, user="bob"))[0] == 404
    assert (await site.receipt(run_id, chat=await site.new_chat()))[0] == 404
    assert (await site.receipt("run_of_nobody"))[0] == 404


async def test_a_cleared_talk_has_no_receipt_left_in_it(site: Site) -> None:
    await site.say("patient_4")
    await site.say("latest CEA")
    run_id = (await site.last_turn())["run_id"]
    await site.say("clear")
    await site.say("yes")

    assert (await site.receipt(run_id))[0] == 404


LETTER = b"Patient: Margaret Anne Whitfield, born 14 March 1957. Potassium 5.6 mmol/L."
LATER = LETTER.replace(b"5.6", b"4.4")


async def test_a_branch_has_the_receipts_and_papers_of_what_it_holds(site: Site) -> None:
    site.chat = await site.new_chat()
    url, key = f"{site.base}/api/chats", _key("ada")
    given = f"{url}/{site.chat}/attachments?confirmed=true"
    named = key | {"X-Patient-Id": "patient_4", "Content-Type": "text/plain"}
    await site.say("open patient_4")
    await site.say("current meds")
    receipts = [(await site.last_turn())["run_id"]]
    for name, paper in (("letter.txt", LETTER), ("later.txt", LATER)):
        sent = named | {"X-File-Name": name}
        async with site.client.post(given, data=paper, headers=sent) as reply:
            assert reply.status == 201
        await site.say("allergies?")
    wanted = {"patient_id": "patient_4", "before_turn": 3}
    async with site.client.post(f"{url}/{site.chat}/branch", json=wanted, headers=key) as reply:
        branch = (await reply.json())["chat_id"]

    old, site.chat = site.chat, branch
    run_id = (await site.last_turn())["run_id"]
    assert await site.receipt(run_id) == await site.receipt(receipts[0], chat=old)
    assert (await site.receipt(run_id, user="bob"))[0] == 404
    about = f"{url}/{branch}/attachments"
    async with site.client.get(f"{about}?patient_id=patient_4", headers=key) as reply:
        (row,) = (await reply.json())["attachments"]
    assert row["file_name"] == "letter.txt"
    one = f"{about}/{row['attachment_id']}?patient_id=patient_4"
    async with site.client.get(one, headers=key) as reply:
        assert await reply.read() == LETTER
    told = await site.say("what does the letter say about potassium?")
    assert "5.6" in told
    assert f"Attachment/{row['attachment_id']}" in told
    assert "4.4" not in told
