"""What was shown with a turn, and its receipt: read back for that patient and epoch only."""

import base64
import random
import zlib

import pytest

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, ChatContext, MessageView, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.documents import Documents
from data_models.errors import CorruptDocumentError, NotFoundError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.tool_memory import TurnRuns
from data_models.turn_runs import HELD_LIMIT_CHARS, TOGETHER
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.routes.fakes import NOW

PATIENT = PatientId("patient_4")
TOGETHER_NAME = ConversationLayout.of("chat_1").runs_together(PATIENT, 0, TOGETHER - 1)
VIEW = ChartView(
    view_id="view_1", tool="results", kind="table", title="Results", rows=(ViewRow(name="CEA"),)
)
TURN = Turn(
    turn_id=1,
    run_id="run_1",
    timestamp=NOW,
    user="Ada",
    user_message="CEA?",
    agent_responses=[
        AgentMessage(
            message_id="m",
            agent="PatientStatus",
            text="Here.",
            timestamp=NOW,
            views=[MessageView(view_id="view_1", rows=1)],
        )
    ],
)


def context(**changes: object) -> ChatContext:
    values = {"conversation_id": "chat_1", "patient_id": PatientId("patient_4"), **changes}
    return ChatContext.model_validate(values)


def accessor(store: MemoryBlobStore) -> ChatContextAccessor:
    return ChatContextAccessor(
        documents=Documents(store=store, clock=FixedClock(), ids=CountingIds())
    )


async def names_in(store: MemoryBlobStore) -> list[str]:
    return [row.name async for row in store.list("chat_1/")]


async def stored_beside(store: MemoryBlobStore, views: list[ChartView]) -> ChatContext:
    """Return a document whose first turn left `views`, in the blob that turns share."""
    contexts, held = accessor(store), context()
    await contexts.save_runs(held, 1, [], views=views)
    await contexts.save_runs(held, TOGETHER, [], views=[])
    assert set(held.recent_runs) == {TOGETHER}
    return held


async def test_the_newest_turns_leave_theirs_in_the_document_and_older_ones_share_a_blob() -> None:
    store, held = MemoryBlobStore(), context()
    contexts = accessor(store)
    for number in range(1, TOGETHER):
        await contexts.save_runs(held, number, [], views=[VIEW], receipt=b"{}")
    assert await names_in(store) == []
    await contexts.save_runs(held, TOGETHER, [], views=[VIEW])
    assert await names_in(store) == [TOGETHER_NAME]
    for number in range(1, TOGETHER + 1):
        turn = TURN.model_copy(update={"turn_id": number})
        assert await contexts.views(held, turn) == [VIEW]


async def test_what_is_long_gets_a_blob_of_its_own_at_once() -> None:
    store, held = MemoryBlobStore(), context()
    await accessor(store).save_runs(held, 1, [], views=[VIEW])  # a try before
    rows = (ViewRow(name=random.Random(1).randbytes(HELD_LIMIT_CHARS).hex()),)
    await accessor(store).save_runs(held, 1, [], views=[VIEW.model_copy(update={"rows": rows})])
    assert held.recent_runs == {}
    (view,) = await accessor(store).views(held, TURN)
    assert view.rows == rows


async def test_a_process_that_died_before_the_document_was_written_repeats_its_blob() -> None:
    store = MemoryBlobStore()
    await stored_beside(store, [])
    held = await stored_beside(store, [VIEW])
    assert await accessor(store).views(held, TURN) == [VIEW]


async def test_a_document_keeps_what_its_newest_turns_left() -> None:
    store, held = MemoryBlobStore(), context()
    await accessor(store).save_runs(held, 1, [], views=[VIEW])
    await accessor(store).write(held, etag=None)
    read = await accessor(store).read("chat_1", PatientId("patient_4"), epoch=0)
    assert await accessor(store).views(read.document, TURN) == [VIEW]


