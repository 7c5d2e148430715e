"""What a clear put away is read by its owner, patient by patient, and by nobody else."""

from datetime import UTC, datetime

import pytest

from data_models.conversations.conversation import Conversation
from data_models.errors import ChartClosedError, NotFoundError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.storage.blob_store import Blob
from services.chart_access.chart_guard import ChartGuard
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.forgetting import Forgetting
from services.views.archive import ArchiveReader, Branching
from services.views.conversation_reader import OwnedChat
from tests.fakes import ClosedCharts, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, OWNER, FarReplica, World

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


class CountingStore(MemoryBlobStore):
    """Notes which blobs of older turns are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_turns: list[str] = []

    async def read(self, name: str) -> Blob | None:
        if "_turns" in name:
            self.read_turns.append(name)
        return await super().read(name)


@pytest.mark.slow
async def test_a_page_reads_the_blobs_that_hold_its_turns_and_no_more() -> None:
    store = CountingStore()
    world = World(sessions=store, clock=FixedClock())
    await world.tell("open patient_4")
    for number in range(40):
        await world.tell(f"note {number}: {'he slept well. ' * 400}")
    await world.tell("clear")
    blobs = [name for name in store.contents if "_turns" in name]
    assert len(blobs) > 8
    reader, chat = archive_of(world, store), chat_of(world, "patient_4")

    for before, newest in ((None, 41), (20, 19)):
        store.read_turns.clear()
        page = await reader.turns(chat, AT, before=before, limit=3)
        assert [turn.turn_id for turn in page.turns] == [newest - 2, newest - 1, newest]
        assert page.next_before == newest - 2
        assert len(store.read_turns) < len(blobs) / 2
    assert (await reader.turns(chat, AT, before=0, limit=3)).turns == []


FOUR = PatientId("patient_4")
LATER, OTHER = "CANARYLATER", "CANARYFIFTEEN"


def branching_on(world: World) -> Branching:
    return Branching(reader=world.reader, store=world.sessions)


@pytest.fixture
async def world() -> World:
    world = World()
    await world.say("history of patient_4")
    await world.say("stage of the tumour?")
    await world.say(f"plan a biopsy {LATER}")
    await world.say(f"start a tumor board for patient_15 {OTHER}")
    await world.tell("switch to patient_4")
    view = await world.reader.view(OwnedChat(CHAT, OWNER))
    assert [row.patient_id for row in view.patients] == ["patient_4", "patient_15"]
    return world


def of_branch(world: World, branch: str) -> dict[str, bytes]:
    assert isinstance(world.sessions, MemoryBlobStore)
    prefix = ConversationLayout.of(branch).prefix
    return {name: data for name, data in world.sessions.contents.items() if name.startswith(prefix)}


async def test_it_holds_the_talk_until_then_and_nothing_else(world: World) -> None:
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)
    page = await world.reader.messages(OwnedChat(branch, OWNER))
    assert page.patient_id == FOUR
    old = (await world.reader.messages(OwnedChat(CHAT, OWNER, "patient_4"))).turns
    assert [turn.user_message for turn in page.turns] == [one.user_message for one in old[:2]]
    assert [turn.turn_id for turn in page.turns] == [1, 2]
    assert not {turn.run_id for turn in page.turns} & {turn.run_id for turn in old}
    held = b"".join(of_branch(world, branch).values())
    assert LATER.encode() not in held
    assert b"patient_15" not in held
    assert OTHER.encode() not in held
    view = await world.reader.view(OwnedChat(branch, OWNER))
    assert (view.question, view.plan, view.running_turn) == (None, None, None)
    assert view.branched_from is not None
    assert (view.branched_from.conversation_id, view.branched_from.before_turn) == (CHAT, 3)
    assert branch in [row.chat_id for row in await world.reader.list_of(owner=OWNER)]


async def test_the_talk_goes_on_there_and_the_old_one_stays(world: World) -> None:
    before = of_branch(world, CHAT)
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=2)
    assert of_branch(world, CHAT) == before
    await world.say("and now?", chat=branch, seen_patient_id="patient_4")
    shown = world.team.requests[-1]
    assert "history of patient_4" in str(shown)
    assert LATER not in str(shown)
    page = await world.reader.messages(OwnedChat(branch, OWNER, "patient_4"))
    assert [turn.turn_id for turn in page.turns] == [1, 2]


async def test_before_the_first_question_it_is_an_open_chart(world: World) -> None:
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=1)
    page = await world.reader.messages(OwnedChat(branch, OWNER))
    assert (page.patient_id, page.turns) == (FOUR, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chat", "owner", "patient"),
    [(CHAT, "mallory", "patient_4"), ("absent", OWNER, "patient_4"), (CHAT, OWNER, "patient_7"),
     (CHAT, OWNER, "session")],
)  # fmt: skip
async def test_nobody_else_and_nothing_else_is_branched(
    world: World, chat: str, owner: str, patient: str
) -> None:
    assert isinstance(world.sessions, MemoryBlobStore)
    before = dict(world.sessions.contents)
    with pytest.raises(NotFoundError):
        await branching_on(world).branch(OwnedChat(chat, owner, patient), before_turn=3)
    assert world.sessions.contents == before


async def test_a_closed_chart_is_not_branched(world: World) -> None:
    guard = ChartGuard(policy=ClosedCharts(FOUR), audit=world.trail, clock=world.clock)
    closed = World(sessions=world.sessions, users=world.users, clock=world.clock, guard=guard)
    with pytest.raises(ChartClosedError):
        await branching_on(closed).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)


async def test_who_is_forgotten_meanwhile_does_not_come_back(world: World) -> None:
    other = World(
        sessions=world.sessions, users=world.users, clock=world.clock, replica=FarReplica()
    )
    lease = MaintenanceLease(claimant=other.claimant, ids=world.ids)
    forgetting = Forgetting(sessions=world.sessions, users=world.users, maintenance_lease=lease)
    branching = branching_on(world)
    write = world.conversations.write

    async def forget_first(conversation: Conversation, *, etag: str | None) -> str:
        await forgetting.run(FOUR, dry_run=False)
        return await write(conversation, etag=etag)

    world.conversations.write = forget_first  # type: ignore[method-assign]
    with pytest.raises(NotFoundError):
        await branching.branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)
    world.conversations.write = write  # type: ignore[method-assign]
    assert isinstance(world.sessions, MemoryBlobStore)
    assert [name for name, data in world.sessions.contents.items() if b"stage of" in data] == []
