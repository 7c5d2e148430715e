"""The trail, a hash chain for each replica and day: durable, or the access does not happen."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeAlias

import orjson
import structlog
from pydantic import BaseModel, Field

from data_models import errors
from data_models.clock import Clock
from data_models.errors import CorruptDocumentError
from data_models.identifiers import PatientId, storage_folder
from data_models.storage.blob_store import BlobStore

_Outcome: TypeAlias = Literal["begun", "done", "failed", "refused"]
Action: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.:-]{0,79}$")]


class Visitor(NamedTuple):
    """Who comes to data of patients, and from where.

    Attributes:
        principal: Id of the verified caller.
        conversation: "" outside conversations.
        run_id: The turn; None outside turns.
    """

    principal: str
    conversation: str = ""
    run_id: str | None = None


class AuditEntry(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """One turn of one patient, with all its reads and tools, or one access outside turns.

    Attributes:
        principal: Id of the verified caller, in clear: the trail is there to name people.
        patient: None where no patient is concerned.
        run_id: The turn; None outside turns.
        actions: Names of what is done, such as `turn` or `read_history`; names only, so that no
            content can get here.
        outcome: `begun` where the record comes before the access.
        receipt: SHA-256 of the receipt of a finished turn, in hexadecimal digits.
    """

    principal: Annotated[str, Field(min_length=1, max_length=400)]
    conversation: Annotated[str, Field(max_length=4_000)]
    patient: Annotated[str, Field(max_length=64)] | None = None
    run_id: Annotated[str, Field(max_length=100)] | None = None
    actions: Annotated[tuple[Action, ...], Field(min_length=1, max_length=100)]
    outcome: _Outcome = "begun"
    receipt: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


ROOT = "trail/"


@dataclass(frozen=True, slots=True)
class Place:
    """One chain: a replica's records of one UTC day, in numbered parts."""

    day: str
    folder: str

    @classmethod
    def of(cls, moment: datetime, replica: str) -> "Place":
        """Return the chain of `replica` at `moment`."""
        return cls(moment.strftime("%Y-%m-%d"), storage_folder(replica))

    def part(self, number: int) -> str:
        """Return the name of the part `number`, from 1; names sort as numbers."""
        return f"{ROOT}{self.day}/{self.folder}/{number:06}.jsonl"


_FORM = orjson.OPT_SORT_KEYS


@dataclass(frozen=True, slots=True)
class Link:
    """The last record of a chain.

    Attributes:
        number: How many records there are before and with it.
        digest: Its hash, which the next record carries as `prev`.
    """

    number: int
    digest: str


def first_link(day: str, folder: str) -> Link:
    """Return what the first record of a chain refers to, so that no chain fits another's place."""
    return Link(0, hashlib.sha256(f"rounds audit trail {day} {folder}".encode()).hexdigest())


def sealed(entries: Sequence[AuditEntry], *, after: Link, time: datetime) -> tuple[bytes, Link]:
    """Return the lines of `entries`, each ended by a newline, and the last link."""
    lines = []
    for entry in entries:
        left_out = {"receipt"} if entry.receipt is None else None
        body = entry.model_dump(exclude=left_out) | {
            "v": 1,
            "number": after.number + 1,
            "time": time.isoformat(timespec="milliseconds"),
            "prev": after.digest,
        }
        after = Link(after.number + 1, _digest(body))
        lines.append(orjson.dumps(body | {"hash": after.digest}, option=_FORM) + b"\n")
    return b"".join(lines), after


