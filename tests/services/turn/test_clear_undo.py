"""A clear can be undone for 24 hours by who cleared, and nothing of either side is lost."""

import json

import pytest

from data_models.conversations.conversation import Conversation
from data_models.conversations.turn_events import RunFailed, StateChanged
from data_models.errors import NotFoundError, NothingToUndoError
from data_models.identifiers import PatientId
from services.conversations.clearing import Clearing
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.forgetting import Forgetting
from services.views.archive import Restoring
from services.views.conversation_reader import OwnedChat
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore
from tests.services.turn.test_groups import said
from tests.services.world import CHAT, Heard, World


async def talked(store: MemoryBlobStore | FaultyBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    for text in ("open patient_4", "what is the stage?", "switch to patient_15 and go on"):
        await world.tell(text)
    return world


def live(store: MemoryBlobStore) -> dict[str, object]:
    """Return the documents that are in use, but what changes with each write."""
    found: dict[str, object] = {}
    for name, data in store.contents.items():
        is_document = "/archive/" not in name and not name.endswith("conversation.json")
        if is_document and "session" not in name:
            found[name] = json.loads(data)
    return found


def asked_of(document: object) -> list[str]:
    rows = document["chat_history"] if isinstance(document, dict) else []
    return [row["user_message"] for row in rows]


async def overwritten(store: MemoryBlobStore, name: str, data: bytes) -> None:
    blob = await store.read(name)
    assert blob is not None
    await store.replace(name, data, etag=blob.etag)


def state_of(one: Heard) -> StateChanged:
    return [event for event in one.events if isinstance(event, StateChanged)][-1]


async def test_the_answer_of_a_clear_offers_to_undo_it() -> None:
    world = await talked(MemoryBlobStore())

    cleared = await world.say("clear patient context")

    assert cleared.texts[-1].endswith("“undo” brings it back for 24 hours.")
    assert state_of(cleared).state.undo == {"say": "undo", "until": "2030-01-03T03:04:05+00:00"}


@pytest.mark.parametrize("words", ["undo", "Undo the clear", "rückgängig"])
@pytest.mark.slow
async def test_undo_brings_every_document_and_the_open_chart_back(words: str) -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    before = live(store)
    await world.say("clear")

    undone = await world.tell(words)

    assert state_of(undone).state.patient_id == "patient_15"
    after = live(store)
    assert set(after) == set(before)
    first = f"{CHAT}/patient_patient_4_context.json"
    assert asked_of(after[first]) == asked_of(before[first]) != []
    asked = asked_of(after[f"{CHAT}/patient_patient_15_context.json"])
    assert asked == ["switch to patient_15 and go on", words]
    back = await world.say("switch to patient_4")
    assert state_of(back).state.patient_id == "patient_4"
    assert await world.say("undo") is not None


async def test_what_was_said_since_is_asked_about_archived_and_comes_back_by_another_undo() -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    await world.say("clear")
    await world.say("open patient_7")
    await world.say("what is the stage?")

    asked = await world.say("undo the clear")
    undone = await world.tell("yes")

    assert asked.texts[-1].startswith("Bring back what was cleared? What was said since")
    assert undone.texts[-1].endswith("“undo” brings that back instead.")
    assert f"{CHAT}/patient_patient_7_context.json" not in live(store)

    await world.say("undo the clear")
    again = await world.say("yes")
    assert state_of(again).state.patient_id == "patient_7"


async def test_a_bare_undo_with_a_chart_open_asks_first_and_a_no_changes_nothing() -> None:
    world = await talked(MemoryBlobStore())
    await world.say("clear")
    await world.say("open patient_7")

    asked = await world.say("undo")
    refused = await world.say("no")

    assert asked.texts[-1].startswith("Bring back what was cleared?")
    assert refused.texts == ["Nothing was brought back."]
    assert state_of(refused).state.patient_id == "patient_7"


async def test_a_second_clear_of_nothing_leaves_the_first_to_be_undone() -> None:
    world = await talked(MemoryBlobStore())
    await world.say("clear")
    await world.say("clear")

    assert state_of(await world.say("undo")).state.patient_id == "patient_15"


async def test_after_a_day_and_without_a_clear_there_is_nothing_to_undo() -> None:
    world = await talked(MemoryBlobStore())
    none = await world.say("undo the clear")
    await world.say("clear")
    assert isinstance(world.clock, FixedClock)
    world.clock.advance(24 * 3_600 + 1)

    late = await world.say("undo the clear")

    for one in (none, late):
        assert one.texts == [
            "You have cleared nothing here in the last 24 hours that could be undone."
        ]


async def test_in_a_group_only_who_cleared_may_undo_and_is_asked_first() -> None:
    world = World()
    await said(world, "Anna", "open patient_4")
    await said(world, "Bert", "clear patient context")
    await said(world, "Bert", "yes")

    by_another = await said(world, "Anna", "undo the clear")
    asked = await said(world, "Bert", "undo")
    done = await said(world, "Bert", "yes")

    assert "cleared nothing here" in by_another.texts[-1]
    assert asked.texts[-1].startswith("Bring back what was cleared?")
    assert done.texts[-1].startswith("Bert undid the clear for everybody. Restored;")
    assert state_of(done).state.patient_id == "patient_4"


async def test_after_a_forget_nothing_can_be_undone() -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    await world.tell("clear")
    lease = MaintenanceLease(claimant=world.claimant, ids=world.ids)
    forgetting = Forgetting(sessions=store, users=MemoryBlobStore(), maintenance_lease=lease)
    await forgetting.run(PatientId("patient_4"), dry_run=False)

    undone = await world.say("undo the clear")

    assert "cleared nothing here" in undone.texts[-1]
    assert not [name for name in live(store) if "patient_4" in name]


async def test_a_changed_archive_brings_nothing_back_and_says_so() -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    await world.tell("clear")
    name = next(one for one in store.contents if one.endswith("patient_patient_4_archived.json"))
    await overwritten(store, name, b"{}")
    before = live(store)

    undone = await world.say("undo")

    assert isinstance(undone.end, RunFailed)
    assert live(store) == before


async def test_an_undo_that_dies_in_the_middle_is_finished_by_the_next_turn() -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    before = live(store)
    await world.tell("clear")
    name = f"{CHAT}/conversation.json"
    document = Conversation.model_validate_json(store.contents[name])
    assert document.last_clear is not None
    # As the commit leaves it: the epoch is raised and nothing is copied yet.
    document.epoch, document.pending_restore = document.epoch + 1, document.last_clear.timestamp
    document.last_clear = None
    await overwritten(store, name, document.model_dump_json().encode())

    again = World(sessions=store, clock=FixedClock())
    went_on = await again.say("what is the stage?")

    assert state_of(went_on).state.patient_id == "patient_15"
    assert set(live(store)) == set(before)


async def test_the_owner_s_button_does_what_the_word_does_and_nobody_else_s_does() -> None:
    store = MemoryBlobStore()
    world = await talked(store)
    before = live(store)
    await world.tell("clear")
    restoring = Restoring(
        reader=world.reader,
        clearing=Clearing(store=store, contexts=world.contexts),
        lease=MaintenanceLease(claimant=world.claimant, ids=world.ids),
    )
    owner = world.message("").owner

    with pytest.raises(NotFoundError):
        await restoring.restore(OwnedChat(CHAT, "somebody else"))
    assert await restoring.restore(OwnedChat(CHAT, owner)) == 4
    with pytest.raises(NothingToUndoError):
        await restoring.restore(OwnedChat(CHAT, owner))

    assert set(live(store)) == set(before)
    went_on = await world.say("what is the stage?")
    assert state_of(went_on).state.patient_id == "patient_15"
