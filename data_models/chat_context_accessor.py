"""Reads and writes context documents and the blobs beside them."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

from data_models.chart_view import ChartView
from data_models.chat_context import ChatContext, Turn
from data_models.documents import Documents, Stored, is_left_over
from data_models.errors import CorruptConversationError, CorruptDocumentError, NotFoundError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.memory_blocks import ArchivedChanges, MemoryChange
from data_models.storage.blob_store import put_blob
from data_models.tool_memory import RunOutput, TurnRuns
from data_models.turn_runs import TurnRunsAccessor
from data_models.values import Document

Place = TypeVar("Place", str, tuple[int, int])
_RANGE = re.compile(r"([0-9]+)-([0-9]+)\.json")


class ArchivedTurns(Document):
    """`…_turns/{first}-{last}.json`: older turns, whole."""

    patient_id: PatientId | None
    turns: list[Turn]


class ChatContextAccessor:
    """The context document of one patient, or of the session (`patient_id` None)."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents
        self._runs = TurnRunsAccessor(documents=documents)

    async def read(
        self, conversation_id: str, patient_id: PatientId | None, *, epoch: int, fresh: bool = False
    ) -> Stored[ChatContext]:
        """Return the document, or an empty one with no ETag if there is none in this epoch.

        Raises:
            CorruptDocumentError: it exists but cannot be read, or is another patient's.
        """
        name = ConversationLayout.of(conversation_id).context(patient_id)
        try:
            stored = await self._documents.read(
                name, ChatContext, conversation_id=conversation_id, fresh=fresh
            )
        except CorruptDocumentError as error:
            if patient_id is not None:
                raise
            raise CorruptConversationError(str(error)) from error
        if stored is None:
            return Stored(_empty(conversation_id, patient_id, epoch), None)
        if stored.document.patient_id != patient_id:
            raise CorruptDocumentError("context document belongs to another patient")
        if is_left_over(stored.document, epoch):
            return Stored(_empty(conversation_id, patient_id, epoch), stored.etag)
        return stored

    async def write(self, context: ChatContext, *, etag: str | None) -> str:
        """Create or replace the document; see `Documents.write` for errors."""
        name = ConversationLayout.of(context.conversation_id).context(context.patient_id)
        return await self._documents.write(name, context, etag=etag)

    def forget(self, conversation_id: str) -> None:
        """Trust nothing remembered of this conversation's documents."""
        self._documents.forget(ConversationLayout.of(conversation_id).folder)

    async def start_over(
        self, conversation_id: str, patient_id: PatientId | None, *, epoch: int
    ) -> Stored[ChatContext]:
        """Put an empty document in the place of an unreadable one, whose copy stays beside it.

        One that has been restored meanwhile is returned as it is. Turn ids go on after the newest
        archived turn, so that none is used twice.
        """
        etag = await self.etag_of(conversation_id, patient_id)
        try:
            return await self.read(conversation_id, patient_id, epoch=epoch, fresh=True)
        except CorruptDocumentError:
            name = ConversationLayout.of(conversation_id).context(patient_id)
            fresh = _empty(conversation_id, patient_id, epoch)
            ranges = await self._ranges(conversation_id, patient_id)
            fresh.next_turn_id = 1 + max((last for _, last in ranges), default=0)
            return Stored(fresh, await self._documents.write(name, fresh, etag=etag))

    async def renew_session(self, conversation_id: str, *, epoch: int) -> None:
        """Have a session document of `epoch` after a clear, empty unless it is of that epoch.

        One of before, readable or not, is archived by then.
        """
        etag = await self.etag_of(conversation_id, None)
        try:
            stored = await self.read(conversation_id, None, epoch=epoch, fresh=True)
        except CorruptDocumentError:
            stored = Stored(_empty(conversation_id, None, epoch), etag)
        await self.write(stored.document, etag=stored.etag)

    async def etag_of(self, conversation_id: str, patient_id: PatientId | None) -> str | None:
        """Return the version of the document that is stored now; None if there is none."""
        name = ConversationLayout.of(conversation_id).context(patient_id)
        return await self._documents.etag_of(name)

    async def archive(self, context: ChatContext, turns: Sequence[Turn]) -> None:
        """Store whole turns beside the document, before they leave it.

        Turns that were shortened before are archived with their whole text. Repeating after a
        crash finds its own blob and is no error; a reader takes each turn id once, so a longer
        range written later does no harm.
        """
        first, last = turns[0].turn_id, turns[-1].turn_id
        layout = ConversationLayout.of(context.conversation_id)
        whole = [await self.whole_turn(context, turn) for turn in turns]
        archived = ArchivedTurns(
            conversation_id=context.conversation_id,
            epoch=context.epoch,
            patient_id=context.patient_id,
            turns=whole,
        )
        await self._documents.put(layout.turns(context.patient_id, first, last), archived)

    async def read_archived_turns(
        self, context: ChatContext, *, before: int, limit: int
    ) -> list[Turn]:
        """Return up to `limit` archived turns with ids below `before`, newest last."""
        ranges = await self._ranges(context.conversation_id, context.patient_id)
        read = partial(self._turns, context)
        found = await newest_turns({one: one for one in ranges}, read, before=before, most=limit)
        return [found[number] for number in sorted(found)[-limit:]]

    async def whole_turn(self, context: ChatContext, turn: Turn) -> Turn:
        """Return `turn` with its whole text, if the document holds only head and tail."""
        if not turn.is_shortened:
            return turn
        turns = await self._turns(context, (turn.turn_id, turn.turn_id))
        return next((each for each in turns if each.run_id == turn.run_id), turn)

    async def save_file(
        self, conversation_id: str, patient_id: PatientId | None, file_id: str, data: bytes
    ) -> None:
        """Store a file's bytes beside the document, whose row of it is written after them.

        Repeating after a crash replaces its own blob.
        """
        name = ConversationLayout.of(conversation_id).artifact(patient_id, file_id)
        store = self._documents.store
        if not await put_blob(store, name, data):
            await put_blob(store, name, data, replaces=await store.read(name))

    async def save_runs(
        self,
        context: ChatContext,
        turn_id: int,
        outputs: Sequence[RunOutput],
        *,
        views: Sequence[ChartView] = (),
        receipt: bytes = b"",
    ) -> None:
        """Keep whole outputs of a turn's tools, the views that were shown, and its receipt.

        They are stored by the next write of `context` at the latest.
        """
        runs = TurnRuns(
            conversation_id=context.conversation_id,
            epoch=context.epoch,
            patient_id=context.patient_id,
            turn_id=turn_id,
            runs=list(outputs),
            views=list(views),
            receipt=receipt.decode(),
        )
        await self._runs.keep(context, runs)

    async def receipt(self, context: ChatContext, run_id: str) -> bytes:
        """Return the receipt of a turn as it was stored.

        Raises:
            NotFoundError: there is none.
        """
        if (turn := await self.turn_of_run(context, run_id)) is None:
            raise NotFoundError("there is no such turn")
        return await self.receipt_of(context, turn)

    async def receipt_of(self, context: ChatContext, turn: Turn) -> bytes:
        """Return the receipt of a turn of this document; raises as `receipt` does."""
        runs = await self._runs.read(context, turn.turn_id)
        if runs is None or not runs.receipt:
            raise NotFoundError("this turn left no receipt")
        return runs.receipt.encode()

    async def turn_of_run(self, context: ChatContext, run_id: str) -> Turn | None:
        """Return the turn that a run left in this document or its archive; None if none."""
        turn = next((each for each in context.chat_history if each.run_id == run_id), None)
        return turn or await self._find_archived_run(context, run_id)

    async def _find_archived_run(self, context: ChatContext, run_id: str) -> Turn | None:
        for first, last in await self._ranges(context.conversation_id, context.patient_id):
            for turn in await self._turns(context, (first, last)):
                if turn.run_id == run_id:
                    return turn
        return None

    async def views(self, context: ChatContext, turn: Turn) -> list[ChartView]:
        """Return the views that were shown with the messages of `turn`; [] where there are none."""
        if not any(answer.views for answer in turn.agent_responses):
            return []
        runs = await self._runs.read(context, turn.turn_id)
        return [] if runs is None else runs.views

    async def archive_changes(self, context: ChatContext, changes: Sequence[MemoryChange]) -> None:
        """Store changes of people that leave the document; repeating after a crash is no error."""
        layout = ConversationLayout.of(context.conversation_id)
        first, last = changes[0].change_id, changes[-1].change_id
        archived = ArchivedChanges(
            conversation_id=context.conversation_id,
            epoch=context.epoch,
            patient_id=context.patient_id,
            changes=list(changes),
        )
        await self._documents.put(layout.changes(context.patient_id, first, last), archived)

    async def file_bytes(
        self, conversation_id: str, patient_id: PatientId | None, file_id: str
    ) -> bytes:
        """Return a file's bytes.

        Raises:
            NotFoundError: the file is gone.
        """
        name = ConversationLayout.of(conversation_id).artifact(patient_id, file_id)
        if (blob := await self._documents.store.read(name)) is None:
            raise NotFoundError("no such file")
        return blob.data

    async def delete_file(
        self, conversation_id: str, patient_id: PatientId | None, file_id: str
    ) -> None:
        """Delete a file's bytes, if they are there."""
        name = ConversationLayout.of(conversation_id).artifact(patient_id, file_id)
        await self._documents.store.delete(name)

    async def read_legacy(self, conversation_id: str) -> list[tuple[str, str, str]]:
        """Return the messages of a legacy `chat_context.json` as (role, name, text), oldest first.

        Raises:
            CorruptDocumentError: it exists but is not of the reference implementation's shape.
        """
        data = await self._documents.raw(ConversationLayout.of(conversation_id).legacy)
        return [] if data is None else _legacy_messages(data)

    async def _ranges(
        self, conversation_id: str, patient_id: PatientId | None
    ) -> list[tuple[int, int]]:
        prefix = ConversationLayout.of(conversation_id).turns_prefix(patient_id)
        found = [range_in(row.name) async for row in self._documents.store.list(prefix)]
        return [one for one in found if one is not None]

    async def _turns(self, context: ChatContext, place: tuple[int, int]) -> list[Turn]:
        layout = ConversationLayout.of(context.conversation_id)
        stored = await self._documents.read(
            layout.turns(context.patient_id, *place),
            ArchivedTurns,
            conversation_id=context.conversation_id,
        )
        visible = stored is not None and stored.document.epoch == context.epoch
        return stored.document.turns if stored is not None and visible else []


