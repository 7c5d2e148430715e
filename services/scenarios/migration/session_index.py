"""Where the sessions of a scenario are found: by tags of the context documents that hold them.

A document's tags come with every write of it (`session_tags`), so they cannot be older than the
document. Only marks are set apart; an overwrite takes them off, as it should.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import orjson
from pydantic import BaseModel

from data_models.chat_context import ChatContext
from data_models.documents import parse_document
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore, BlobTags, TagChange, TaggedBlob
from data_models.values import read_value

_TALLY_PAGE = 5_000
_CONTEXT_SUFFIX, _ARCHIVE = "_context.json", "/archive/"
# Whatever else a document holds, one with a session holds one of these.
_SIGNS = (b'"scenario":{', b'"left_scenarios":[{')
_VALUE = re.compile(r"[A-Za-z0-9 +\-./:=_]{1,256}")
_NONE = "-"
TAGS = (
    "scenario", "session", "version", "step", "channel", "created", "mark", "review", "pinned",
)  # fmt: skip
"""A blob may have ten."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as the index knows it; perhaps a little late. Nothing of what anybody said.

    Attributes:
        step_hash: `step_key` of its step.
        mark: The version that a deployment marked it for; 0 if none.
        place: Name of the document that holds it.
        review: Why a person must look at it; empty if nobody must.
        pinned: Whether a policy holds it on its version.
    """

    session_id: str
    scenario_id: str
    version: int
    step_hash: str
    channel: str
    created_at: datetime
    mark: int = 0
    place: str = ""
    review: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some rows, and where to go on.

    Attributes:
        cursor: For the next page's `after`; empty on the last one. Nobody but the index reads it.
    """

    rows: Sequence[SessionRow]
    cursor: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many sessions are alike."""

    version: int
    step_hash: str
    mark: int
    review: str
    pinned: bool
    number: int


class SessionIndex:
    """Finds the sessions of a scenario, eventually consistent.

    A document is found by the session that is open in it, or else by the one left last.
    """

    def __init__(self, *, tags: BlobTags) -> None:
        self.tags = tags

    async def put(self, rows: Iterable[SessionRow]) -> None:
        """Insert or replace rows of documents that were not written, as a rebuild does."""
        await self.tags.set([TagChange(row.place, tags_of_row(row)) for row in rows])

    async def page(
        self,
        scenario_id: str,
        *,
        after: str = "",
        limit: int,
        below_version: int | None = None,
        flagged: bool = False,
    ) -> SessionPage:
        """Return the next rows of a scenario after the cursor `after`.

        Args:
            scenario_id: Whose sessions.
            after: `cursor` of the page before; empty for the first one.
            limit: Rows on a page, at most 1,000.
            below_version: Only sessions of versions below this one.
            flagged: Only sessions that a person must look at.
        """
        where = _where(scenario_id, below_version=below_version, flagged=flagged)
        found = await self.tags.find(where, after=after, limit=limit)
        return SessionPage([_row(blob, scenario_id) for blob in found.blobs], found.cursor)

    async def tally(self, scenario_id: str) -> Sequence[Tally]:
        """Count the sessions of a scenario."""
        where, after = _where(scenario_id), ""
        found = Counter[tuple[int, str, int, str, bool]]()
        while True:
            page = await self.tags.find(where, after=after, limit=_TALLY_PAGE)
            rows = (_row(blob, scenario_id) for blob in page.blobs)
            found.update((r.version, r.step_hash, r.mark, r.review, r.pinned) for r in rows)
            if not (after := page.cursor):
                return [Tally(*alike, number) for alike, number in sorted(found.items())]

    async def mark(self, rows: Iterable[SessionRow], version: int) -> None:
        """Mark those of `rows` that are still at their version; marking again changes nothing."""
        changes = [
            # A turn may have migrated the session since the page was read: its tags are newer.
            TagChange(
                row.place,
                tags := {**tags_of_row(row), "mark": _padded(version)},
                only_if={name: tags[name] for name in ("scenario", "session", "version")},
            )
            for row in rows
        ]
        await self.tags.set(changes)

    async def close(self) -> None:
        """Release the file or the connections."""
        await self.tags.close()


def session_tags(name: str, data: bytes) -> dict[str, str]:
    """Return the index tags of a blob: none, unless it is a context document with a session."""
    row = row_in(data, place=name) if is_context(name) else None
    return {} if row is None else tags_of_row(row)


def is_context(name: str) -> bool:
    """Tell whether a blob is a context document that is in use."""
    return name.endswith(_CONTEXT_SUFFIX) and _ARCHIVE not in name


def row_in(data: bytes, *, place: str) -> SessionRow | None:
    """Return the row of a context document; None if it holds no session that goes on.

    A document that cannot be read has none: its reader refuses it, and its writer never wrote it.
    """
    if not any(sign in data for sign in _SIGNS):
        return None
    try:
        raw = orjson.loads(data)
        held = [raw.get("scenario"), *reversed(raw.get("left_scenarios") or [])]
        sessions = [ScenarioSession.model_validate(one) for one in held if one is not None]
    except (ValueError, AttributeError, TypeError):
        return None
    rows = (_row_of(one, one.step, place) for one in sessions if one.step is not None)
    return next(rows, None)


def _row_of(session: ScenarioSession, step: str, place: str) -> SessionRow:
    return SessionRow(
        session_id=session.session_id,
        scenario_id=session.scenario_id,
        version=session.version,
        step_hash=step_key(step),
        channel=session.channel,
        created_at=session.created_at,
        place=place,
        review=session.review.reason if session.review else "",
        pinned=session.pinned_to is not None,
    )


def step_key(step: str) -> str:
    """Return the name of a step in the index: its id may hold what tags may not."""
    return hashed("step", step)[:16]


def tags_of_row(row: SessionRow) -> dict[str, str]:
    """Return a row as its tags, in the order of `TAGS`."""
    values = (
        _safe(row.scenario_id),
        _safe(row.session_id),
        _padded(row.version),
        _safe(row.step_hash),
        _safe(row.channel),
        _safe(row.created_at.isoformat()),
        _padded(row.mark),
        _safe(row.review),
        str(int(row.pinned)),
    )
    return dict(zip(TAGS, values, strict=True))


def _where(scenario_id: str, *, below_version: int | None = None, flagged: bool = False) -> str:
    """Name every tag: the service returns those of a blob that the question names."""
    bound = f"<'{_padded(below_version)}'" if below_version is not None else f">='{_padded(0)}'"
    least = {"review": f">'{_NONE}'"} if flagged else {}
    others = (name for name in TAGS if name not in ("scenario", "version"))
    every = [f'"{name}"{least.get(name, _ANY)}' for name in others]
    return " AND ".join([f"\"scenario\"='{_safe(scenario_id)}'", f'"version"{bound}', *every])


_ANY = ">=' '"


def _row(blob: TaggedBlob, scenario_id: str) -> SessionRow:
    tags = blob.tags
    return SessionRow(
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
