"""The hash chain of one replica and day. Pure: bytes in, bytes out."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from data_models.errors import CorruptDocumentError
from data_models.identifiers import storage_folder
from services.audit.entry import AuditEntry

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
