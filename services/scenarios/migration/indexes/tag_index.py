"""The session index on Azure: tags of the context documents themselves.

A document's tags are sent with every write of it (`session_tags`), so they cannot be older than
the document. Only marks are set apart; an overwrite takes them off, as it should.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

import orjson
from pydantic import BaseModel

from data_models.chat_context import ChatContext
from data_models.documents import parse_document
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore
from data_models.storage.blob_tags import BlobTags, TaggedBlob
from data_models.values import read_value
from services.scenarios.migration import ports
from services.scenarios.migration.ports import SessionIndex, SessionRow

TALLY_PAGE = 5_000
SET_AT_ONCE = 32
_CONTEXT_SUFFIX, _ARCHIVE = "_context.json", "/archive/"
# Whatever else a document holds, one with a session holds one of these.
_SIGNS = (b'"scenario":{', b'"left_scenarios":[{')
_VALUE = re.compile(r"[A-Za-z0-9 +\-./:=_]{1,256}")
_NONE = "-"
_NAMES = ("session", "step", "channel", "created", "mark", "review", "pinned")


class TagSessionIndex:
    """A `SessionIndex` over the tags of the container that holds the context documents.

    A document is found by the session that is open in it, or else by the one left last.
    """

    def __init__(self, *, tags: BlobTags) -> None:
        self._tags = tags

    async def put(self, row: ports.SessionRow) -> None:
        """Do nothing: the write of the document carried its tags."""

    async def put_many(self, rows: Iterable[ports.SessionRow]) -> None:
        left = iter(rows)
        while batch := list(islice(left, SET_AT_ONCE)):
            await self._set(batch)

    async def drop(self, session_id: str) -> None:
        """Do nothing: the tags went with the write, or with the document."""

    async def page(
        self,
        scenario_id: str,
        *,
        after: str = "",
        limit: int,
        below_version: int | None = None,
        flagged: bool = False,
    ) -> ports.SessionPage:
        where = _where(scenario_id, below_version=below_version, flagged=flagged)
        found = await self._tags.find(where, after=after, limit=limit)
        return ports.SessionPage([_row(blob, scenario_id) for blob in found.blobs], found.cursor)

    async def tally(self, scenario_id: str) -> Sequence[ports.Tally]:
        where, after = _where(scenario_id), ""
        found = Counter[tuple[int, str, int, str, bool]]()
        while True:
            page = await self._tags.find(where, after=after, limit=TALLY_PAGE)
            rows = (_row(blob, scenario_id) for blob in page.blobs)
            found.update((r.version, r.step_hash, r.mark, r.review, r.pinned) for r in rows)
            if not (after := page.cursor):
                return [ports.Tally(*alike, number) for alike, number in sorted(found.items())]

    async def mark(self, rows: Sequence[ports.SessionRow], version: int) -> None:
        for start in range(0, len(rows), SET_AT_ONCE):
            batch = rows[start : start + SET_AT_ONCE]
            await self._set([replace(row, mark=version) for row in batch], marking=True)

    async def close(self) -> None:
        await self._tags.close()

    async def _set(self, rows: Sequence[ports.SessionRow], *, marking: bool = False) -> None:
        await asyncio.gather(*(self._set_one(row, marking=marking) for row in rows))

    async def _set_one(self, row: ports.SessionRow, *, marking: bool) -> None:
        # A turn may have migrated the session since the page was read: then its tags are newer.
        same = f"\"session\"='{_safe(row.session_id)}' AND \"version\"='{_padded(row.version)}'"
        await self._tags.set(row.place, tags_of_row(row), only_if=same if marking else None)


def session_tags(name: str, data: bytes) -> dict[str, str]:
    """Return the index tags of a blob: none, unless it is a context document with a session."""
    rows = rows_of(data, place=name) if is_context(name) else []
    return tags_of_row(rows[0]) if rows else {}


def is_context(name: str) -> bool:
    """Tell whether a blob is a context document that is in use."""
    return name.endswith(_CONTEXT_SUFFIX) and _ARCHIVE not in name


def rows_of(data: bytes, *, place: str) -> list[ports.SessionRow]:
    """Return a row for each session of a context document, the open one first.

    A document that cannot be read has none: its reader refuses it, and its writer never wrote it.
    """
    if not any(sign in data for sign in _SIGNS):
        return []
    try:
        raw = orjson.loads(data)
        held = [raw.get("scenario"), *reversed(raw.get("left_scenarios") or [])]
        sessions = [ScenarioSession.model_validate(one) for one in held if one is not None]
    except (ValueError, AttributeError, TypeError):
        return []
    rows = [ports.row_of(session, place=place) for session in sessions]
    return [row for row in rows if row is not None]


def tags_of_row(row: ports.SessionRow) -> dict[str, str]:
    """Return a row as nine tags; a blob may have ten."""
    return {
        "scenario": _safe(row.scenario_id),
        "session": _safe(row.session_id),
        "version": _padded(row.version),
        "step": _safe(row.step_hash),
        "channel": _safe(row.channel),
        "created": _safe(row.created_at.isoformat()),
        "mark": _padded(row.mark),
        "review": _safe(row.review),
        "pinned": str(int(row.pinned)),
    }


def _where(scenario_id: str, *, below_version: int | None = None, flagged: bool = False) -> str:
    """Name every tag: the service returns those of a blob that the question names."""
    bound = f"<'{_padded(below_version)}'" if below_version is not None else f">='{_padded(0)}'"
    every = [f"\"{name}\">=' '" for name in _NAMES if not (flagged and name == "review")]
    review = [f"\"review\">'{_NONE}'"] if flagged else []
    return " AND ".join(
        [f"\"scenario\"='{_safe(scenario_id)}'", f'"version"{bound}', *every, *review]
    )


def _row(blob: TaggedBlob, scenario_id: str) -> ports.SessionRow:
    tags = blob.tags
    return ports.SessionRow(
        session_id=tags["session"],
        scenario_id=scenario_id,
        version=int(tags["version"]),
        step_hash=_given(tags["step"]),
        channel=_given(tags["channel"]),
        created_at=datetime.fromisoformat(tags["created"]),
        mark=int(tags["mark"]),
        place=blob.name,
        review=_given(tags["review"]),
        pinned=tags["pinned"] == "1",
    )


def _padded(number: int) -> str:
    return f"{number:010d}"


def _safe(value: str) -> str:
    """Return `value` where the service takes it; what it does not take is hashed."""
    if not value:
        return _NONE
    return value if _VALUE.fullmatch(value) else hashed(value)


def _given(value: str) -> str:
    return "" if value == _NONE else value


# Sessions in the context documents that the index names, and is made anew from.


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


PAGE_FOLDERS = 500


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How far a rebuild is.

    Attributes:
        conversations: That were looked through.
        cursor: The folder of the last one; give it as `after` to go on behind it. Empty at the
            end.
    """

    conversations: int
    sessions: int
    cursor: str


async def rebuild(
    documents: BlobStore, index: SessionIndex, *, folders: Sequence[str], after: str = ""
) -> AsyncIterator[Rebuilt]:
    """Put every stored session into the index; yield after each page, so that it can be resumed.

    A row of a session that is gone may stay: a dry run tells it, and no turn ever asks for it.

    Args:
        documents: Where the conversations are.
        index: What to fill.
        folders: Of all conversations, in order.
        after: `cursor` of the page to go on behind.
    """
    left = [folder for folder in folders if folder > after]
    sessions = 0
    for start in range(0, len(left), PAGE_FOLDERS):
        page = left[start : start + PAGE_FOLDERS]
        rows = [row for folder in page for row in await _rows(documents, folder)]
        await index.put_many(rows)
        sessions += len(rows)
        done = start + len(page)
        yield Rebuilt(done, sessions, page[-1] if done < len(left) else "")


async def _rows(documents: BlobStore, folder: str) -> list[SessionRow]:
    rows: list[SessionRow] = []
    names = [blob.name async for blob in documents.list(f"{folder}/") if is_context(blob.name)]
    for name in names:
        blob = await documents.read(name)
        rows += rows_of(blob.data, place=name) if blob else []
    return rows
