"""Sessions where they are stored: in the context documents that the index names."""

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from data_models.blob_store import BlobStore
from data_models.chat_context import ChatContext
from data_models.documents import parse_document
from data_models.errors import CorruptDocumentError
from data_models.scenario_session import PatientProfile, ScenarioSession
from services.scenarios.migration.ports import SessionRow


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session, and the document that holds it."""

    session: ScenarioSession
    document: ChatContext

    @property
    def profile(self) -> PatientProfile:
        """What outlived earlier runs of its patient."""
        return self.document.profile


class _Header(BaseModel):
    conversation_id: str


class StoredSessions:
    """Reads sessions for people who look at many; never writes."""

    def __init__(self, *, documents: BlobStore) -> None:
        self._documents = documents

    async def read(self, row: SessionRow) -> StoredSession | None:
        """Return the session of an index row; None if its document has gone or holds another.

        Raises:
            CorruptDocumentError: the document cannot be read.
        """
        blob = await self._documents.read(row.place) if row.place else None
        if blob is None:
            return None
        context = _context(blob.data)
        for session in (context.scenario, *context.left_scenarios):
            if session is not None and session.session_id == row.session_id:
                return StoredSession(session, context)
        return None


def _context(data: bytes) -> ChatContext:
    try:
        header = _Header.model_validate_json(data)
    except ValidationError:
        # `from None`: pydantic puts the rejected text into its message.
        raise CorruptDocumentError("ChatContext: no conversation") from None
    return parse_document(data, ChatContext, conversation_id=header.conversation_id)
