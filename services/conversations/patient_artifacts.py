"""Where the agents of one turn put files: beside this patient's document, and nowhere else."""

import re
from dataclasses import dataclass

from data_models.chat_context import Artifact, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.errors import ToolInputError
from data_models.identifiers import PatientId, hashed
from services.memory_blocks.held import shown_history
from services.memory_blocks.recall import Recalled, search

ARTIFACT_LIMIT_BYTES = 10_000_000
_UNSAFE = re.compile(r"[^\w .()-]+")


@dataclass(slots=True, kw_only=True)
class PatientArtifacts:
    """Keeps files of one conversation, one patient and one run."""

    contexts: ChatContextAccessor
    conversation_id: str
    patient_id: PatientId | None
    run_id: str
    clock: Clock

    async def save(self, *, file_name: str, media_type: str, data: bytes, key: str) -> Artifact:
        """Store `data` (at most 10 MB) beside the patient's document and return its row.

        Args:
            key: The same key names the same file: it is stored once, as it was last given.

        Raises:
            ToolInputError: the file is larger than 10 MB.
        """
        if len(data) > ARTIFACT_LIMIT_BYTES:
            raise ToolInputError("the file is larger than 10 MB")
        artifact = Artifact(
            artifact_id=f"file_{hashed(key)}",
            file_name=_UNSAFE.sub("_", file_name)[-120:],
            media_type=media_type,
            size_bytes=len(data),
            created_at=self.clock.now(),
            run_id=self.run_id,
        )
        await self.contexts.save_file(
            self.conversation_id, self.patient_id, artifact.artifact_id, data
        )
        return artifact


# What an agent may look up of earlier turns: the active patient's, and nobody else's.

SEARCHED_TURNS = 5_000
"""The newest so many are looked through; the user's own history view reaches all."""


class PatientPast:
    """Earlier turns of one patient; archives are read when first asked."""

    def __init__(self, *, contexts: ChatContextAccessor, context: ChatContext, run_id: str) -> None:
        self._contexts = contexts
        self._context = context
        self._run_id = run_id
        self._archived: list[Turn] | None = None

    async def recall(self, query: str, *, limit: int) -> Recalled:
        """Return up to `limit` remarks that hold the words of `query`, the best first.

        Raises:
            StoreError: an archive could not be read.
        """
        here = [turn for turn in self._context.chat_history if turn.run_id != self._run_id]
        if self._archived is None:
            self._archived = await self._contexts.read_archived_turns(
                self._context, before=self._context.next_turn_id, limit=SEARCHED_TURNS
            )
        turns = shown_history(self._context, [*self._archived, *here])
        return search(turns, query, limit=limit)
