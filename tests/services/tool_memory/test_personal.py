"""What a user's own services gave lies with that user, and is known in their turns alone."""

from datetime import timedelta

from data_models.chat_context import ChatContext
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore
from data_models.tool_memory import PERSONAL_TOOLS, EntityContext, ToolMemory
from group_chat.tools.personal.calendar_tools import CALENDAR, TASKS
from group_chat.tools.personal.mail_tools import CONTACTS, DOCUMENTS, MAIL
from services.tool_memory.personal import FOLDER, PersonalToolMemories
from tests.fakes_store import MemoryBlobStore
from tests.services.tool_memory.memory_world import run_of, session_of

NOTE = {"id": "m1", "subject": "Payslip of Ada", "from": "hr@clinic.example"}
VISIT = {"appointment_id": "a1", "start": "2026-12-02T10:00:00+00:00", "doctor": "Dr. Jones"}


def talk() -> ChatContext:
    return ChatContext(conversation_id="chat_1", patient_id=PatientId("patient_4"), epoch=1)


def record(context: ChatContext, who: str, *runs: tuple[str, dict[str, object]]) -> None:
    session = session_of(context.tool_memory, principal=hashed(who))
    for tool, data in runs:
        session.record(run_of(data, tool=tool))


def of_ada(*runs: tuple[str, dict[str, object]]) -> tuple[PersonalToolMemories, ChatContext]:
    """Return where tool memories lie, and a document in which Ada's tools told that."""
    context = talk()
    record(context, "ada", *runs)
    return PersonalToolMemories(store=MemoryBlobStore()), context


def ids(memory: ToolMemory) -> list[str]:
    return [one.entity_id for one in memory.entities]


async def reopened(
    left: ChatContext, memories: PersonalToolMemories, who: str, *, epoch: int = 1
) -> ToolMemory:
    """Return the tool memory of who opens the stored document in their next turn."""
    stored = ChatContext.model_validate_json(left.model_dump_json())
    stored.epoch = epoch
    await memories.open(stored, principal_id=who)
    return stored.tool_memory


async def everything(store: BlobStore) -> bytes:
    blobs = [await store.read(row.name) async for row in store.list(f"{FOLDER}/")]
    return b"".join(blob.data for blob in blobs if blob is not None)


async def test_mail_leaves_the_patients_document_and_visits_stay() -> None:
    memories, context = of_ada(
        ("search_mail", {"mails": [NOTE]}), ("appointments", {"rows": [VISIT]})
    )

    left = await memories.keep(context, principal_id="ada")

    assert "Payslip" not in left.model_dump_json()
    assert ids(left.tool_memory) == ["Appointment/a1"]
    assert [one.tool_name for one in left.tool_memory.executions] == ["appointments"]
    assert b"Payslip" in await everything(memories.store)
    assert ids(context.tool_memory) == ["m1", "Appointment/a1"], "the turn goes on with both"


async def test_its_user_finds_both_again_and_what_they_looked_at_last() -> None:
    memories, context = of_ada(
        ("appointments", {"rows": [VISIT]}), ("search_mail", {"mails": [NOTE]})
    )
    left = await memories.keep(context, principal_id="ada")

    again = await reopened(left, memories, "ada")

    assert again.focus == "m1"
    assert [one.tool_name for one in again.executions] == ["appointments", "search_mail"]
    assert sorted(ids(again)) == ["Appointment/a1", "m1"]


async def test_a_colleague_gets_nothing_of_it_and_takes_nothing_away() -> None:
    memories, context = of_ada(("search_mail", {"mails": [NOTE]}))
    left = await memories.keep(context, principal_id="ada")
    assert ids(await reopened(left, memories, "bob")) == []

    record(left, "bob", ("list_tasks", {"tasks": [{"id": "t1", "title": "Call", "due": "x"}]}))
    left = await memories.keep(left, principal_id="bob")

    assert ids(await reopened(left, memories, "bob")) == ["t1"]
    assert ids(await reopened(left, memories, "ada")) == ["m1"]
    assert left.tool_memory.entities == []


async def test_after_a_clear_nothing_of_before_is_known() -> None:
    memories, context = of_ada(("search_mail", {"mails": [NOTE]}))
    left = await memories.keep(context, principal_id="ada")
    assert ids(await reopened(left, memories, "ada", epoch=2)) == []


async def test_a_part_that_cannot_be_read_costs_the_references_alone() -> None:
    memories, context = of_ada(
        ("appointments", {"rows": [VISIT]}), ("search_mail", {"mails": [NOTE]})
    )
    left = await memories.keep(context, principal_id="ada")
    (name,) = [row.name async for row in memories.store.list(f"{FOLDER}/")]
    blob = await memories.store.read(name)
    assert blob is not None
    await memories.store.replace(name, b"{", etag=blob.etag)
    assert ids(await reopened(left, memories, "ada")) == ["Appointment/a1"]


async def test_a_document_that_holds_them_still_hands_them_over() -> None:
    memories, context = of_ada(("search_mail", {"mails": [NOTE]}))
    assert context.tool_memory.personal_of == [], "as a version before stored it"
    again = await reopened(context, memories, "ada")
    assert ids(again) == ["m1"]


async def test_what_is_forgotten_in_a_turn_is_read_no_more() -> None:
    memories, context = of_ada(("search_mail", {"mails": [NOTE]}))
    left = await memories.keep(context, principal_id="ada")
    left = await memories.keep(left, principal_id="ada")
    assert left.tool_memory.personal_of == []
    assert ids(await reopened(left, memories, "ada")) == []


async def test_a_turn_without_own_things_touches_no_file() -> None:
    memories, context = of_ada(("results", {"rows": [{"text": "Hb 11"}]}))
    assert await memories.keep(context, principal_id="ada") is context
    assert await everything(memories.store) == b""


async def test_the_clean_up_deletes_what_nobody_used_for_a_week() -> None:
    memories, context = of_ada(("search_mail", {"mails": [NOTE]}))
    await memories.keep(context, principal_id="ada")
    (row,) = [row async for row in memories.store.list(f"{FOLDER}/")]
    later = row.modified_at + timedelta(days=8)
    assert await memories.sweep(now=row.modified_at, dry_run=False) == 0
    assert await memories.sweep(now=later, dry_run=True) == 1
    assert await everything(memories.store) != b""
    assert await memories.sweep(now=later, dry_run=False) == 1
    assert await everything(memories.store) == b""


def test_every_tool_over_a_users_own_services_is_known_as_one() -> None:
    made = (CALENDAR, CONTACTS, DOCUMENTS, MAIL, TASKS)
    assert {name for own in made for name in own.names} == PERSONAL_TOOLS


def test_an_item_of_the_record_is_never_personal() -> None:
    context = talk()
    record(context, "ada", ("appointments", {"rows": [VISIT]}))
    visits: list[EntityContext] = context.tool_memory.entities
    assert [one.is_personal for one in visits] == [False]
