"""Reads the trail back and finds the first record of each chain that is not as it was written."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

import orjson

from data_models.blob_store import BlobStore
from data_models.errors import CorruptDocumentError
from services.audit.chain import ROOT, Link, Place, checked, first_link
from services.audit.receipt import digest_of

_NAME = re.compile(re.escape(ROOT) + r"([0-9]{4}-[0-9]{2}-[0-9]{2})/([^/]+)/([0-9]{6})\.jsonl")


@dataclass(frozen=True, slots=True)
class Break:
    """Where a chain breaks: the blob, the record in it from 1, and what is wrong."""

    name: str
    record: int
    reason: str


@dataclass(slots=True)
class Report:
    """What a verification found."""

    chains: int = 0
    records: int = 0
    breaks: list[Break] = field(default_factory=list)


async def verify(store: BlobStore, *, day: str | None = None) -> Report:
    """Check every chain, or those of `day` (`YYYY-MM-DD`).

    A chain cannot tell that its last records, or all of it, were taken away.

    Raises:
        StoreUnavailableError: the trail cannot be read.
    """
    report = Report()
    chains: dict[Place, list[int]] = defaultdict(list)
    async for row in store.list(f"{ROOT}{day}/" if day else ROOT):
        match = _NAME.fullmatch(row.name)
        if match is None:
            report.breaks.append(Break(row.name, 0, "is not part of a chain"))
            continue
        chains[Place(match[1], match[2])].append(int(match[3]))
    for place, parts in chains.items():
        await _verify_chain(store, place, parts, report)
    return report


async def _verify_chain(store: BlobStore, place: Place, parts: list[int], report: Report) -> None:
    report.chains += 1
    link = first_link(place.day, place.folder)
    for expected, number in enumerate(sorted(parts), start=1):
        name = place.part(number)
        if number != expected:
            report.breaks.append(Break(place.part(expected), 0, "is missing"))
            return
        blob = await store.read(name)
        link_or_break = _verify_part(name, b"" if blob is None else blob.data, link)
        if isinstance(link_or_break, Break):
            report.breaks.append(link_or_break)
            return
        report.records += link_or_break.number - link.number
        link = link_or_break


def _verify_part(name: str, data: bytes, link: Link) -> Link | Break:
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            return Break(name, number, "is not a whole record")
        try:
            link = checked(line[:-1], after=link)
        except CorruptDocumentError as error:
            return Break(name, number, str(error))
    return link


@dataclass(frozen=True, slots=True)
class ReceiptRecord:
    """The record that carries a receipt's hash: in which part, of which day, for which run."""

    name: str
    day: str
    run_id: str


async def find_receipt(store: BlobStore, receipt: bytes) -> ReceiptRecord | None:
    """Return the record that carries the receipt's hash; None where none does.

    Whether its chain is sound, `verify` says of its day.

    Raises:
        StoreUnavailableError: the trail cannot be read.
    """
    digest = digest_of(receipt)
    async for row in store.list(ROOT):
        match, blob = _NAME.fullmatch(row.name), await store.read(row.name)
        lines = [] if blob is None else blob.data.splitlines()
        found = [line for line in lines if digest.encode() in line]
        for record in map(orjson.loads, found):
            if match is not None and record.get("receipt") == digest:
                return ReceiptRecord(row.name, match[1], str(record.get("run_id")))
    return None
