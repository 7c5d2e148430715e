"""Servers of two releases on one store, as during an upgrade: no error, no loss, no surprise."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from data_models.errors import DocumentTooNewError
from data_models.identifiers import BACKUP_MARK
from tests.durability.server_of_tomorrow import NOTE
from tests.e2e.models import running_model
from tests.e2e.server import ROOT, Server
from tests.e2e.storage import Stored, StoredInAzure
from tests.e2e.talks import Answer, PlainTalk, new_chat, socket_to
from tests.fakes_openai import RecordedRequest, Reply
from tests.fakes_openai_brain import brain
from tests.waiting import until

pytestmark = pytest.mark.slow

TOMORROW = ("-m", "tests.durability.server_of_tomorrow")
TALKS, TURNS = 4, 10


@dataclass(frozen=True)
class Fleet:
    """Servers of today's release, of the next, and of the one after, on one store."""

    today: Server
    tomorrow: Server
    breaking: Server
    stored_blobs: StoredInAzure

    def stored(self, chat: str) -> Stored:
        return Stored(self.stored_blobs, chat)

    def turns(self, chat: str, patient: str) -> list[dict[str, Any]]:
        document = self.stored(chat).document(f"patient_{patient}_context.json")
        history: list[dict[str, Any]] = document["chat_history"]
        return history


def echo(request: RecordedRequest) -> Reply:
    if "response_format" in request.body:
        return brain(request)
    return Reply(text="It is noted.")


@pytest.fixture(scope="module")
def fleet(
    tmp_path_factory: pytest.TempPathFactory, azure_accounts: Iterator[str]
) -> Iterator[Fleet]:
    account = next(azure_accounts)
    folder = tmp_path_factory.mktemp("fleet")
    with ExitStack() as stack:
        model = stack.enter_context(running_model(echo))
        stored_blobs = StoredInAzure(account)
        stack.callback(stored_blobs.close)
        shared = {"AZURE_STORAGE_CONNECTION_STRING": account, **model.settings()}
        new = {**shared, "PYTHONPATH": str(ROOT)}
        today = Server(folder=folder / "today", environment=shared)
        tomorrow = Server(folder=folder / "tomorrow", environment=new, program=TOMORROW)
        breaks = {**new, "TOMORROW_MIN_READER": "3"}
        breaking = Server(folder=folder / "breaking", environment=breaks, program=TOMORROW)
        servers = [today, tomorrow, breaking]
        for server in servers:
            server.folder.mkdir()
            stack.callback(server.close)
        with ThreadPoolExecutor() as pool:
            list(pool.map(Server.start, servers))
        yield Fleet(today, tomorrow, breaking, stored_blobs)


async def begin(server: Server) -> str:
    async with aiohttp.ClientSession() as client:
        return await new_chat(client, server.url)


async def say(server: Server, chat: str, text: str) -> Answer:
    async with aiohttp.ClientSession() as client, socket_to(client, server.url, chat) as socket:
        return await PlainTalk(chat, socket).say(text)


async def talk(fleet: Fleet, first: Server) -> str:
    """Say ten things, each to the other release than the one before; clear in the middle."""
    servers = [fleet.today, fleet.tomorrow]
    servers = servers if first is fleet.today else servers[::-1]
    chat = await begin(first)
    said = ["switch to patient_4", "clear patient context", "switch to patient_15"]
    said += ["switch to patient_7", *(f"note {number}" for number in range(TURNS))]
    for number, text in enumerate(said):
        answer = await say(servers[number % 2], chat, text)
        assert answer.failure is None, (text, servers[number % 2].log[-2000:])
    return chat


async def test_both_releases_serve_the_same_conversations(fleet: Fleet) -> None:
    starts = [fleet.today, fleet.tomorrow] * (TALKS // 2)
    chats = await asyncio.gather(*(talk(fleet, first) for first in starts))
    for chat in chats:
        turns = fleet.turns(chat, "patient_7")
        assert [turn["user_message"] for turn in turns] == [
            "switch to patient_7",
            *(f"note {number}" for number in range(TURNS)),
        ]
        assert {turn["turn_status"] for turn in turns} == {"COMPLETED"}
        ids = [turn["turn_id"] for turn in turns]
        assert ids == list(range(ids[0], ids[0] + len(ids)))


async def test_what_today_does_not_know_survives_its_rewrite(fleet: Fleet) -> None:
    chat = await begin(fleet.tomorrow)
    await say(fleet.tomorrow, chat, "switch to patient_4")
    before = fleet.stored(chat).document("patient_patient_4_context.json")
    await say(fleet.today, chat, "note by today's server")
    after = fleet.stored(chat).document("patient_patient_4_context.json")
    assert after["write_id"] != before["write_id"]
    assert (after["schema_version"], after["tomorrow"]) == (3, NOTE)


async def test_what_tomorrow_brings_up_to_date_is_kept_as_it_was(fleet: Fleet) -> None:
    chat = await begin(fleet.today)
    await say(fleet.today, chat, "switch to patient_4")
    name = "patient_patient_4_context.json"
    before = fleet.stored(chat).document(name)
    await say(fleet.tomorrow, chat, "note by tomorrow's server")
    stored = fleet.stored(chat)
    assert stored.document(name)["tomorrow"] == NOTE
    (copy,) = [each for each in stored.names() if each.startswith(f"{name}{BACKUP_MARK}2-")]
    assert stored.document(copy)["chat_history"] == before["chat_history"]


async def test_what_today_may_not_read_it_refuses_and_leaves_alone(fleet: Fleet) -> None:
    chat = await begin(fleet.breaking)
    await say(fleet.breaking, chat, "switch to patient_4")
    # The release follows the last event.
    await until(lambda: fleet.stored(chat).document("conversation.json")["running_turn"] is None)
    before = {name: fleet.stored(chat).read(name) for name in fleet.stored(chat).names()}
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await say(fleet.today, chat, "note by today's server")
    assert refused.value.status == DocumentTooNewError.http_status
    assert {name: fleet.stored(chat).read(name) for name in fleet.stored(chat).names()} == before
    assert (await say(fleet.tomorrow, chat, "note by a reader")).failure is None
