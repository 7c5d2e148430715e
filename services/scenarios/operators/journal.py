"""What operators did to a scenario, in order, for the people who come after them.

The audit trail of the server holds the same acts under its hash chain; this is the copy that a
page can read at once.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import AwareDatetime, ValidationError

from data_models.blob_store import BlobStore
from data_models.errors import BlobChangedError, CorruptDocumentError
from data_models.scenario_session import MigrationAppliedEvent
from data_models.values import Value
from services.scenarios.operators.jumps import Jumps, describe_jump

TRIES = 5
Outcome: TypeAlias = Literal["done", "refused"]
SHOWN_LIMIT = 200
JUMPED = "session_migrated"


class JournalEntry(Value):
    """One act; `note` names versions, steps and counts, nothing of a patient."""

    time: AwareDatetime
    operator: str
    action: str
    note: str = ""
    outcome: Outcome = "done"


class Journal:
    """One list for each scenario. A blob takes 50,000 appends, more than operators make."""

    def __init__(self, *, blobs: BlobStore, jumps: Jumps) -> None:
        self._blobs = blobs
        self._jumps = jumps

    async def write(self, scenario_id: str, entry: JournalEntry) -> None:
        """Add an act.

        Raises:
            BlobChangedError: others wrote at the same moment, again and again.
        """
        line = entry.model_dump_json().encode() + b"\n"
        name = _name(scenario_id)
        for _ in range(TRIES):
            blob = await self._blobs.read(name)
            try:
                await self._blobs.append(name, line, position=len(blob.data) if blob else 0)
            except BlobChangedError:
                continue
            return
        raise BlobChangedError("the journal changed all the time")

    async def newest(self, scenario_id: str) -> Sequence[JournalEntry]:
        """Return the newest acts and jumps, newest first.

        Raises:
            CorruptDocumentError: the journal cannot be read.
        """
        blob = await self._blobs.read(_name(scenario_id))
        lines = blob.data.splitlines()[-SHOWN_LIMIT:] if blob else []
        try:
            acts = [JournalEntry.model_validate_json(line) for line in reversed(lines)]
        except ValidationError as error:
            raise CorruptDocumentError("Journal cannot be read") from error
        jumps = await self._jumps.newest(scenario_id)
        entries = [*acts, *map(_entry_of, jumps)]
        return sorted(entries, key=lambda one: one.time, reverse=True)


def _entry_of(jump: MigrationAppliedEvent) -> JournalEntry:
    return JournalEntry(
        time=jump.timestamp, operator="a session's turn", action=JUMPED, note=describe_jump(jump)
    )


def _name(scenario_id: str) -> str:
    return f"scenarios/{scenario_id}/journal.jsonl"
