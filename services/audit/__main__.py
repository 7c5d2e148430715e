"""`python -m services.audit verify [--day YYYY-MM-DD] [--receipt FILE]`.

Exit 0: sound, and the receipt is on it; 1: broken, or the receipt is not as the trail says; 2: not
readable, or no trail is there.
"""

import argparse
import asyncio
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import orjson

from data_models.clock import RandomIds
from data_models.errors import CorruptDocumentError, RoundsError
from data_models.storage.blob_store import BlobStore
from services.audit.receipt import digest_of, run_of
from services.audit.trail import ROOT, Link, Place, checked, first_link
from services.stores import AUDIT, opened, require_data
from settings import load_settings

_NAME = re.compile(re.escape(ROOT) + r"([0-9]{4}-[0-9]{2}-[0-9]{2})/([^/]+)/([0-9]{6})\.jsonl")

_NO_TRAIL = (
    "No audit record was found, so nothing was verified. Set DATA_DIR, or the storage account, as"
    " the servers have it.\n"
)


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
        if (match := _NAME.fullmatch(row.name)) is None:
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.audit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("verify", help="check that no record was changed or removed")
    command.add_argument("--day", type=date.fromisoformat, metavar="YYYY-MM-DD", help="UTC day")
    command.add_argument("--receipt", type=Path, help="a turn's receipt that the trail must know")
    options = parser.parse_args(arguments)
    day = None if options.day is None else options.day.isoformat()
    try:
        receipt = options.receipt.read_bytes() if options.receipt else None
        reports, record = asyncio.run(_verify(day, receipt))
    except OSError as error:
        sys.stderr.write(f"The receipt could not be read: {error.strerror}: {options.receipt}\n")
        return 2
    except RoundsError as error:
        sys.stderr.write(f"The audit trail could not be read ({error.code}). {error}\n")
        return 2
    if day is None and not any(one.chains or one.breaks for one in reports):
        sys.stderr.write(_NO_TRAIL)
        return 2
    sys.stdout.writelines(map(_said, reports))
    problem = "" if receipt is None else _wrong_with(receipt, record)
    if receipt is not None:
        sys.stdout.write(f"receipt: {problem or _found(record)}\n")
    return 1 if problem or any(one.breaks for one in reports) else 0


async def _verify(
    day: str | None, receipt: bytes | None
) -> tuple[list[Report], ReceiptRecord | None]:
    """Verify the trail, or a day of it, and the day of the receipt's record besides."""
    settings = load_settings()
    require_data(settings)
    async with opened(settings, AUDIT, ids=RandomIds()) as (store,):
        reports = [await verify(store, day=day)]
        record = None if receipt is None else await find_receipt(store, receipt)
        if record is not None and day not in (None, record.day):
            reports.append(await verify(store, day=record.day))
        return reports, record


def _wrong_with(receipt: bytes, record: ReceiptRecord | None) -> str:
    if record is None:
        return "NOT on the trail. It was changed after the turn, or is of another trail."
    run_id = run_of(receipt)
    if run_id != record.run_id:
        return f"NOT that of its run. It names {run_id}, the trail {record.run_id}."
    return ""


def _found(record: ReceiptRecord | None) -> str:
    return "" if record is None else f"of {record.run_id}; its hash is on the trail, {record.name}"


def _said(report: Report) -> str:
    lines = [f"BROKEN {one.name} record {one.record}: {one.reason}" for one in report.breaks]
    verdict = "broken" if report.breaks else "sound" if report.chains else "nothing to check"
    lines.append(f"{report.records} records in {report.chains} chains: {verdict}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
