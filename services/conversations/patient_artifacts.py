"""Where the agents of one turn put files: beside this patient's document, and nowhere else."""

import re

from data_models.chat_context import Artifact
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.errors import ToolInputError
from data_models.identifiers import PatientId, hashed

ARTIFACT_LIMIT_BYTES = 10_000_000
_UNSAFE = re.compile(r"[^\w .()-]+")


class PatientArtifacts:
    """Keeps files of one conversation, one patient and one run."""

    def __init__(
        self,
        *,
        contexts: ChatContextAccessor,
        conversation_id: str,
        patient_id: PatientId | None,
        run_id: str,
        clock: Clock,
    ) -> None:
        self._contexts = contexts
        self._conversation_id = conversation_id
        self._patient_id = patient_id
        self._run_id = run_id
        self._clock = clock

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
            created_at=self._clock.now(),
            run_id=self._run_id,
        )
        await self._contexts.save_file(
            self._conversation_id, self._patient_id, artifact.artifact_id, data
        )
        return artifact
