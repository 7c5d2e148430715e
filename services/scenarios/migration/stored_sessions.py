"""Sessions in the context documents that the index names, and is made anew from."""

from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel

from data_models.chat_context import ChatContext
from data_models.documents import parse_document
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore
from data_models.values import read_value
from services.scenarios.migration.session_index import SessionIndex, SessionRow, is_context, row_in

PAGE_ROWS = 500


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session, and the document that holds it."""

    session: ScenarioSession
    document: ChatContext


class _Header(BaseModel):
    conversation_id: str


async def read_session(documents: BlobStore, row: SessionRow) -> StoredSession | None:
    """Return the session of an index row; None if its document has gone or holds another.

    Raises:
        CorruptDocumentError: the document cannot be read.
    """
    blob = await documents.read(row.place) if row.place else None
    if blob is None:
        return None
    context = context_in(blob.data)
    held = (one for one in context.sessions if one.session_id == row.session_id)
    session = next(held, None)
    return None if session is None else StoredSession(session, context)


def context_in(data: bytes) -> ChatContext:
    """Return the context document that a blob holds, whoever's conversation it is of.

    Raises:
        CorruptDocumentError: it cannot be read.
    """
    whose = read_value(data, _Header).conversation_id
    return parse_document(data, ChatContext, conversation_id=whose)


class Rebuilt(NamedTuple):
    """What a rebuild looked through, and what it found."""

    conversations: int
    sessions: int


async def rebuild(documents: BlobStore, index: SessionIndex) -> Rebuilt:
    """Put every stored session into the index, some hundred at a time.

    A row of a session that is gone may stay: a dry run tells it, and no turn ever asks for it.
    """
    conversations = sessions = 0
    rows: list[SessionRow] = []
    async for folder in documents.folders():
        conversations += 1
        rows += await _rows(documents, folder)
        if len(rows) >= PAGE_ROWS:
            await index.put(rows)
            sessions, rows = sessions + len(rows), []
    await index.put(rows)
    await index.tags.set_whole()
    return Rebuilt(conversations, sessions + len(rows))


async def _rows(documents: BlobStore, folder: str) -> list[SessionRow]:
    names = [blob.name async for blob in documents.list(f"{folder}/") if is_context(blob.name)]
    blobs = [(name, await documents.read(name)) for name in names]
    rows = [row_in(blob.data, place=name) for name, blob in blobs if blob is not None]
    return [row for row in rows if row is not None]