def checked(line: bytes, *, after: Link) -> Link:
    """Return the link of `line`, which has no newline, if it follows `after`.

    Raises:
        CorruptDocumentError: it was changed, moved, or something before it is missing.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise CorruptDocumentError("is not a whole record") from None
    if not isinstance(row, dict) or orjson.dumps(row, option=_FORM) != line:
        raise CorruptDocumentError("is not in the form in which records are written")
    digest = row.pop("hash", None)
    if digest != _digest(row):
        raise CorruptDocumentError("was changed: its hash does not fit")
    if row.get("number") != after.number + 1 or row.get("prev") != after.digest:
        raise CorruptDocumentError("does not follow the record before it")
    return replace(after, number=after.number + 1, digest=digest)


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(body, option=_FORM)).hexdigest()


# The end of a chain, where the next records go.

# An append blob takes 50,000 appends; a small part is also quick to read when it is resumed.
PART_LIMIT_RECORDS = 40_000
PART_LIMIT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Tail:
    """Where the next records of a chain go.

    Attributes:
        part: Number of the part that is written, from 1.
        position: Its length in bytes.
        records: How many records it holds, at least as many as it took appends.
        is_damaged: The part ends in something that is no record; nothing can follow it there.
    """

    place: Place
    part: int
    position: int
    records: int
    link: Link
    is_damaged: bool = False

    @property
    def name(self) -> str:
        """Name of the blob that is written."""
        return self.place.part(self.part)

    def advanced(self, *, size: int, link: Link) -> "Tail":
        """Return the tail after `size` bytes were appended, up to `link`."""
        records = self.records + link.number - self.link.number
        return Tail(self.place, self.part, self.position + size, records, link)

    def with_room(self) -> "Tail":
        """Return this tail, or the beginning of the next part if this one is full or damaged."""
        full = self.records >= PART_LIMIT_RECORDS or self.position >= PART_LIMIT_BYTES
        if not full and not self.is_damaged:
            return self
        return Tail(self.place, self.part + 1, 0, 0, self.link)


def _after(tail: Tail, data: bytes) -> Tail:
    for line in data.splitlines(keepends=True):
        try:
            link = checked(line.removesuffix(b"\n"), after=tail.link)
        except errors.CorruptDocumentError:
            return Tail(tail.place, tail.part, len(data), tail.records, tail.link, is_damaged=True)
        tail = tail.advanced(size=len(line), link=link)
    # A last line without its end was not written whole.
    damaged = not data.endswith(b"\n") and data != b""
    return Tail(tail.place, tail.part, len(data), tail.records, tail.link, is_damaged=damaged)


async def is_on_trail(store: BlobStore, action: str, *, since: datetime) -> bool:
    """Whether any replica wrote a record with `action` on the day of `since` or later.

    Slow: for what must be on the trail exactly once, after a crash, not for every turn.

    Raises:
        StoreUnavailableError: the trail cannot be read, so nobody knows.
    """
    wanted, first_day = f'"{action}"'.encode(), since.strftime("%Y-%m-%d")
    async for row in store.list(ROOT):
        if row.name.removeprefix(ROOT)[: len(first_day)] < first_day:
            continue
        blob = await store.read(row.name)
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


async def record_access(
    audit: Audit,
    visitor: Visitor,
    *actions: str,
    patient: PatientId | None = None,
    outcome: _Outcome = "begun",
) -> None:
    """Put an access on the trail; see `Audit.record`."""
    entry = AuditEntry(**visitor._asdict(), patient=patient, actions=actions, outcome=outcome)
    await audit.record(entry)


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
        self._patience: asyncio.TimerHandle | None = None

    async def record(self, entry: AuditEntry) -> None:
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, durable))
        if entry.receipt is None:  # a receipt tells of what is over: nothing waits for it
            self._start_writer()
        elif self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(PATIENCE_SECONDS, self._start_writer)
        await durable

    async def close(self) -> None:
        """Wait for records under way; the caller closes the store."""
        self._start_writer()
        while self._writer is not None:
            await asyncio.wait([self._writer])

    def _start_writer(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._waiting and self._writer is None:
            self._writer = asyncio.create_task(self._write_waiting())
            self._writer.add_done_callback(self._end)

    async def _write_waiting(self) -> None:
        while self._waiting:
            self._under_way = self._waiting[:BATCH_LIMIT_RECORDS]
            del self._waiting[:BATCH_LIMIT_RECORDS]
            try:
                await self._append([entry for entry, _ in self._under_way])
            except errors.StoreError as error:
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
            refusal = errors.AuditUnavailableError("the audit record was not written")
            refusal.__cause__ = error
            durable.set_exception(refusal)

    def _end(self, writer: asyncio.Task[None]) -> None:
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
                tail = Tail(place, 1, 0, 0, first_link(place.day, place.folder))
                number = 1
                while (blob := await self._store.read(place.part(number))) is not None:
                    tail = _after(Tail(place, number, 0, 0, tail.link), blob.data)
                    number += 1
            tail = tail.with_room()
            data, link = sealed(entries, after=tail.link, time=now)
            if await self._append_to(tail, data):
                self._tail = tail.advanced(size=len(data), link=link)
                return
        raise errors.StoreUnavailableError("the audit trail did not take the record")

    async def _append_to(self, tail: Tail, data: bytes) -> bool:
        try:
            await self._store.append(tail.name, data, position=tail.position)
        except (errors.StoreUnavailableError, errors.BlobChangedError):
            # The answer may have been lost after the write: what is stored decides.
            blob = await self._store.read(tail.name)
            end = tail.position + len(data)
            return blob is not None and blob.data[tail.position : end] == data
        return True
