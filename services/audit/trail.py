"""Writes the trail: a record is durable, or the access does not happen."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import structlog

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.errors import (
    AuditUnavailableError,
    BlobChangedError,
    StoreError,
    StoreUnavailableError,
)
from services.audit.chain import sealed
from services.audit.entry import AuditEntry
from services.audit.place import ROOT, Place
from services.audit.tail import Tail, open_tail

# Looks for one record in the trail; for what must be on it exactly once.


class AuditSearch:
    """Reads the trail of all replicas. Slow: for the time after a crash, not for every turn."""

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def holds(self, action: str, *, since: datetime) -> bool:
        """Whether a record with `action` was written on the day of `since` or later.

        Raises:
            StoreUnavailableError: the trail cannot be read, so nobody knows.
        """
        wanted, first_day = f'"{action}"'.encode(), since.strftime("%Y-%m-%d")
        async for row in self._store.list(ROOT):
            if row.name.removeprefix(ROOT)[: len(first_day)] < first_day:
                continue
            blob = await self._store.read(row.name)
            if blob is not None and wanted in blob.data:
                return True
        return False


BATCH_LIMIT_RECORDS = 500
PATIENCE_SECONDS = 1.0
"""So long what may wait does so for another record, to share its append."""
_TRIES = 3
logger = structlog.get_logger()

_Waiting = tuple[AuditEntry, "asyncio.Future[None]"]


class Audit(Protocol):
    """Takes records of accesses."""

    async def record(self, entry: AuditEntry) -> None:
        """Return when `entry` is durable.

        Raises:
            AuditUnavailableError: it may not be; the access must not happen.
        """
        ...

    async def close(self) -> None:
        """Wait for records under way; the caller closes the store."""
        ...


class NoAudit:
    """An `Audit` that keeps nothing; for dev with `AUDIT=false`."""

    async def record(self, entry: AuditEntry) -> None:
        """See `Audit.record`."""

    async def close(self) -> None:
        """See `Audit.close`."""


class AuditTrail:
    """The trail of this process. Records that arrive while one append runs share the next.

    Records keep the order in which they came, those that may wait too.

    Args:
        replica: Name of this process; two that share a name and a day only slow each other down.
    """

    def __init__(self, *, store: BlobStore, replica: str, clock: Clock) -> None:
        self._store = store
        self._replica = replica
        self._clock = clock
        self._tail: Tail | None = None
        self._waiting: list[_Waiting] = []
        self._under_way: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def record(self, entry: AuditEntry) -> None:
        """See `Audit.record`."""
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, durable))
        if entry.may_wait:
            asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._start_writer)
        else:
            self._start_writer()
        await durable

    async def close(self) -> None:
        """Wait for records under way; the caller closes the store."""
        self._start_writer()
        while self._writer is not None:
            await asyncio.wait([self._writer])

    def _start_writer(self) -> None:
        if self._waiting and self._writer is None:
            self._writer = asyncio.create_task(self._write_waiting())
            self._writer.add_done_callback(self._ended)

    async def _write_waiting(self) -> None:
        while self._waiting:
            self._under_way = self._waiting[:BATCH_LIMIT_RECORDS]
            del self._waiting[:BATCH_LIMIT_RECORDS]
            try:
                await self._append([entry for entry, _ in self._under_way])
            except StoreError as error:
                logger.warning("audit.unavailable", records=len(self._under_way))
                self._answer(error)
            else:
                self._answer(None)

    def _answer(self, error: BaseException | None) -> None:
        answered, self._under_way = self._under_way, []
        for _, durable in answered:
            if durable.done():  # its caller was cancelled
                continue
            if error is None:
                durable.set_result(None)
                continue
            refusal = AuditUnavailableError("the audit record was not written")
            refusal.__cause__ = error
            durable.set_exception(refusal)

    def _ended(self, writer: asyncio.Task[None]) -> None:
        """Leave nobody waiting, however the writer ended."""
        self._writer = None
        error = asyncio.CancelledError() if writer.cancelled() else writer.exception()
        if error is not None:
            logger.error("audit.writer_ended", error=type(error).__name__)
            self._tail = None
            self._under_way, self._waiting = self._under_way + self._waiting, []
            self._answer(error)
        # One that came after the writer's last look.
        self._start_writer()

    async def _append(self, entries: Sequence[AuditEntry]) -> None:
        for _ in range(_TRIES):
            now = self._clock.now()
            place = Place.of(now, self._replica)
            tail, self._tail = self._tail, None
            if tail is None or tail.place != place:
                tail = await open_tail(self._store, place)
            tail = tail.with_room()
            data, link = sealed(entries, after=tail.link, time=now)
            if await self._appended(tail, data):
                self._tail = tail.advanced(size=len(data), link=link)
                return
        raise StoreUnavailableError("the audit trail did not take the record")

    async def _appended(self, tail: Tail, data: bytes) -> bool:
        try:
            await self._store.append(tail.name, data, position=tail.position)
        except (StoreUnavailableError, BlobChangedError):
            # The answer may have been lost after the write: what is stored decides.
            blob = await self._store.read(tail.name)
            end = tail.position + len(data)
            return blob is not None and blob.data[tail.position : end] == data
        return True
