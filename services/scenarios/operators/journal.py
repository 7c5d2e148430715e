"""What operators did to a scenario, in order, and how far what a dry run foretold came true.

The audit trail of the server holds the same acts under its hash chain; this is the copy that a
page can read at once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, Field

from data_models import errors
from data_models.chat_context import ChatContext
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from data_models.storage.blob_store import BlobInfo, BlobStore, change_blob
from data_models.values import Value, read_value
from services.audit.trail import Audit, Visitor, record_access

_READ_LIMIT = 50
LISTED_LIMIT = 5_000
"""Jumps; beyond that many the audit trail is the place to look; a page must not wait for them."""
_TRIES = 5
Outcome: TypeAlias = Literal["done", "refused"]
SHOWN_LIMIT = 200
JUMPED = "session_migrated"
_SESSION_CHARS = 10


class JournalEntry(Value):
    """One act; `note` names versions, steps and counts, nothing of a patient."""

    time: AwareDatetime
    operator: str
    action: str
    note: str = ""
    outcome: Outcome = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActLog:
    """Acts on the audit trail before they happen, then in the scenario's journal.

    A blob takes 50,000 appends, more than operators make.

    Attributes:
        operator: Whose acts they are, by id.
    """

    audit: Audit
    blobs: BlobStore
    now: Callable[[], datetime]
    operator: str = ""

    @asynccontextmanager
    async def act(self, scenario_id: str, action: str, note: str = "") -> AsyncIterator[None]:
        """Put an act on the trail before it happens, and in the journal how it ended.

        Raises:
            AuditUnavailableError: it is not on record, so it does not happen.
            ScenarioConflictError: somebody else was faster.
        """
        await self.record(action, about=scenario_id)
        outcome: Outcome = "refused"
        try:
            yield
            outcome = "done"
        except (errors.BlobChangedError, errors.BlobExistsError) as error:
            raise errors.ScenarioConflictError(
                "somebody else changed this scenario at the same moment; look again"
            ) from error
        finally:
            entry = JournalEntry(
                time=self.now(), operator=self.operator, action=action, note=note, outcome=outcome
            )
            await self.write(scenario_id, entry)

    async def record(
        self, action: str, *, about: str, session_id: str = "", document: ChatContext | None = None
    ) -> None:
        """Put an act on the trail; alone, for one that changes nothing.

        Args:
            about: The id of the scenario.
            session_id: The session that is looked at or changed, which lies in `document`.

        Raises:
            AuditUnavailableError: it is not on record, so it does not happen.
        """
        where = f"scenario:{about}" if document is None else document.conversation_id
        which = (f"session:{hashed(session_id)}"[:80],) if session_id else ()
        patient = None if document is None else document.patient_id
        actions = (f"operator.{action}", *which)
        who = Visitor(self.operator, where)
        await record_access(self.audit, who, *actions, patient=patient)

    async def write(self, scenario_id: str, entry: JournalEntry) -> None:
        """Add an act.

        Raises:
            BlobChangedError: others wrote at the same moment, again and again.
        """
        line = entry.model_dump_json().encode() + b"\n"
        name = _name(scenario_id)
        for _ in range(_TRIES):
            blob = await self.blobs.read(name)
            try:
                await self.blobs.append(name, line, position=len(blob.data) if blob else 0)
            except errors.BlobChangedError:
                continue
            return
        raise errors.BlobChangedError("the journal changed all the time")

    async def newest(self, scenario_id: str) -> Sequence[JournalEntry]:
        """Return the newest acts and jumps, newest first.

        Raises:
            CorruptDocumentError: the journal, or an event, cannot be read.
        """
        blob = await self.blobs.read(_name(scenario_id))
        lines = blob.data.splitlines()[-SHOWN_LIMIT:] if blob else []
        entries = [read_value(line, JournalEntry) for line in reversed(lines)]
        who = "a session's turn"
        entries += [
            JournalEntry(time=one.timestamp, operator=who, action=JUMPED, note=_describe_jump(one))
            for one in await self._newest_jumps(scenario_id)
        ]
        return sorted(entries, key=lambda one: one.time, reverse=True)

    async def _newest_jumps(self, scenario_id: str) -> list[MigrationAppliedEvent]:
        listed: list[BlobInfo] = []
        async for info in self.blobs.list(f"scenarios/{scenario_id}/events/"):
            listed.append(info)
            if len(listed) == LISTED_LIMIT:
                break
        names = [one.name for one in nlargest(_READ_LIMIT, listed, key=lambda one: one.modified_at)]
        blobs = await asyncio.gather(*(self.blobs.read(name) for name in names))
        return [read_value(one.data, MigrationAppliedEvent) for one in blobs if one]


def _name(scenario_id: str) -> str:
    return f"scenarios/{scenario_id}/journal.jsonl"


def _describe_jump(event: MigrationAppliedEvent) -> str:
    """Return a jump in one line."""
    versions = f"version {event.from_version} to {event.to_version}"
    steps = f"{event.step_before} to {event.step_after or 'the end'}"
    kind = (event.migration_scenario or event.action_taken).replace("_", " ")
    marks = ((event.pinned, "stays on its version"), (event.blocked_by_checkpoint, "blocked"))
    more = [text for is_so, text in marks if is_so]
    session = hashed(event.session_id)[:_SESSION_CHARS]  # as the page names sessions elsewhere
    return f"session {session}: {', '.join([versions, steps, kind, *more])}"


# How far the last dry run came true: what it foretold of sessions, against what they met.
#
# A dry run keeps what it foretold beside the scenario; the next one says how that turned out.

KEPT_LIMIT = 2_000
"""Foretold sessions that are kept of a plan."""
SCORED_LIMIT = 500
"""Events that are read to score them."""


class Score(Value):
    """How the dry run for a version came true.

    Attributes:
        met: Sessions that jumped since, of those that were foretold.
        right: Of these, asked and led as foretold.
        wrong: What else happened, with its number.
    """

    to_version: int
    foretold: int
    met: int
    right: int
    wrong: dict[str, int] = Field(default_factory=dict)


Effect: TypeAlias = Literal[
    "clean_graft", "gap_fill", "re_route", "relocate", "exit", "blocked", "pinned", "stays",
    "unchanged", "gone", "unreadable",
]  # fmt: skip


class DryRunRow(Value):
    """What would become of one session; names steps and fields, never a value of a patient.

    Attributes:
        session: Its hashed id, as logs name it.
        effect: `stays`: on its version, for a person to look at; `unchanged`: out of scope,
            ended, pinned before, or at the version already; `gone`: no longer stored.
        why: In words for the operator.
        collect: Fields that the user would be asked for.
        confirm: Fields whose likely value the user would be asked to confirm.
        execute: Steps whose required action would run.
        sources: Where fields that are made up for come from, by field.
        blocked_by: The completed checkpoint that forbids a redirect.
    """

    session: str
    version: int
    step_before: str
    effect: Effect
    why: str
    step_after: str = ""
    collect: tuple[str, ...] = ()
    confirm: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    sources: dict[str, str] = Field(default_factory=dict)
    blocked_by: str = ""


class Foretold(Value):
    """What a dry run said of one session."""

    effect: str
    step_after: str = ""
    asks: tuple[str, ...] = ()


class Prediction(BaseModel):
    """What was foretold of the sessions that one version reaches, by hashed session id."""

    to_version: int
    sessions: dict[str, Foretold] = Field(default_factory=dict)


class ScoreBook:
    """Keeps predictions beside the scenario's events."""

    def __init__(self, *, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def foretell(
        self, scenario_id: str, to_version: int, rows: Iterable[DryRunRow], *, anew: bool
    ) -> None:
        """Keep what was foretold; `anew` where a dry run begins."""
        name = _prediction_name(scenario_id, to_version)
        fresh = {
            row.session: Foretold(
                effect=row.effect, step_after=row.step_after, asks=(*row.confirm, *row.collect)
            )
            for row in rows
        }

        def foretold(data: bytes | None) -> bytes | None:
            kept = {} if data is None or anew else read_value(data, Prediction).sessions
            if len(kept) >= KEPT_LIMIT:
                return None
            sessions = dict([*kept.items(), *fresh.items()][:KEPT_LIMIT])
            return Prediction(to_version=to_version, sessions=sessions).model_dump_json().encode()

        await change_blob(self._blobs, name, foretold, what="a prediction")

    async def score(self, scenario_id: str, versions: Iterable[int]) -> Score | None:
        """Return how the newest of `versions` that was foretold came true; None if none was."""
        for version in sorted(versions, reverse=True):
            blob = await self._blobs.read(_prediction_name(scenario_id, version))
            if blob is not None:
                return await self._score(scenario_id, read_value(blob.data, Prediction))
        return None

    async def _score(self, scenario_id: str, prediction: Prediction) -> Score:
        wrong: dict[str, int] = {}
        met = right = read = 0
        async for info in self._blobs.list(f"scenarios/{scenario_id}/events/"):
            if read == SCORED_LIMIT:
                break
            read += 1
            blob = await self._blobs.read(info.name)
            event = None if blob is None else read_value(blob.data, MigrationAppliedEvent)
            said = None if event is None else prediction.sessions.get(hashed(event.session_id))
            if event is None or said is None or event.to_version != prediction.to_version:
                continue
            met += 1
            miss = missed(said, event)
            right += not miss
            if miss:
                wrong[miss] = wrong.get(miss, 0) + 1
        return Score(
            to_version=prediction.to_version,
            foretold=len(prediction.sessions),
            met=met,
            right=right,
            wrong=wrong,
        )


def missed(said: Foretold, event: MigrationAppliedEvent) -> str:
    """Return what came otherwise than foretold; "" if nothing did.

    Where something was to be asked, the way depends on the answer and is not held against it.
    """
    asked, wanted = set(event.fields_collected), set(said.asks)
    if not wanted <= asked:
        return "was not asked what was foretold"
    if asked and not wanted:
        return "was asked, and nothing was foretold"
    if wanted:
        return ""
    if event.blocked_by_checkpoint != (said.effect == "blocked"):
        return "a checkpoint blocked otherwise"
    if (event.step_after or "") != said.step_after:
        return "went to another step"
    return ""


def _prediction_name(scenario_id: str, version: int) -> str:
    return f"scenarios/{scenario_id}/predictions/{version}.json"
