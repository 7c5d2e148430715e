"""What people read back: their own, whole, once, and on record."""

from datetime import UTC, datetime

import pytest

from data_models.chat_context import ChatContext, Turn
from data_models.conversations.turn_events import StateChanged
from data_models.errors import NotFoundError, StoreUnavailableError
from data_models.tool_memory import ToolExecutionContext, ToolMemory
from services.views.conversation_reader import OwnedChat
from services.views.conversation_view import tool_rows
from tests.fakes import FixedClock, RememberedAudit
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore
from tests.given import present
from tests.services.world import CHAT, World


@pytest.fixture
def audit() -> RememberedAudit:
    return RememberedAudit()


@pytest.fixture
async def world(audit: RememberedAudit) -> World:
    world = World(audit=audit)
    await world.say("hello")
    await world.tell("start a tumor board for patient_4")
    return world


BAD_IDS = ["absent", "", "\ud800", "x" * 5_000, "../chat_1"]


@pytest.mark.parametrize("chat", [*BAD_IDS, CHAT])
async def test_absent_malformed_and_not_yours_are_one_answer(world: World, chat: str) -> None:
    owner = "mallory" if chat == CHAT else "alice"
    reader = world.reader
    attempts = [
        reader.access(OwnedChat(chat, owner)),
        reader.view(OwnedChat(chat, owner)),
        reader.messages(OwnedChat(chat, owner)),
        reader.artifact(OwnedChat(chat, owner, "session"), artifact_id="file_1"),
        reader.roster_member(OwnedChat(chat, owner, "patient_4")),
    ]
    told = []
    for attempt in attempts:
        with pytest.raises(NotFoundError) as caught:
            await attempt
        told.append(str(caught.value))
    assert set(told) == {"no such conversation"}


@pytest.mark.slow
@pytest.mark.parametrize("patient", ["patient_15", "../patient_4", "patient_4\n", "", "PATIENT_4"])
async def test_a_patient_who_is_not_in_the_roster_is_not_there(world: World, patient: str) -> None:
    with pytest.raises(NotFoundError):
        await world.reader.messages(OwnedChat(CHAT, "alice", patient))


async def test_a_new_conversation_can_be_begun_only_where_nobody_is(world: World) -> None:
    await world.reader.access(OwnedChat("unclaimed", "bob"), unclaimed_ok=True)
    assert await world.reader.is_web_conversation(CHAT)
    assert not await world.reader.is_web_conversation("unclaimed")
    with pytest.raises(NotFoundError):
        await world.reader.access(OwnedChat(CHAT, "bob"), unclaimed_ok=True)


async def test_a_store_that_is_down_is_not_an_absent_conversation(world: World) -> None:
    inner = FaultyBlobStore(world.sessions, always=Down())
    blind = World(sessions=inner, users=world.users)
    with pytest.raises(StoreUnavailableError):
        await blind.reader.access(OwnedChat(CHAT, "alice"), unclaimed_ok=True)


async def test_nobody_can_guess_a_new_conversation_and_nothing_is_stored_before_its_first_message(
    world: World,
) -> None:
    created = [await world.reader.create(owner="alice") for _ in range(3)]
    assert [row.chat_id for row in await world.reader.list_of(owner="alice")] == [CHAT]
    assert len(set(created)) == 3
    assert all(len(each) >= 26 for each in created)
    await world.say("what about patient_4?", chat=created[0])
    listed = {row.chat_id: row for row in await world.reader.list_of(owner="alice")}
    assert sorted(listed) == sorted([created[0], CHAT])
    assert [one.patient_id for one in listed[created[0]].patients] == ["patient_4"]
    assert await world.reader.list_of(owner="bob") == []


async def test_a_view_shows_the_conversation_as_it_stands(world: World) -> None:
    run = await world.hold("slow")
    await world.submit("waits")
    view = await world.reader.view(OwnedChat(CHAT, "alice"))
    assert view.patient_id == "patient_4"
    assert [row.patient_id for row in view.patients] == ["patient_4"]
    assert (present(view.running_turn).run_id, view.queued) == (run.run_id, 1)
    world.team.gate.set()
    await world.scheduler.idle()


@pytest.mark.slow
async def test_a_history_is_read_page_by_page_without_gap_or_double(world: World) -> None:
    world.team.say = lambda request: [f"Heard: {request.text}", "x" * 1_500]
    for number in range(40):
        await world.say(f"note {number}")
    await world.scheduler.idle()
    seen: list[str] = []
    before: int | None = None
    while True:
        page = await world.reader.messages(
            OwnedChat(CHAT, "alice", "patient_4"), before=before, limit=7
        )
        seen = [turn.user_message for turn in page.turns] + seen
        if page.next_before is None:
            break
        before = page.next_before
    notes = [f"note {number}" for number in range(40)]
    assert seen == ["start a tumor board for patient_4", *notes]


