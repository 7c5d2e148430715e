"""The single history of before is the session's, once, and never a patient's."""

import json

import pytest

from data_models.conversations.turn_events import RunFailed
from data_models.errors import CorruptDocumentError
from services.views.conversation_reader import OwnedChat
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World

LEGACY = f"{CHAT}/chat_context.json"
ROWS = [
    {"role": "system", "content": "PATIENT_CONTEXT_JSON: {}"},
    {"role": "user", "content": "what of patient_4?"},
    {"role": "assistant", "name": "Radiology", "content": "A mass."},
    {"role": "user", "items": [{"text": "and"}, {"text": "now?"}]},
    {"role": "assistant", "content": "Nothing new."},
]


def evidence(store: MemoryBlobStore) -> Evidence:
    return Evidence(store.contents, CHAT)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["list", "text"])
async def test_it_is_adopted_by_the_session_and_put_away(store: MemoryBlobStore, form: str) -> None:
    history: object = ROWS if form == "list" else json.dumps({"messages": ROWS})
    original = json.dumps({"chat_history": history}).encode()
    await store.create(LEGACY, original)
    world = World(sessions=store)

    await world.tell("hello")

    turns = [each.turn for each in evidence(store).turns()]
    assert [turn.user_message for turn in turns] == ["what of patient_4?", "and\nnow?", "hello"]
    assert [turn.turn_id for turn in turns] == [1, 2, 3]
    assert [a.text for turn in turns[:2] for a in turn.agent_responses] == [
        "A mass.",
        "Nothing new.",
    ]
    assert {each.patient_id for each in evidence(store).turns()} == {None}
    copies = [name for name in store.contents if "chat_archived.json" in name]
    assert [store.contents[name] for name in copies] == [original]
    assert LEGACY not in store.contents


@pytest.mark.slow
async def test_no_patient_of_the_conversation_is_shown_any_of_it(store: MemoryBlobStore) -> None:
    await store.create(LEGACY, json.dumps({"chat_history": ROWS}).encode())
    world = World(sessions=store)
    await world.say("start a tumor board for patient_4")
    assert list(world.team.requests[-1].history) == []


async def test_a_long_one_is_kept_whole(store: MemoryBlobStore) -> None:
    rows = [
        row
        for number in range(60)
        for row in (
            {"role": "user", "content": f"question {number} " + "q" * 9_000},
            {"role": "assistant", "content": f"answer {number} " + "a" * 9_000},
        )
    ]
    await store.create(LEGACY, json.dumps({"chat_history": rows}).encode())
    world = World(sessions=store)
    await world.say("hello")
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "session"), limit=100)
    asked = [turn.user_message for turn in page.turns]
    assert asked == [*[row["content"] for row in rows if row["role"] == "user"], "hello"]
    told = [answer.text for turn in page.turns[:-1] for answer in turn.agent_responses]
    assert told == [row["content"] for row in rows if row["role"] == "assistant"]


@pytest.mark.slow
async def test_a_turn_that_died_before_does_not_hide_it(store: MemoryBlobStore) -> None:
    world = World(sessions=store)
    await world.hold("dies here")
    await store.create(LEGACY, json.dumps({"chat_history": ROWS}).encode())
    survivor = World(sessions=store, users=world.users)
    await survivor.tell("hello")
    said = {each.turn.user_message for each in evidence(store).turns()}
    assert said == {"dies here", "what of patient_4?", "and\nnow?", "hello"}


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"chat_history": 5}', b'{"chat_history": "no"}', b"[" * 100_000],
    ids=["empty", "list", "no history", "number", "no json", "deep"],
)
async def test_one_of_an_unknown_shape_is_refused_and_left_in_place(
    store: MemoryBlobStore, data: bytes
) -> None:
    await store.create(LEGACY, data)
    world = World(sessions=store)
    ended = (await world.say("hello")).end
    assert isinstance(ended, RunFailed)
    assert ended.code == CorruptDocumentError.code
    assert store.contents[LEGACY] == data
