"""`python -m services.tool_memory.cleanup [--dry-run]`: 0 done, 1 some unreadable, 2 no storage."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
from services.folder_maintenance import maintenance_for
from services.run_journal.left_over import LeftOverJournals
from services.stored_folders import stored_folders
from services.stores import SESSIONS, USERS, open_container
from services.tool_memory.idle import IdleArchive, IdleReport
from settings import Settings, load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m services.tool_memory.cleanup", description=__doc__
    )
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    dry_run: bool = parser.parse_args(arguments).dry_run
    try:
        report, journals = asyncio.run(_clean(load_settings(), dry_run=dry_run))
    except RoundsError as error:
        sys.stderr.write(f"The clean-up could not run ({error.code}). {error}\n")
        return 2
    counts = {**asdict(report), "journals": journals, "dry_run": dry_run}
    sys.stdout.write(json.dumps(counts) + "\n")
    return 1 if report.unreadable else 0


async def _clean(settings: Settings, *, dry_run: bool) -> tuple[IdleReport, int]:
    """Return what was found, and how many parts of journals were left over."""
    ids, clock = RandomIds(), SystemClock()
    folders = await stored_folders(settings, ids=ids)
    sessions, users = (open_container(settings, name, ids=ids) for name in (SESSIONS, USERS))
    maintenance = maintenance_for(
        settings, sessions=sessions, users=users, clock=clock, ids=ids, principal_id="clean-up"
    )
    archive = IdleArchive(store=sessions, maintenance=maintenance, clock=clock, ids=ids)
    left_over = LeftOverJournals(store=sessions, clock=clock)
    try:
        journals = await left_over.sweep(folders, dry_run=dry_run)
        return await archive.run(folders, dry_run=dry_run), journals
    finally:
        await sessions.close()
        await users.close()


if __name__ == "__main__":
    sys.exit(main())
