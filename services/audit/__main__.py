"""`python -m services.audit verify [--day YYYY-MM-DD] [--receipt FILE]`.

Exit 0: sound, and the receipt is on it; 1: broken, or the receipt is not as the trail says; 2: not
readable.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from data_models.clock import RandomIds
from data_models.errors import RoundsError
from services.audit.receipt import run_of
from services.audit.verify import ReceiptRecord, Report, find_receipt, verify
from services.stores import AUDIT, open_container
from settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.audit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("verify", help="check that no record was changed or removed")
    command.add_argument("--day", type=date.fromisoformat, help="only this UTC day")
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
    sys.stdout.writelines(map(_said, reports))
    problem = "" if receipt is None else _wrong_with(receipt, record)
    if receipt is not None:
        sys.stdout.write(f"receipt: {problem or _found(record)}\n")
    return 1 if problem or any(one.breaks for one in reports) else 0


async def _verify(
    day: str | None, receipt: bytes | None
) -> tuple[list[Report], ReceiptRecord | None]:
    """Verify the trail, or a day of it, and the day of the receipt's record besides."""
    store = open_container(load_settings(), AUDIT, ids=RandomIds())
    try:
        reports = [await verify(store, day=day)]
        record = None if receipt is None else await find_receipt(store, receipt)
        if record is not None and day not in (None, record.day):
            reports.append(await verify(store, day=record.day))
        return reports, record
    finally:
        await store.close()


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
    verdict = "broken" if report.breaks else "sound"
    lines.append(f"{report.records} records in {report.chains} chains: {verdict}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