async def test_the_sessions_own_talk_is_read_by_its_name(world: World) -> None:
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "session"))
    assert [turn.user_message for turn in page.turns] == ["hello"]
    assert page.patient_id is None


async def test_every_reading_is_on_record_beforehand(world: World, audit: RememberedAudit) -> None:
    audit.entries.clear()
    await world.reader.view(OwnedChat(CHAT, "alice"))
    await world.reader.messages(OwnedChat(CHAT, "alice", "patient_4"))
    with pytest.raises(NotFoundError):
        await world.reader.artifact(OwnedChat(CHAT, "alice", "patient_4"), artifact_id="no")
    recorded = [(each.principal, each.patient, each.actions) for each in audit.entries]
    assert recorded == [
        ("alice", "patient_4", ("read_conversation",)),
        ("alice", "patient_4", ("read_history",)),
        ("alice", "patient_4", ("read_artifact",)),
    ]


async def test_reading_changes_nothing(world: World) -> None:
    store = world.sessions
    assert isinstance(store, MemoryBlobStore)
    before = store.contents
    await world.reader.view(OwnedChat(CHAT, "alice"))
    await world.reader.messages(OwnedChat(CHAT, "alice"))
    await world.reader.list_of(owner="alice")
    assert store.contents == before


async def test_a_question_is_shown_in_the_language_in_which_it_was_asked() -> None:
    world = World()
    await world.tell("öffne patient_4")
    asked = await world.tell("vergleiche sie mit patient_15")
    told = [one.state.question for one in asked.events if isinstance(one, StateChanged)][-1]
    shown = (await world.reader.view(OwnedChat(CHAT, "alice"))).question
    assert told is not None
    assert shown is not None
    assert told["text"] == shown.text
    assert "Um wen geht es?" in shown.text


async def test_a_question_is_shown_only_while_it_may_be_answered() -> None:
    clock = FixedClock()
    world = World(clock=clock)
    await world.say("start a tumor board for patient_4")
    await world.tell("please clear all patients")
    assert present((await world.reader.view(OwnedChat(CHAT, "alice"))).question).kind == "clear"
    clock.advance(30 * 60)
    assert (await world.reader.view(OwnedChat(CHAT, "alice"))).question is None


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema_version": 999, "min_reader": 999}'])
@pytest.mark.parametrize("name", ["conversation.json", "patient_context_registry.json"])
async def test_a_damaged_conversation_is_listed_with_its_problem_beside_the_others(
    world: World, name: str, damage: bytes
) -> None:
    await world.tell("start a tumor board for patient_15", chat="chat_2")
    assert isinstance(world.sessions, MemoryBlobStore)
    (damaged,) = (one for one in world.sessions.contents if one == f"chat_2/{name}")
    blob = present(await world.sessions.read(damaged))
    await world.sessions.replace(damaged, damage, etag=blob.etag)

    rows = {row.chat_id: row for row in await world.reader.list_of(owner="alice")}
    assert rows[CHAT].problem == ""
    assert rows["chat_2"].problem in (
        "corrupt_conversation",
        "corrupt_registry",
        "document_too_new",
    )
    assert rows["chat_2"].patient_ids == []
    assert await world.reader.list_of(owner="bob") == []


async def test_an_empty_entry_of_the_owner_index_is_passed_over(world: World) -> None:
    assert isinstance(world.users, MemoryBlobStore)
    folder = next(one for one in world.users.contents if one.startswith("users/")).rpartition("/")[
        0
    ]
    await world.users.create(f"{folder}/torn", b"\xff")
    await world.users.create(f"{folder}/empty", b"")
    assert [row.chat_id for row in await world.reader.list_of(owner="alice")] == [CHAT]


def test_beside_an_answer_stands_what_ran_for_it_and_nothing_of_a_users_own() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    runs = [
        ToolExecutionContext(
            execution_id=name,
            tool_name=name,
            agent_name="PatientStatus",
            user_request="?",
            success=name != "results",
            timestamp=at,
            turn_id=turn_id,
            is_personal=name == "find_mail",
        )
        for name, turn_id in (("problems", 1), ("medications", 2), ("results", 2), ("find_mail", 2))
    ]
    context = ChatContext(conversation_id="c", tool_memory=ToolMemory(executions=runs))
    turn = Turn(turn_id=2, run_id="r", timestamp=at, user="Ada", user_message="?")
    shown = [(one.tool, one.is_error) for one in tool_rows(context, turn)]
    assert shown == [("medications", False), ("results", True)]
