"""`python -m legacy.migrate_entities [--dry-run] [--patient ID] [--rollback] [--json]`.

Moves the entities of legacy sessions into the managers, after a backup; exit 1 if a session
failed, 2 if the store cannot be read. Run again after an interruption: it goes on. Servers may run
meanwhile: each conversation is held while its documents are rewritten.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
from legacy.entity_mover import Mover, MoveReport
from services.conversations.maintenance_lease import caretaker_for
from services.entities.circumstances import AgentNames
from services.stores import SESSIONS, USERS, ContextDocuments, opened, require_data
from services.team import TEAM_FILE, read_team
from settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m legacy.migrate_entities")
    parser.add_argument("--dry-run", action="store_true", help="say what would move, write nothing")
    parser.add_argument("--rollback", action="store_true", help="put the backups back")
    parser.add_argument("--patient", help="only the documents of this patient id")
    parser.add_argument("--json", action="store_true", help="print the report as JSON only")
    chosen = parser.parse_args(arguments)
    try:
        report = asyncio.run(_run(chosen))
    except RoundsError as error:
        sys.stderr.write(f"The sessions could not be read ({error.code}). {error}\n")
        return 2
    sys.stdout.write(f"{report.as_json()}\n" if chosen.json else _table(report))
    return 1 if report.failed else 0


async def _run(chosen: argparse.Namespace) -> MoveReport:
    async with opened_mover() as mover:
        work = mover.roll_back if chosen.rollback else mover.move
        return await work(dry_run=chosen.dry_run, patient=chosen.patient)


@asynccontextmanager
async def opened_mover() -> AsyncIterator[Mover]:
    """Open what the settings name.

    Raises:
        RoundsError: it cannot be read.
    """
    settings, ids, clock = load_settings(), RandomIds(), SystemClock()
    require_data(settings)
    async with opened(settings, SESSIONS, USERS, ids=ids) as (store, users):
        lease = caretaker_for(settings, sessions=store, users=users, clock=clock, ids=ids)
        documents = ContextDocuments(store=store, lease=lease, principal_id="migration")
        team = read_team(TEAM_FILE)
        names = AgentNames.of(team.names, legacy=team.legacy_names)
        yield Mover(documents=documents, team=names, clock=clock)


def _table(report: MoveReport) -> str:
    rows = [
        ("total", report.total),
        ("migrated", report.migrated),
        ("skipped", report.skipped),
        ("failed", report.failed),
    ]
    lines = [f"{name:10} {number:6}" for name, number in rows]
    lines += [f"{row['session']}  {row['code']}: {row['reason']}" for row in report.errors]
    return "\n".join([*lines, report.as_json()]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
