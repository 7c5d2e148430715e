"""What was shown with a turn, and its receipt: read back for that patient and epoch only."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, ChatContext, MessageView, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.documents import Documents
from data_models.errors import CorruptDocumentError, NotFoundError
from data_models.identifiers import PatientId
from data_models.layout import ConversationLayout
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.routes.fakes import NOW

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


async def test_rows_come_back_as_they_were_shown_and_not_after_a_clear() -> None:
    contexts = ChatContextAccessor(
        documents=Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    )
    await contexts.save_runs(context(), 1, [], views=[VIEW])
    assert await contexts.views(context(), TURN) == [VIEW]
    assert await contexts.views(context(epoch=9), TURN) == []
    assert await contexts.views(context(patient_id="patient_15"), TURN) == []
    silent = TURN.model_copy(update={"agent_responses": []})
    assert await contexts.views(context(), silent) == []


async def test_what_no_turn_reads_again_pushes_nothing_out_of_the_cache() -> None:
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    await ChatContextAccessor(documents=documents).save_runs(context(), 1, [], views=[VIEW])
    name = ConversationLayout.of("chat_1").runs(PatientId("patient_4"), 1)
    assert not documents.is_remembered(name)


async def test_rows_that_lie_in_the_folder_of_another_patient_are_refused() -> None:
    store = MemoryBlobStore()
    contexts = ChatContextAccessor(
        documents=Documents(store=store, clock=FixedClock(), ids=CountingIds())
    )
    await contexts.save_runs(context(), 1, [], views=[VIEW])
    layout = ConversationLayout.of("chat_1")
    blob = await store.read(layout.runs(PatientId("patient_4"), 1))
    assert blob is not None
    await store.create(layout.runs(PatientId("patient_15"), 1), blob.data)
    with pytest.raises(CorruptDocumentError):
        await contexts.views(context(patient_id="patient_15"), TURN)


@pytest.mark.parametrize("is_archived", [False, True])
async def test_a_receipt_is_read_back_as_it_was_stored_wherever_its_turn_is(
    *, is_archived: bool
) -> None:
    contexts = ChatContextAccessor(
        documents=Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    )
    receipt = '{"id":"Änne \\" 1"}'.encode()
    held = context(chat_history=[] if is_archived else [TURN])
    if is_archived:
        await contexts.archive(context(), [TURN])
    await contexts.save_runs(context(), 1, [], receipt=receipt)

    assert await contexts.receipt(held, "run_1") == receipt
    for other, run_id in ((held, "run_2"), (context(epoch=9, chat_history=[TURN]), "run_1")):
        with pytest.raises(NotFoundError):
            await contexts.receipt(other, run_id)