async def newest_turns(
    ranges: Mapping[Place, tuple[int, int]],
    read: Callable[[Place], Awaitable[Sequence[Turn]]],
    *,
    before: int,
    most: int,
    held: Sequence[Turn] = (),
) -> dict[int, Turn]:
    """Return the newest `most` turns below `before`, and perhaps more, by their numbers.

    Args:
        ranges: The first and last turn of each blob of older turns; those without are not read.
        held: Turns that a document has. Of one that it has shortened the whole text is read.
    """
    found = {turn.turn_id: turn for turn in held if turn.turn_id < before}
    for place, (first, last) in sorted(ranges.items(), key=lambda one: one[1][1], reverse=True):
        if first >= before or (len(found) >= most and last < sorted(found)[-most]):
            continue
        for turn in await read(place):
            known = found.get(turn.turn_id)
            is_whole = known is not None and known.is_shortened and known.run_id == turn.run_id
            if turn.turn_id < before and (known is None or is_whole):
                found[turn.turn_id] = turn
    return found


def range_in(name: str) -> tuple[int, int] | None:
    """Return the first and last turn of a blob of older turns; None: it is another one."""
    match = _RANGE.fullmatch(name.rpartition("/")[2])
    return None if match is None else (int(match[1]), int(match[2]))


def _empty(conversation_id: str, patient_id: PatientId | None, epoch: int) -> ChatContext:
    return ChatContext(conversation_id=conversation_id, patient_id=patient_id, epoch=epoch)


def _legacy_messages(data: bytes) -> list[tuple[str, str, str]]:
    try:
        history = json.loads(data)["chat_history"]
        rows = history if isinstance(history, list) else json.loads(history)["messages"]
        return [(row["role"], row.get("name") or "", _legacy_text(row)) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError):
        # `from None`: the decoder's message may quote the document.
        raise CorruptDocumentError("legacy chat context has an unknown shape") from None


def _legacy_text(row: dict[str, object]) -> str:
    if isinstance(row.get("content"), str):
        return str(row["content"])
    items = row["items"]
    if not isinstance(items, list):
        raise TypeError("items")
    return "\n".join(str(item["text"]) for item in items if "text" in item)
