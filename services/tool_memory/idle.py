"""Archives the tool memory of conversations that nobody has used for a week (spec page 3.2)."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from data_models.blob_store import Blob, BlobStore
from data_models.clock import Clock, IdSource
from data_models.errors import BlobChangedError, BlobExistsError, CorruptDocumentError
from data_models.layout import timestamp
from data_models.tool_memory import ToolMemory

IDLE = timedelta(days=7)
_DOCUMENT_SUFFIX = "_context.json"


@dataclass(slots=True)
class IdleReport:
    """What a clean-up found.

    Attributes:
        archived: Documents whose tool memory was archived, or would be.
        busy: Documents that changed meanwhile; the next run looks again.
        unreadable: Documents that need a person.
    """

    looked_at: int = 0
    archived: int = 0
    busy: int = 0
    unreadable: int = 0


class IdleArchive:
    """Works on one container. A turn that runs meanwhile wins: every write is conditional."""

    def __init__(self, *, store: BlobStore, clock: Clock, ids: IdSource) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def run(self, folders: Sequence[str], *, dry_run: bool) -> IdleReport:
        """Look at every conversation of `folders`.

        Raises:
            StoreUnavailableError: the container cannot be used; what was done stays done.
        """
        report = IdleReport()
        for folder in folders:
            async for name in self._documents(folder):
                report.looked_at += 1
                await self._look(name, report, dry_run=dry_run)
        return report

    async def _documents(self, folder: str) -> AsyncIterator[str]:
        rows = [row.name async for row in self._store.list(f"{folder}/")]
        for name in rows:
            if name.endswith(_DOCUMENT_SUFFIX) and name.count("/") == 1:
                yield name

    async def _look(self, name: str, report: IdleReport, *, dry_run: bool) -> None:
        blob = await self._store.read(name)
        if blob is None:
            return
        try:
            document = _parsed(blob)
            memory = ToolMemory.model_validate(document.get("tool_memory") or {})
        except (ValueError, CorruptDocumentError):
            report.unreadable += 1
            return
        if not is_idle(memory, self._clock.now()):
            return
        try:
            if not dry_run:
                await self._archive(name, blob, document)
        except (BlobChangedError, BlobExistsError):
            report.busy += 1
        else:
            report.archived += 1

    async def _archive(self, name: str, blob: Blob, document: Mapping[str, Any]) -> None:
        stem = name.removesuffix(_DOCUMENT_SUFFIX)
        target = f"{stem}_tool_memory/{timestamp(self._clock.now())}.json"
        # Archived before it is removed: a crash between leaves it in both places.
        await self._store.create(target, _encoded(document["tool_memory"]))
        left = {**document, "tool_memory": {}, "write_id": self._ids.new_id("write")}
        await self._store.replace(name, _encoded(left), etag=blob.etag)


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
