"""`python -m services.tool_memory.cleanup [--dry-run]`: 0 done, 1 some unreadable, 2 no storage."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from data_models.blob_names import is_blob_name
from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
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
        report = asyncio.run(_clean(load_settings(), dry_run=dry_run))
    except RoundsError as error:
        sys.stderr.write(f"The clean-up could not run ({error.code}). {error}\n")
        return 2
    sys.stdout.write(json.dumps({**asdict(report), "dry_run": dry_run}) + "\n")
    return 1 if report.unreadable else 0


async def _clean(settings: Settings, *, dry_run: bool) -> IdleReport:
    ids = RandomIds()
    sessions = open_container(settings, SESSIONS, ids=ids)
    try:
        folders = await _folders(settings)
        archive = IdleArchive(store=sessions, clock=SystemClock(), ids=ids)
        return await archive.run(sorted(folders), dry_run=dry_run)
    finally:
        await sessions.close()


async def _folders(settings: Settings) -> set[str]:
    """Return the conversations of the owner index and, on local files, every folder."""
    users = open_container(settings, USERS, ids=RandomIds())
    try:
        found = {row.name.rpartition("/")[2] async for row in users.list("users/")}
    finally:
        await users.close()
    root = settings.data_dir / SESSIONS
    if root.is_dir():
        found |= {one.name for one in root.iterdir() if one.is_dir()}
    return {one for one in found if is_blob_name(one)}


if __name__ == "__main__":
    sys.exit(main())