@pytest.mark.parametrize(
    "damaged",
    ["", "not base64", base64.b64encode(b"not packed").decode(),
     base64.b64encode(zlib.compress(b"{}")[:-1]).decode(),
     base64.b64encode(zlib.compress(bytes(2_000_000))).decode(),
     base64.b64encode(zlib.compress(b"{}")).decode()],
)  # fmt: skip
async def test_what_cannot_be_unpacked_is_damaged(damaged: str) -> None:
    held = context(recent_runs={1: damaged})
    with pytest.raises(CorruptDocumentError):
        await accessor(MemoryBlobStore()).views(held, TURN)


async def test_a_turn_of_before_turns_shared_a_blob_is_still_found() -> None:
    store = MemoryBlobStore()
    runs = TurnRuns(conversation_id="chat_1", patient_id=PATIENT, turn_id=1, views=[VIEW])
    await store.create(
        ConversationLayout.of("chat_1").runs(PATIENT, 1), runs.model_dump_json().encode()
    )
    assert await accessor(store).views(context(), TURN) == [VIEW]


@pytest.mark.parametrize("is_held", [False, True])
async def test_rows_come_back_as_they_were_shown_and_not_after_a_clear(*, is_held: bool) -> None:
    store = MemoryBlobStore()
    held = await stored_beside(store, [VIEW])
    contexts = accessor(store)
    if is_held:
        await contexts.save_runs(held, 1, [], views=[VIEW])
    assert await contexts.views(held, TURN) == [VIEW]
    assert await contexts.views(held.model_copy(update={"epoch": 9}), TURN) == []
    assert await contexts.views(context(patient_id="patient_15"), TURN) == []
    silent = TURN.model_copy(update={"agent_responses": []})
    assert await contexts.views(held, silent) == []


async def test_what_no_turn_reads_again_pushes_nothing_out_of_the_cache() -> None:
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    contexts, held = ChatContextAccessor(documents=documents), context()
    await contexts.save_runs(held, 1, [], views=[VIEW])
    await contexts.save_runs(held, TOGETHER, [], views=[VIEW])
    assert held.recent_runs.keys() == {TOGETHER}
    assert not documents.is_remembered(TOGETHER_NAME)


async def test_rows_that_lie_in_the_folder_of_another_patient_are_refused() -> None:
    store = MemoryBlobStore()
    await stored_beside(store, [VIEW])
    blob = await store.read(TOGETHER_NAME)
    assert blob is not None
    other = PatientId("patient_15")
    name = ConversationLayout.of("chat_1").runs_together(other, 0, TOGETHER - 1)
    await store.create(name, blob.data)
    with pytest.raises(CorruptDocumentError):
        await accessor(store).views(context(patient_id=other), TURN)


async def test_rows_that_stand_in_the_document_of_another_patient_are_refused() -> None:
    store, held = MemoryBlobStore(), context()
    await accessor(store).save_runs(held, 1, [], views=[VIEW])
    other = context(patient_id="patient_15", recent_runs=held.recent_runs)
    with pytest.raises(CorruptDocumentError):
        await accessor(store).views(other, TURN)


@pytest.mark.parametrize("is_archived", [False, True])
async def test_a_receipt_is_read_back_as_stored_wherever_its_turn_is(*, is_archived: bool) -> None:
    contexts = ChatContextAccessor(
        documents=Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    )
    receipt = '{"id":"Änne \\" 1"}'.encode()
    held = context(chat_history=[] if is_archived else [TURN])
    if is_archived:
        await contexts.archive(context(), [TURN])
    await contexts.save_runs(held, 1, [], receipt=receipt)

    assert await contexts.receipt(held, "run_1") == receipt
    for other, run_id in (
        (held, "run_2"),
        (held.model_copy(update={"epoch": 9, "chat_history": [TURN]}), "run_1"),
    ):
        with pytest.raises(NotFoundError):
            await contexts.receipt(other, run_id)
