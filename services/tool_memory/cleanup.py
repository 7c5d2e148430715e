"""`python -m services.tool_memory.cleanup [--dry-run]`: 0 done, 1 some unreadable, 2 no storage."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
from services.stored_folders import stored_folders
from services.stores import SESSIONS, USERS, open_container
from services.tool_memory.idle import IdleArchive, IdleReport
from services.upkeep import upkeep_for
from settings import Settings, load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m services.tool_memory.cleanup", description=__doc__
    )
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    dry_run: bool = parser.parse_args(arguments).dry_run
    try:
        report = asyncio.run(_clean(load_settings(), dry_run=dry_run))
    except RoundsError as error:
        sys.stderr.write(f"The clean-up could not run ({error.code}). {error}\n")
        return 2
    sys.stdout.write(json.dumps({**asdict(report), "dry_run": dry_run}) + "\n")
    return 1 if report.unreadable else 0


async def _clean(settings: Settings, *, dry_run: bool) -> IdleReport:
    ids, clock = RandomIds(), SystemClock()
    folders = await stored_folders(settings, ids=ids)
    sessions, users = (open_container(settings, name, ids=ids) for name in (SESSIONS, USERS))
    upkeep = upkeep_for(
        settings, sessions=sessions, users=users, clock=clock, ids=ids, principal_id="clean-up"
    )
    archive = IdleArchive(store=sessions, upkeep=upkeep, clock=clock, ids=ids)
    try:
        return await archive.run(folders, dry_run=dry_run)
    finally:
        await sessions.close()
        await users.close()


if __name__ == "__main__":
    sys.exit(main())
