"""What operators did to a scenario, in order, for the people who come after them.

The audit trail of the server holds the same acts under its hash chain; this is the copy that a
page can read at once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Literal, TypeAlias

from pydantic import AwareDatetime

from data_models.chat_context import ChatContext
from data_models.errors import BlobChangedError, BlobExistsError, ScenarioConflictError
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from data_models.storage.blob_store import BlobInfo, BlobStore
from data_models.values import Value, read_value
from services.audit.trail import Audit, Visitor, record_access

READ_LIMIT = 50
LISTED_LIMIT = 5_000
"""Jumps; beyond that many the audit trail is the place to look; a page must not wait for them."""
TRIES = 5
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
        except (BlobChangedError, BlobExistsError) as error:
            raise ScenarioConflictError(
                "somebody else changed this scenario at the same moment; look again"
            ) from error
        finally:
            entry = JournalEntry(
                time=self.now(), operator=self.operator, action=action, note=note, outcome=outcome
            )
            await self.write(scenario_id, entry)

    async def record(
        self,
        action: str,
        *,
        about: str,
        session_id: str = "",
        document: ChatContext | None = None,
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
        for _ in range(TRIES):
            blob = await self.blobs.read(name)
            try:
                await self.blobs.append(name, line, position=len(blob.data) if blob else 0)
            except BlobChangedError:
                continue
            return
        raise BlobChangedError("the journal changed all the time")

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
            JournalEntry(time=one.timestamp, operator=who, action=JUMPED, note=describe_jump(one))
            for one in await self._newest_jumps(scenario_id)
        ]
        return sorted(entries, key=lambda one: one.time, reverse=True)

    async def _newest_jumps(self, scenario_id: str) -> list[MigrationAppliedEvent]:
        listed: list[BlobInfo] = []
        async for info in self.blobs.list(f"scenarios/{scenario_id}/events/"):
            listed.append(info)
            if len(listed) == LISTED_LIMIT:
                break
        names = [one.name for one in nlargest(READ_LIMIT, listed, key=lambda one: one.modified_at)]
        blobs = await asyncio.gather(*(self.blobs.read(name) for name in names))
        return [read_value(one.data, MigrationAppliedEvent) for one in blobs if one]


def _name(scenario_id: str) -> str:
    return f"scenarios/{scenario_id}/journal.jsonl"


def describe_jump(event: MigrationAppliedEvent) -> str:
    """Return a jump in one line."""
    versions = f"version {event.from_version} to {event.to_version}"
    steps = f"{event.step_before} to {event.step_after or 'the end'}"
    kind = (event.migration_scenario or event.action_taken).replace("_", " ")
    marks = ((event.pinned, "stays on its version"), (event.blocked_by_checkpoint, "blocked"))
    more = [text for is_so, text in marks if is_so]
    session = hashed(event.session_id)[:_SESSION_CHARS]  # as the page names sessions elsewhere
    return f"session {session}: {', '.join([versions, steps, kind, *more])}"
