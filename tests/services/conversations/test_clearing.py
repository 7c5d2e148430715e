"""A clear archives everything, verified, and then starts afresh; or it does nothing."""

import hashlib
import json
from collections.abc import AsyncIterator

import pytest

from data_models.conversations.turn_events import Notice, RunFailed
from data_models.storage.blob_store import BlobInfo
from services.views.conversation_reader import OwnedChat
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore
from tests.services.world import CHAT, World

TS = "20300102T030405"
INNER = f"{CHAT}/archive/{TS}/{CHAT}"


async def talked(store: MemoryBlobStore | FaultyBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    for text in ("start a tumor board for patient_4", "switch to patient_15 and go on"):
        await world.tell(text)
    return world


async def cleared(world: World) -> str | None:
    ended = await world.tell("clear patient context")
    return ended.end.code if isinstance(ended.end, RunFailed) else None


def live(store: MemoryBlobStore) -> list[str]:
    return sorted(name for name in store.contents if "/archive/" not in name)


async def test_a_long_clear_says_how_far_it_is(store: MemoryBlobStore) -> None:
    world = await talked(store)
    for number in range(1, 598):
        await store.create(f"{CHAT}/patient_patient_4_turns/{number}-{number}.json", b"{}")

    ended = await world.say("clear patient context")

    told = [event.text for event in ended.events if isinstance(event, Notice)]
    assert told == [f"{done} of 600 documents are archived." for done in (250, 500)]


class ListedStore(MemoryBlobStore):
    """Notes what is listed: on a disk each listing reads every document."""

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[str] = []

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        self.listed.append(prefix)
        return super().list(prefix)


async def test_a_clear_lists_the_documents_to_archive_and_those_to_delete_once_each() -> None:
    store = ListedStore()
    world = await talked(store)
    store.listed.clear()

    await cleared(world)

    assert store.listed.count(f"{CHAT}/") == 2


async def test_the_answer_counts_what_was_archived(store: MemoryBlobStore) -> None:
    world = await talked(store)
    told = [(await world.say("clear")).texts for _ in range(2)]
    assert told == [
        ["Cleared. 4 documents are archived; we start afresh. “undo” brings it back for 24 hours."],
        ["Cleared. 1 document is archived; we start afresh. “undo” brings it back for 24 hours."],
    ]


async def test_the_archive_holds_every_document_and_a_manifest(store: MemoryBlobStore) -> None:
    world = await talked(store)
    before = store.contents
    orphan = f"{CHAT}/patient_patient_99_context.json"
    await store.create(orphan, b"{damaged and in no roster")

    assert await cleared(world) is None

    archived = {name: data for name, data in store.contents.items() if name.startswith(INNER)}
    expected = {
        f"{INNER}/{TS}_patient_patient_4_archived.json": before[
            f"{CHAT}/patient_patient_4_context.json"
        ],
        f"{INNER}/{TS}_patient_patient_15_archived.json": before[
            f"{CHAT}/patient_patient_15_context.json"
        ],
        f"{INNER}/{TS}_patient_patient_99_archived.json": b"{damaged and in no roster",
        f"{INNER}/{TS}_patient_context_registry_archived.json": before[
            f"{CHAT}/patient_context_registry.json"
        ],
    }
    assert {name: archived[name] for name in expected} == expected
    assert set(archived) - set(expected) == {
        f"{INNER}/{TS}_session_archived.json",
        f"{INNER}/manifest.json",
    }
    manifest = json.loads(archived[f"{INNER}/manifest.json"])
    digests = {row["name"]: row["sha256"] for row in manifest["documents"]}
    for name, data in archived.items():
        if not name.endswith("/manifest.json"):
            assert digests[name.rpartition("/")[2]] == hashlib.sha256(data).hexdigest()
    assert live(store) == [f"{CHAT}/conversation.json", f"{CHAT}/session_context.json"]
    session = Evidence(store.contents, CHAT).parsed["session_context.json"]
    assert session.epoch == 1


async def test_the_same_patient_begins_blank_after_a_clear(store: MemoryBlobStore) -> None:
    world = await talked(store)
    await cleared(world)
    await world.say("start a tumor board for patient_4")
    request = world.team.requests[-1]
    assert (list(request.history), list(request.all_patient_ids)) == ([], ["patient_4"])


async def test_a_second_clear_in_a_second_has_its_own_place(store: MemoryBlobStore) -> None:
    world = await talked(store)
    await cleared(world)
    await world.tell("start a tumor board for patient_4")
    await cleared(world)
    assert sorted(Evidence(store.contents, CHAT).archives) == [TS, f"{TS}-2"]


async def test_a_copy_that_does_not_match_stops_the_clear(store: MemoryBlobStore) -> None:
    class BadCopies(FaultyBlobStore):
        async def create(self, name: str, data: bytes) -> str:
            is_copy = "/archive/" in name and not name.endswith("/manifest.json")
            return await super().create(name, b"something else" if is_copy else data)

    world = await talked(BadCopies(store))
    before = live(store)
    assert await cleared(world) == "store_unavailable"
    assert live(store) == before
    assert Evidence(store.contents, CHAT).conversation.epoch == 0


async def test_what_is_not_in_the_manifest_is_not_deleted(store: MemoryBlobStore) -> None:
    late = f"{CHAT}/patient_patient_7_context.json"

    class LateArrival(FaultyBlobStore):
        async def create(self, name: str, data: bytes) -> str:
            if name.endswith("/manifest.json"):
                await store.create(
                    late, b'{"conversation_id": "chat_1", "patient_id": "patient_7"}'
                )
            return await super().create(name, data)

    world = await talked(LateArrival(store))
    assert await cleared(world) is None
    assert late in store.contents
    await world.say("start a tumor board for patient_7")
    assert list(world.team.requests[-1].history) == []


@pytest.mark.slow
async def test_a_damaged_session_does_not_stop_a_clear(store: MemoryBlobStore) -> None:
    await talked(store)
    await store.create(f"{CHAT}/session_context.json", b"{")
    world = World(sessions=store, clock=FixedClock())
    assert await cleared(world) is None
    assert store.contents[f"{INNER}/{TS}_session_archived.json"] == b"{"
    assert (await world.say("hello")).texts == ["Heard: hello"]


async def test_an_archive_cannot_be_reached_from_the_chat(store: MemoryBlobStore) -> None:
    world = await talked(store)
    await cleared(world)
    view = await world.reader.view(OwnedChat(CHAT, "alice"))
    assert (view.patients, view.patient_id, view.plan) == ([], None, None)
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "session"))
    assert page.turns == []
