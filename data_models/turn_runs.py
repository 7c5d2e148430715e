"""Where a turn's runs, views and receipt lie: the newest in the document, older ones beside it.

A blob of its own for each turn was one more durable write that every answer waited for.
"""

import zlib
from base64 import b64decode, b64encode
from typing import TypeVar

from pydantic import Field

from data_models.chat_context import ChatContext
from data_models.documents import Documents, parse_document
from data_models.errors import CorruptDocumentError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.tool_memory import TurnRuns
from data_models.values import Document

TOGETHER = 4
"""So many turns share a blob; until the next ones begin they stand in the document."""
HELD_LIMIT_CHARS = 8_000
"""What is longer, packed, gets a blob of its own at once: each turn writes the document anew."""
_UNPACKED_LIMIT_BYTES = 1_000_000


class RunsOfTurns(Document):
    """`…_runs/{first}-{last}.json`: what several turns left, each a packed `TurnRuns`."""

    patient_id: PatientId | None
    turns: dict[int, str] = Field(default_factory=dict)


DocumentT = TypeVar("DocumentT", TurnRuns, RunsOfTurns)


class TurnRunsAccessor:
    """Keeps what tools returned in a turn, what it showed, and its receipt."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def keep(self, context: ChatContext, runs: TurnRuns) -> None:
        """Hold `runs` in `context`, whose next write stores them; long ones get a blob.

        What it held of the turns before goes into a blob first. Repeating after a crash replaces
        its own blobs.
        """
        await self._store_held(context, before=_first(runs.turn_id))
        held, packed = context.recent_runs, _packed(runs)
        held.pop(runs.turn_id, None)  # of a try before this one
        if packed is None:
            name = _layout(context).runs(context.patient_id, runs.turn_id)
            await self._documents.put(name, runs, is_kept=False)
        else:
            held[runs.turn_id] = packed

    async def read(self, context: ChatContext, turn_id: int) -> TurnRuns | None:
        """Return what a turn left; None if nothing in this epoch.

        Raises:
            CorruptDocumentError: it cannot be read, or is another patient's.
        """
        layout, patient = _layout(context), context.patient_id
        if (text := context.recent_runs.get(turn_id)) is None:
            together = await self._read(
                context, layout.runs_together(patient, *_range(turn_id)), RunsOfTurns
            )
            text = None if together is None else together.turns.get(turn_id)
        if text is None:
            return await self._read(context, layout.runs(patient, turn_id), TurnRuns)
        packed = zlib.decompressobj()
        try:
            data = packed.decompress(b64decode(text, validate=True), _UNPACKED_LIMIT_BYTES)
        except (ValueError, zlib.error):
            data = b""
        if not packed.eof:
            raise CorruptDocumentError("what a turn left cannot be unpacked")
        held = parse_document(data, TurnRuns, conversation_id=context.conversation_id)
        return _own(context, held)

    async def _store_held(self, context: ChatContext, *, before: int) -> None:
        held = context.recent_runs
        for first in sorted({_first(each) for each in held if each < before}):
            together = RunsOfTurns(
                conversation_id=context.conversation_id,
                epoch=context.epoch,
                patient_id=context.patient_id,
                turns={each: text for each, text in held.items() if _first(each) == first},
            )
            name = _layout(context).runs_together(context.patient_id, *_range(first))
            await self._documents.put(name, together, is_kept=False)
            for each in together.turns:
                del held[each]

    async def _read(
        self, context: ChatContext, name: str, model: type[DocumentT]
    ) -> DocumentT | None:
        stored = await self._documents.read(name, model, conversation_id=context.conversation_id)
        return None if stored is None else _own(context, stored.document)


def _packed(runs: TurnRuns) -> str | None:
    """Return `runs` as text that is short enough to be written again; None if none is."""
    data = runs.model_dump_json().encode()
    if len(data) > _UNPACKED_LIMIT_BYTES:
        return None
    text = b64encode(zlib.compress(data, 1)).decode()
    return text if len(text) <= HELD_LIMIT_CHARS else None


def _own(context: ChatContext, found: DocumentT) -> DocumentT | None:
    """Return what was found if it is of this epoch."""
    if found.epoch != context.epoch:
        return None
    if found.patient_id != context.patient_id:
        raise CorruptDocumentError("outputs of tools belong to another patient")
    return found


def _layout(context: ChatContext) -> ConversationLayout:
    return ConversationLayout.of(context.conversation_id)


def _first(turn_id: int) -> int:
    return turn_id - turn_id % TOGETHER


def _range(turn_id: int) -> tuple[int, int]:
    """Return the first and the last turn of those that `turn_id` shares a blob with."""
    return _first(turn_id), _first(turn_id) + TOGETHER - 1
