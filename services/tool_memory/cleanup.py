"""`python -m services.tool_memory.cleanup [--dry-run]`: 0 done, 1 some unreadable, 2 no storage."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.errors import CorruptDocumentError, RoundsError, StoreUnavailableError
from data_models.identifiers import timestamp
from data_models.tool_memory import ToolMemory
from services.conversations.maintenance_lease import caretaker_for
from services.stores import SESSIONS, USERS, ContextDocuments, json_of, opened, require_data
from services.tool_memory.personal import PersonalToolMemories
from settings import Settings, load_settings

# Archives the tool memory of conversations that nobody has used for a week (spec page 3.2).

IDLE = timedelta(days=7)


@dataclass(slots=True)
class IdleReport:
    """What a clean-up found.

    Attributes:
        archived: Documents whose tool memory was archived, or would be.
        busy: Conversations in which turns ran meanwhile; the next run looks again.
        unreadable: Documents that need a person.
    """

    looked_at: int
    archived: int
    busy: int
    unreadable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleArchive:
    """Works on one container."""

    documents: ContextDocuments
    clock: Clock
    ids: IdSource

    async def run(self, *, dry_run: bool) -> IdleReport:
        """Look at every conversation.

        Raises:
            StoreUnavailableError: the container cannot be used; what was done stays done.
        """
        done = await self.documents.rewrite(self._result, before=self._archive, dry_run=dry_run)
        unreadable, busy = 0, set[str]()
        for name, error in done.failed.items():
            if isinstance(error, StoreUnavailableError):
                raise error
            if isinstance(error, CorruptDocumentError):
                unreadable += 1
            else:
                busy.add(name.partition("/")[0])
        return IdleReport(done.looked_at, done.changed, len(busy), unreadable)

    async def _result(self, _: str, data: bytes) -> bytes | None:
        """Return a document without its tool memory, if that is idle."""
        document = json_of(data)
        if not is_idle(_memory_of(document), self.clock.now()):
            return None
        return _encoded({**document, "tool_memory": {}, "write_id": self.ids.new_id("write")})

    async def _archive(self, name: str, data: bytes) -> None:
        """Archive it before it is removed: a crash between leaves it in both places."""
        stem = name.removesuffix("_context.json")
        target = f"{stem}_tool_memory/{timestamp(self.clock.now())}.json"
        await self.documents.store.create(target, _encoded(json_of(data)["tool_memory"]))


def _memory_of(document: Mapping[str, Any]) -> ToolMemory:
    try:
        return ToolMemory.model_validate(document.get("tool_memory") or {})
    except ValidationError:
        raise CorruptDocumentError("the tool memory cannot be read") from None


def is_idle(memory: ToolMemory, now: datetime) -> bool:
    """Whether there is something to archive and nothing of it was used for a week."""
    used = [one.last_accessed for one in memory.entities]
    used += [one.timestamp for one in memory.executions]
    return bool(used) and now - max(used) > IDLE


def _encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m services.tool_memory.cleanup", description=__doc__
    )
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    dry_run: bool = parser.parse_args(arguments).dry_run
    try:
        counts, is_whole = asyncio.run(_clean(load_settings(), dry_run=dry_run))
    except RoundsError as error:
        sys.stderr.write(f"The clean-up could not run ({error.code}). {error}\n")
        return 2
    sys.stdout.write(json.dumps({**counts, "dry_run": dry_run}) + "\n")
    return 0 if is_whole else 1


async def _clean(settings: Settings, *, dry_run: bool) -> tuple[dict[str, int], bool]:
    """Return how much was found of what, and whether all of it could be read."""
    ids, clock = RandomIds(), SystemClock()
    require_data(settings)
    async with opened(settings, SESSIONS, USERS, ids=ids) as (sessions, users):
        lease = caretaker_for(settings, sessions=sessions, users=users, clock=clock, ids=ids)
        documents = ContextDocuments(store=sessions, lease=lease, principal_id="clean-up")
        archive = IdleArchive(documents=documents, clock=clock, ids=ids)
        personal = await PersonalToolMemories(store=users).sweep(now=clock.now(), dry_run=dry_run)
        report = await archive.run(dry_run=dry_run)
        counts = {**asdict(report), "personal": personal}
        return counts, not report.unreadable


if __name__ == "__main__":
    sys.exit(main())
