"""`python -m services.tool_memory.cleanup [--dry-run]`: 0 done, 1 some unreadable, 2 no storage."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.conversations.claim import Claim
from data_models.errors import (
    BlobChangedError,
    BlobExistsError,
    ClaimLostError,
    ConversationBusyError,
    CorruptDocumentError,
    RoundsError,
)
from data_models.layout import timestamp
from data_models.storage.blob_store import Blob, BlobStore
from data_models.tool_memory import ToolMemory
from services.stored_folders import holding_for, list_folders
from services.stores import SESSIONS, USERS, opened
from services.tool_memory.personal import PersonalToolMemories
from settings import Settings, load_settings

# Archives the tool memory of conversations that nobody has used for a week (spec page 3.2).

IDLE = timedelta(days=7)
_DOCUMENT_SUFFIX = "_context.json"


@dataclass(slots=True)
class IdleReport:
    """What a clean-up found.

    Attributes:
        archived: Documents whose tool memory was archived, or would be.
        busy: Conversations in which turns ran meanwhile; the next run looks again.
        unreadable: Documents that need a person.
    """

    looked_at: int = 0
    archived: int = 0
    busy: int = 0
    unreadable: int = 0


Holding: TypeAlias = Callable[[str], AbstractAsyncContextManager[Claim | None]]
"""Holds the conversation stored in a folder, as turns do; None where no turn could run.

Raises:
    ConversationBusyError: its turns take too long.
    ClaimLostError: somebody took us for dead.
    CorruptDocumentError: its conversation document cannot be read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleArchive:
    """Works on one container. Looks first, and holds only conversations with work in them."""

    store: BlobStore
    holding: Holding
    clock: Clock
    ids: IdSource

    async def run(self, folders: Sequence[str], *, dry_run: bool) -> IdleReport:
        """Look at every conversation of `folders`.

        Raises:
            StoreUnavailableError: the container cannot be used; what was done stays done.
        """
        report = IdleReport()
        for folder in folders:
            idle = [name async for name in self._documents(folder, report)]
            if dry_run:
                report.archived += len(idle)
            elif idle:
                try:
                    async with self.holding(folder) as claim:
                        for name in idle:
                            report.archived += await self._archive(name, claim)
                except CorruptDocumentError:
                    report.unreadable += len(idle)
                except (BlobChangedError, BlobExistsError, ClaimLostError, ConversationBusyError):
                    report.busy += 1
        return report

    async def _documents(self, folder: str, report: IdleReport) -> AsyncIterator[str]:
        rows = [row.name async for row in self.store.list(f"{folder}/")]
        for name in rows:
            if not name.endswith(_DOCUMENT_SUFFIX) or name.count("/") != 1:
                continue
            report.looked_at += 1
            try:
                if await self._idle(name) is not None:
                    yield name
            except (ValueError, CorruptDocumentError):
                report.unreadable += 1

    async def _idle(self, name: str) -> tuple[Blob, dict[str, Any]] | None:
        """Return a document whose tool memory is idle.

        Raises:
            ValueError: it is no context document.
            CorruptDocumentError: it is no JSON object.
        """
        if (blob := await self.store.read(name)) is None:
            return None
        document = _parsed(blob)
        memory = ToolMemory.model_validate(document.get("tool_memory") or {})
        return (blob, document) if is_idle(memory, self.clock.now()) else None

    async def _archive(self, name: str, claim: Claim | None) -> int:
        found = await self._idle(name)  # again: before we held it, a turn may have used it
        if found is None:
            return 0
        blob, document = found
        if claim is not None:
            await claim.name_patient(document.get("patient_id"))
            await claim.hold()
        stem = name.removesuffix(_DOCUMENT_SUFFIX)
        target = f"{stem}_tool_memory/{timestamp(self.clock.now())}.json"
        # Archived before it is removed: a crash between leaves it in both places.
        await self.store.create(target, _encoded(document["tool_memory"]))
        left = {**document, "tool_memory": {}, "write_id": self.ids.new_id("write")}
        await self.store.replace(name, _encoded(left), etag=blob.etag)
        return 1


def is_idle(memory: ToolMemory, now: datetime) -> bool:
    """Whether there is something to archive and nothing of it was used for a week."""
    used = [one.last_accessed for one in memory.entities]
    used += [one.timestamp for one in memory.executions]
    return bool(used) and now - max(used) > IDLE


def _parsed(blob: Blob) -> dict[str, Any]:
    found = json.loads(blob.data)
    if not isinstance(found, dict):
        raise CorruptDocumentError("context document is no JSON object")
    return found


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
    folders = await list_folders(settings, ids=ids)
    async with opened(settings, SESSIONS, USERS, ids=ids) as (sessions, users):
        holding = holding_for(
            settings, sessions=sessions, users=users, clock=clock, ids=ids, principal_id="clean-up"
        )
        archive = IdleArchive(store=sessions, holding=holding, clock=clock, ids=ids)
        personal = await PersonalToolMemories(store=users).sweep(now=clock.now(), dry_run=dry_run)
        report = await archive.run(folders, dry_run=dry_run)
        counts = {**asdict(report), "personal": personal}
        return counts, not report.unreadable


if __name__ == "__main__":
    sys.exit(main())
