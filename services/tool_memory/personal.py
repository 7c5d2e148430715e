"""What a user's own mailbox, calendar, contacts and tasks gave, kept in that user's documents.

`personal/{hash of user}/{conversation}/{patient}.json` stands beside the conversations, in a folder
of its own as drafts are. A turn of its user works on both parts as one; what is written to the
patient's document holds nothing personal, and whose parts lie here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from data_models.chat_context import ChatContext
from data_models.identifiers import PatientId, hashed, stem_of, storage_folder
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.tool_memory import EntityContext, ToolExecutionContext, ToolMemory

FOLDER = "personal"
KEPT_DAYS = 7
"""Nothing of it is known to a turn an hour after its last use; the file goes with the clean-up."""

_Row = TypeVar("_Row", EntityContext, ToolExecutionContext)

logger = structlog.get_logger()


class PersonalToolMemory(BaseModel):
    """One user's part of the tool memory of one patient in one conversation.

    Attributes:
        epoch: Of the conversation, as it was stored; what was before a clear is not seen.
    """

    epoch: int
    memory: ToolMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalToolMemories:
    """Joins and divides the two parts of a tool memory. Holds nothing of anybody."""

    store: BlobStore

    async def open(self, context: ChatContext, *, principal_id: str) -> None:
        """Add to `context` what of its tool memory lies in the user's own document."""
        if hashed(principal_id) not in context.tool_memory.personal_of:
            return
        blob = await self.store.read(_name(context, principal_id))
        own = None if blob is None else _parsed(blob.data)
        if own is not None and own.epoch == context.epoch:
            context.tool_memory = join(context.tool_memory, own.memory)

    async def keep(self, context: ChatContext, *, principal_id: str) -> ChatContext:
        """Store what of `context` is its user's own, and return what is left for the document.

        The user's part is stored first: what the document names is there.
        """
        memory, principal = context.tool_memory, hashed(principal_id)
        shared, own = divide(memory, principal)
        if own is not None:
            part = PersonalToolMemory(epoch=context.epoch, memory=own)
            name, data = _name(context, principal_id), part.model_dump_json().encode()
            # A replica may have been taken for dead: who holds the claim wins.
            await change_blob(self.store, name, lambda _: data, what="a user's tool memory")
        elif principal not in memory.personal_of:
            return context
        return context.model_copy(update={"tool_memory": shared})

    async def sweep(self, *, now: datetime, dry_run: bool) -> int:
        """Delete what nobody has used for seven days; return how many that were, or would be."""
        oldest = now - timedelta(days=KEPT_DAYS)
        rows = [row async for row in self.store.list(f"{FOLDER}/")]
        idle = [row.name for row in rows if row.modified_at < oldest]
        for name in () if dry_run else idle:
            await self.store.delete(name)
        return len(idle)


def join(shared: ToolMemory, own: ToolMemory) -> ToolMemory:
    """Return both parts as one; what the user looked at last is what their own part says."""
    runs = [*shared.executions, *own.executions]
    return shared.model_copy(
        update={
            "entities": [*shared.entities, *own.entities],
            "executions": sorted(runs, key=lambda one: one.timestamp),
            "focus": own.focus or shared.focus,
            "last_list": own.last_list or shared.last_list,
        }
    )


def divide(memory: ToolMemory, principal: str) -> tuple[ToolMemory, ToolMemory | None]:
    """Return what stays with the patient, and what is the user's own; None where nothing is.

    What is another user's own stays where it is until that user's next turn.

    Args:
        principal: One-way name of the user.
    """
    things = [one for one in memory.entities if one.is_personal and one.principal == principal]
    runs = [one for one in memory.executions if one.is_personal and one.principal == principal]
    others = [one for one in memory.personal_of if one != principal]
    if not things and not runs:
        return memory.model_copy(update={"personal_of": others}), None
    ids = {one.entity_id for one in things}
    is_own_list = not ids.isdisjoint(memory.last_list)
    own = ToolMemory(
        entities=things,
        executions=runs,
        focus=memory.focus if memory.focus in ids else None,
        last_list=memory.last_list if is_own_list else [],
    )
    left = {
        "entities": _without(memory.entities, things),
        "executions": _without(memory.executions, runs),
        "focus": None if memory.focus in ids else memory.focus,
        "last_list": [] if is_own_list else memory.last_list,
        "personal_of": [*others, principal],
    }
    return memory.model_copy(update=left), own


def is_personal_part_of(name: str, patient_id: PatientId) -> bool:
    """Whether a blob beside the conversations is somebody's part of this patient's tool memory."""
    return name.startswith(f"{FOLDER}/") and name.endswith(f"/{stem_of(patient_id)}.json")


def _without(rows: Sequence[_Row], gone: Sequence[_Row]) -> list[_Row]:
    ids = {id(one) for one in gone}
    return [one for one in rows if id(one) not in ids]


def _name(context: ChatContext, principal_id: str) -> str:
    folder = storage_folder(context.conversation_id)
    return f"{FOLDER}/{hashed(principal_id)}/{folder}/{stem_of(context.patient_id)}.json"


def _parsed(data: bytes) -> PersonalToolMemory | None:
    """A part that cannot be read is as good as none: the tools look again."""
    try:
        return PersonalToolMemory.model_validate_json(data)
    except ValidationError:
        logger.warning("personal_tool_memory_unreadable")
        return None
