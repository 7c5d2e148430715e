"""People see what is remembered with its sources, and every change of theirs can be taken back."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from data_models import errors
from data_models.chat_context import ChatContext
from data_models.entities.derived_entities import Origin
from data_models.identifiers import PatientId
from data_models.memory_blocks import CHANGES_LIMIT_BYTES, KeyPoint
from data_models.tool_memory import EntityContext, ToolExecutionContext
from services.conversations.maintenance_lease import MaintenanceLease
from services.memory_edits.operations import Operation, Retire
from services.memory_edits.view import MemoryItem, MemoryView
from services.tool_memory.personal import PersonalToolMemories
from services.views.conversation_reader import OwnedChat
from services.views.owner_changes import MemoryService
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, OWNER, World, heard

WISH = "wish:doctor_preference"
FINDING = "finding:AppointmentManager:available_slots"
THING = "thing:calendar_event:calendar:event-1"
POINT = "point:p1"
Change = Callable[..., Awaitable[MemoryView]]
_OPERATIONS: TypeAdapter[list[Operation]] = TypeAdapter(list[Operation])


@pytest.fixture
async def world(store: MemoryBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    await world.say("start a tumor board for patient_15")
    await world.tell("start a tumor board for patient_4")
    stored = await world.contexts.read(CHAT, PatientId("patient_4"), epoch=0)
    fill(stored.document, world.clock)
    await world.contexts.write(stored.document, etag=stored.etag)
    return world


def fill(document: ChatContext, clock: Any) -> None:
    now = clock.now()
    wishes = document.entities.conversation
    wishes.apply_delta({"doctor_preference": "Dr. Lindqvist"}, now=now)
    origin = Origin("available_slots", {"day": "Friday"}, None, ("doctor_preference",))
    document.entities.derived.apply_delta(
        "AppointmentManager", {"available_slots": ["09:00"]}, now=now, origin=origin
    )
    document.memory.key_points.append(
        KeyPoint(point_id="p1", text="Allergy: penicillin", turn_id=1)
    )
    document.memory.active_topic = "tumor_board"
    document.tool_memory.executions.append(
        ToolExecutionContext(
            execution_id="exec_1", tool_name="available_slots", agent_name="AppointmentManager",
            user_request="a time on Friday?", result="1 slot", timestamp=now, turn_id=1,
        )
    )  # fmt: skip
    for number, is_private in ((1, False), (2, True)):
        document.tool_memory.entities.append(
            EntityContext(
                entity_id=f"event-{number}", entity_type="calendar_event", source="calendar",
                display_name=f"Meeting about patient_{number}", data={"location": f"room {number}"},
                created_at=now, last_accessed=now, source_execution_id="exec_1",
                is_private=is_private,
            )
        )  # fmt: skip
    document.tool_memory.focus = "event-1"


@pytest.fixture
def service(world: World) -> MemoryService:
    return service_of(world)


def service_of(world: World, *, wait_seconds: float = 5.0) -> MemoryService:
    maintenance_lease = MaintenanceLease(
        claimant=world.claimant, ids=world.ids, wait_seconds=wait_seconds
    )
    return MemoryService(
        reader=world.reader,
        personal=PersonalToolMemories(store=world.users),
        lease=maintenance_lease,
    )


@pytest.fixture
def change(service: MemoryService) -> Change:
    async def changed(*operations: dict[str, Any], revision: str | None = None) -> MemoryView:
        now = await shown(service)
        return await service.change(
            OwnedChat(CHAT, OWNER, "patient_4"),
            operations=_OPERATIONS.validate_python(list(operations)),
            revision=revision or now.revision,
        )

    return changed


async def shown(service: MemoryService, patient_id: str | None = "patient_4") -> MemoryView:
    return await service.show(OwnedChat(CHAT, OWNER, patient_id))


def item(view: MemoryView, item_id: str) -> MemoryItem:
    return next(one for one in [*view.understood, *view.found] if one.id == item_id)


async def test_every_item_names_the_turn_and_the_run_it_comes_from(service: MemoryService) -> None:
    view = await shown(service)
    assert item(view, WISH).sources.turns == [1]
    assert item(view, POINT).sources.turns == [1]
    assert item(view, FINDING).sources.model_dump() == {
        "turns": [1], "runs": ["exec_1"], "tool": "available_slots",
        "agent": "AppointmentManager",
    }  # fmt: skip
    assert [run.result for run in view.ran] == ["1 slot"]
    assert view.topic is not None
    assert "Allergy: penicillin" in view.summary
    assert set(view.blocks) == {
        "conversation_history", "active_session", "context_summary", "memory_metadata",
    }  # fmt: skip


async def test_what_names_another_patient_is_shown_without_content(service: MemoryService) -> None:
    private = item(await shown(service), "thing:calendar_event:calendar:event-2")
    assert (private.label, private.value) == ("Other appointment", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item_id", "value"),
    [(WISH, "Dr. Who"), (FINDING, ["10:00"]), (POINT, "Allergy: none"), (THING, "Tumor board")],
)
async def test_a_correction_keeps_what_was_there_and_who_changed_it(
    change: Change, item_id: str, value: Any
) -> None:
    view = await change({"op": "correct", "item": item_id, "value": value})
    found = item(view, item_id)
    assert value in (found.value, found.label)
    assert (view.changes[0].by, view.changes[0].action) == (OWNER, "correct")
    assert view.changes[0].after == value
    assert view.changes[0].before is not None


@pytest.mark.slow
@pytest.mark.parametrize("item_id", [WISH, FINDING, POINT, THING])
async def test_what_is_retired_is_shown_as_such_and_restored_as_it_was(
    change: Change, service: MemoryService, item_id: str
) -> None:
    before = item(await shown(service), item_id)
    assert item(await change({"op": "retire", "item": item_id}), item_id).status == "retired"
    assert item(await change({"op": "restore", "item": item_id}), item_id).value == before.value


@pytest.mark.slow
@pytest.mark.parametrize("item_id", [WISH, FINDING, POINT, THING])
async def test_undo_puts_back_exactly_what_was_stored(
    change: Change, world: World, item_id: str
) -> None:
    before = await parts(world)
    for operation in ({"op": "correct", "value": "x"}, {"op": "retire"}):
        view = await change({**operation, "item": item_id})
        view = await change({"op": "undo", "change_id": view.changes[0].change_id})
        assert view.changes[1].undone
        after = await parts(world)
        assert after["wishes"] == before["wishes"]
        assert after["points"] == before["points"]
        assert after["things"] == before["things"]


async def parts(world: World) -> dict[str, Any]:
    read = await world.contexts.read(CHAT, PatientId("patient_4"), epoch=0, fresh=True)
    document = read.document
    return {
        "wishes": document.entities.conversation.model_dump(include={"entities"}),
        "points": document.memory.key_points,
        "things": document.tool_memory.entities,
    }


async def test_an_undo_is_refused_once_the_item_was_changed_again(change: Change) -> None:
    first = await change({"op": "correct", "item": WISH, "value": "Dr. A"})
    await change({"op": "correct", "item": WISH, "value": "Dr. B"})
    with pytest.raises(errors.MemoryItemError):
        await change({"op": "undo", "change_id": first.changes[0].change_id})


@pytest.mark.slow
async def test_an_undo_can_be_undone(change: Change) -> None:
    view = await change({"op": "correct", "item": WISH, "value": "Dr. A"})
    view = await change({"op": "undo", "change_id": view.changes[0].change_id})
    view = await change({"op": "undo", "change_id": view.changes[0].change_id})
    assert item(view, WISH).value == "Dr. A"


async def test_what_depended_on_a_corrected_wish_is_expired(change: Change) -> None:
    view = await change({"op": "correct", "item": WISH, "value": "Dr. A"})
    assert item(view, FINDING).status == "expired"


async def test_a_retired_thing_is_no_longer_what_it_means(change: Change, world: World) -> None:
    await change({"op": "retire", "item": THING})
    read = await world.contexts.read(CHAT, PatientId("patient_4"), epoch=0, fresh=True)
    assert read.document.tool_memory.focus is None


async def test_all_operations_count_or_none(change: Change, service: MemoryService) -> None:
    good = {"op": "correct", "item": WISH, "value": "Dr. A"}
    with pytest.raises(errors.MemoryItemError):
        await change(good, {"op": "retire", "item": "wish:nobody"})
    assert item(await shown(service), WISH).value == "Dr. Lindqvist"


@pytest.mark.slow
@pytest.mark.parametrize("value", ["", "   ", "x" * 3_000, None, {"a": 1}])
async def test_a_key_point_takes_a_short_text_only(change: Change, value: Any) -> None:
    with pytest.raises(errors.BadFrameError):
        await change({"op": "correct", "item": POINT, "value": value})


async def test_a_lost_update_is_refused(change: Change, service: MemoryService) -> None:
    seen = (await shown(service)).revision
    await change({"op": "correct", "item": WISH, "value": "Dr. A"})
    with pytest.raises(errors.MemoryChangedError):
        await change({"op": "correct", "item": WISH, "value": "Dr. B"}, revision=seen)


async def test_a_turn_that_changes_no_memory_leaves_the_revision(
    world: World, service: MemoryService
) -> None:
    seen = (await shown(service)).revision
    await world.tell("Thank you.")
    assert (await shown(service)).revision == seen


async def test_strangers_and_other_patients_get_the_unknown_answer(service: MemoryService) -> None:
    for chat, owner, patient in (
        (CHAT, "mallory", "patient_4"),
        ("chat_none", OWNER, "patient_4"),
        (CHAT, OWNER, "patient_99"),
        (CHAT, OWNER, "../x"),
    ):
        with pytest.raises(errors.NotFoundError):
            await service.show(OwnedChat(chat, owner, patient))
        with pytest.raises(errors.NotFoundError):
            await service.change(OwnedChat(chat, owner, patient), operations=[], revision="x")


async def test_nothing_of_others_is_seen_or_changed(change: Change, service: MemoryService) -> None:
    await change({"op": "correct", "item": WISH, "value": "Dr. A"})
    other = await shown(service, "patient_15")
    assert (other.understood, other.found, other.changes) == ([], [], [])


@pytest.mark.slow
async def test_a_change_waits_for_the_running_turn_or_says_that_it_runs(
    world: World, service: MemoryService
) -> None:
    seen = await shown(service)
    operations = _OPERATIONS.validate_python([{"op": "retire", "item": WISH}])
    world.team.gate.clear()
    run = await world.scheduler.submit(world.message("what was the stage?"))
    with pytest.raises(errors.ConversationBusyError):
        await service_of(world, wait_seconds=0.0).change(
            OwnedChat(CHAT, OWNER, "patient_4"), operations=operations, revision=seen.revision
        )
    world.team.gate.set()
    view = await service.change(
        OwnedChat(CHAT, OWNER, "patient_4"), operations=operations, revision=seen.revision
    )
    assert (await heard(run)).texts == ["Heard: what was the stage?"]
    assert item(view, WISH).status == "retired"


async def test_a_change_is_on_the_audit_trail_without_content(change: Change, world: World) -> None:
    await change({"op": "correct", "item": WISH, "value": "Dr. Audit"})
    assert isinstance(world.audit_store, MemoryBlobStore)
    trail = b"".join(world.audit_store.contents.values())
    assert b"correct_memory" in trail
    assert b"Dr. Audit" not in trail


@pytest.mark.slow
async def test_older_changes_leave_the_document_for_blobs_beside_it(
    change: Change, store: MemoryBlobStore, service: MemoryService
) -> None:
    for number in range(12):
        await change({"op": "correct", "item": WISH, "value": f"Dr. {number} " + "x" * 400})
    evidence = Evidence(store.contents, CHAT)
    document = next(one for one in evidence.contexts() if one.patient_id == "patient_4")
    assert len(document.memory_changes.model_dump_json()) < CHANGES_LIMIT_BYTES + 2_000
    archived = [name for name in store.contents if "_changes/" in name]
    first = document.memory_changes.changes[0].change_id
    assert len(archived) >= 1
    assert first > 1
    assert (await shown(service)).changes[0].change_id == 12
    assert {one.item for one in document.memory_changes.changes} == {WISH}


async def test_a_revision_is_of_one_patient_and_changes_nothing_of_another(
    world: World, service: MemoryService
) -> None:
    for patient in ("patient_41", "patient_42"):
        await world.say(f"switch to {patient}")
    await world.scheduler.idle()
    views = [
        await service.show(OwnedChat(CHAT, "alice", patient))
        for patient in ("patient_41", "patient_42")
    ]
    assert views[0].revision != views[1].revision, "two documents with nothing in them"
    with pytest.raises(errors.MemoryChangedError):
        await service.change(
            OwnedChat(CHAT, "alice", "patient_42"),
            operations=[Retire(op="retire", item="x")],
            revision=views[0].revision,
        )


async def test_a_change_that_names_no_patient_is_refused(service: MemoryService) -> None:
    seen = (await shown(service)).revision
    with pytest.raises(errors.BadFrameError, match="patient_id"):
        await service.change(OwnedChat(CHAT, "alice"), operations=[], revision=seen)
