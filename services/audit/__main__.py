"""`python -m services.audit verify [--day YYYY-MM-DD]`: exit 0 sound, 1 broken, 2 not readable."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import date

from data_models.clock import RandomIds
from data_models.errors import RoundsError
from services.audit.verify import Report, verify
from services.stores import AUDIT, open_container
from settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.audit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("verify", help="check that no record was changed or removed")
    command.add_argument("--day", type=date.fromisoformat, help="only this UTC day")
    day = parser.parse_args(arguments).day
    try:
        report = asyncio.run(_verify(None if day is None else day.isoformat()))
    except RoundsError as error:
        sys.stderr.write(f"The audit trail could not be read ({error.code}). {error}\n")
        return 2
    sys.stdout.write(_said(report))
    return 1 if report.breaks else 0


async def _verify(day: str | None) -> Report:
    store = open_container(load_settings(), AUDIT, ids=RandomIds())
    try:
        return await verify(store, day=day)
    finally:
        await store.close()


def _said(report: Report) -> str:
    lines = [f"BROKEN {one.name} record {one.record}: {one.reason}" for one in report.breaks]
    verdict = "broken" if report.breaks else "sound"
    lines.append(f"{report.records} records in {report.chains} chains: {verdict}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
