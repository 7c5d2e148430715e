"""What a clear put away is read by its owner, patient by patient, and by nobody else."""

from datetime import UTC, datetime

import pytest

from data_models.errors import ChartClosedError, NotFoundError
from data_models.identifiers import PatientId
from services.chart_access.chart_guard import ChartGuard
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.forgetting import Forgetting
from services.views.archive import ArchiveReader
from services.views.conversation_reader import OwnedChat
from tests.fakes import ClosedCharts, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World

AT = "20300102T030405"


async def cleared_twice(store: MemoryBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    for text in ("hello", "open patient_4", "what is the stage?", "switch to patient_15", "clear"):
        await world.tell(text)
    for text in ("open patient_7", "clear"):
        await world.tell(text)
    await world.tell("open patient_15")
    return world


def archive_of(world: World, store: MemoryBlobStore) -> ArchiveReader:
    return ArchiveReader(reader=world.reader, store=store)


def chat_of(world: World, patient_id: str | None = None) -> OwnedChat:
    return OwnedChat(CHAT, world.message("").owner, patient_id)


async def said_in(reader: ArchiveReader, chat: OwnedChat, archive_id: str) -> list[str]:
    page = await reader.turns(chat, archive_id, before=None, limit=50)
    assert page.next_before is None
    return [turn.user_message for turn in page.turns]


async def test_each_clear_is_listed_with_its_own_patients_the_newest_first() -> None:
    store = MemoryBlobStore()
    world = await cleared_twice(store)

    newest, first = await archive_of(world, store).talks(chat_of(world))

    assert {row.patient_id for row in first.patients} == {"patient_4", "patient_15"}
    assert [row.patient_id for row in newest.patients] == ["patient_7"]
    assert (first.archive_id, newest.archive_id) == (AT, f"{AT}-2")
    assert first.cleared_at == datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_an_archive_is_read_patient_by_patient_and_changes_nothing() -> None:
    store = MemoryBlobStore()
    world = await cleared_twice(store)
    reader, before = archive_of(world, store), store.contents

    assert await said_in(reader, chat_of(world, "patient_4"), AT) == [
        "open patient_4",
        "what is the stage?",
    ]
    assert await said_in(reader, chat_of(world, "patient_15"), AT) == ["switch to patient_15"]
    assert await said_in(reader, chat_of(world), AT) == ["hello"]
    with pytest.raises(NotFoundError):
        await said_in(reader, chat_of(world, "patient_7"), AT)
    with pytest.raises(NotFoundError):
        await said_in(reader, chat_of(world, "patient_4"), "20300102T030406")

    assert store.contents == before


async def test_nobody_else_reads_an_archive() -> None:
    store = MemoryBlobStore()
    world = await cleared_twice(store)
    reader, stranger = archive_of(world, store), OwnedChat(CHAT, "somebody else", "patient_4")

    with pytest.raises(NotFoundError):
        await reader.talks(stranger)
    with pytest.raises(NotFoundError):
        await reader.turns(stranger, AT, before=None, limit=50)


async def test_a_closed_chart_is_neither_listed_nor_read_and_what_was_erased_is_gone() -> None:
    store = MemoryBlobStore()
    world = await cleared_twice(store)
    guard = ChartGuard(
        policy=ClosedCharts(PatientId("patient_4")), audit=world.trail, clock=world.clock
    )
    closed = World(sessions=store, users=world.users, clock=world.clock, guard=guard)
    _, first = await archive_of(closed, store).talks(chat_of(world))
    assert [row.patient_id for row in first.patients] == ["patient_15"]
    with pytest.raises(ChartClosedError):
        await said_in(archive_of(closed, store), chat_of(world, "patient_4"), AT)

    lease = MaintenanceLease(claimant=world.claimant, ids=world.ids)
    forgetting = Forgetting(sessions=store, users=world.users, maintenance_lease=lease)
    await forgetting.run(PatientId("patient_4"), dry_run=False)

    assert [
        row.patient_id for row in (await archive_of(world, store).talks(chat_of(world)))[1].patients
    ] == ["patient_15"]
    with pytest.raises(NotFoundError):
        await said_in(archive_of(world, store), chat_of(world, "patient_4"), AT)


@pytest.mark.slow
async def test_pages_go_back_to_the_first_turn_and_long_texts_are_whole() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store, clock=FixedClock())
    await world.tell("open patient_4")
    long = f"note: {'he slept well. ' * 500}"
    texts = [f"remember that value {number} was seen" for number in range(30)]
    for text in (long, *texts, "clear"):
        await world.tell(text)
    assert any("patient_patient_4_turns/" in name for name in store.contents)
    reader, chat = archive_of(world, store), chat_of(world, "patient_4")

    seen: list[str] = []
    before: int | None = None
    while True:
        page = await reader.turns(chat, AT, before=before, limit=7)
        seen[:0] = [turn.user_message for turn in page.turns]
        if (before := page.next_before) is None:
            break

    assert seen == ["open patient_4", long, *texts]
