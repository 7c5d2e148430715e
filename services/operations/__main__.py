"""`python -m services.operations backup|verify|restore PLACE` and `forget PATIENT [--dry-run]`.

A place is a folder, or `https://ACCOUNT.blob.core.windows.net/CONTAINER/NAME`.

Exit 0 done, 1 something needs a person, 2 it could not be done as asked.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.errors import RoundsError
from data_models.identifiers import storable_patient_id
from services.audit.trail import AuditTrail, Visitor, record_access
from services.basis import Replica
from services.conversations.maintenance_lease import caretaker_for
from services.operations.backup import Backup, Restore
from services.operations.backup_files import BackupSummary, open_backup
from services.operations.forgetting import PRINCIPAL, Forgetting
from services.stores import AUDIT, SCENARIOS, SESSIONS, USERS, opened, require_data
from settings import Settings, load_settings

CONTAINERS = (SESSIONS, USERS, AUDIT, SCENARIOS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        report = asyncio.run(_run(chosen, load_settings()))
    except (RoundsError, OSError) as error:  # a folder that cannot be read or written, too
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(report) + "\n" if chosen.json else _table(report))
    return 1 if report.get("unreadable") or report.get("mentions") else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.operations", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    backup = commands.add_parser("backup", help="copy all containers to a new place")
    backup.add_argument("--dated", action="store_true", help="name it by the time, below PLACE")
    verify = commands.add_parser("verify", help="check a backup against its list")
    restore = commands.add_parser("restore", help="put a backup into empty containers")
    restore.add_argument("--resume", action="store_true", help="go on after an interruption")
    for one in (backup, verify, restore):
        one.add_argument("place")
    forget = commands.add_parser("forget", help="delete one patient's data everywhere")
    forget.add_argument("patient")
    forget.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    for one in (backup, verify, restore, forget):
        one.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


async def _run(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    ids, clock = RandomIds(), SystemClock()
    if chosen.command in ("backup", "forget"):
        require_data(settings)
    async with opened(settings, *CONTAINERS, ids=ids) as containers:
        stores = dict(zip(CONTAINERS, containers, strict=True))
        maintenance_lease = caretaker_for(
            settings, sessions=stores[SESSIONS], users=stores[USERS], clock=clock, ids=ids
        )
        if chosen.command == "forget":
            trail = AuditTrail(store=stores[AUDIT], replica=Replica().label, clock=clock)
            forgetting = Forgetting(
                sessions=stores[SESSIONS], users=stores[USERS], maintenance_lease=maintenance_lease
            )
            patient_id = storable_patient_id(chosen.patient)
            if not chosen.dry_run:
                visitor = Visitor(PRINCIPAL, "all")
                await record_access(trail, visitor, "forget_patient", patient=patient_id)
            try:
                return asdict(await forgetting.run(patient_id, dry_run=chosen.dry_run))
            finally:
                await trail.close()
        backup = Backup(
            containers=stores,
            conversations=SESSIONS,
            maintenance_lease=maintenance_lease,
            clock=clock,
        )
        made = await _copy(chosen, backup, Restore(containers=stores), clock, ids)
        return made.model_dump(mode="json")


async def _copy(
    chosen: argparse.Namespace, backup: Backup, restore: Restore, clock: Clock, ids: IdSource
) -> BackupSummary:
    place = chosen.place
    if chosen.command == "backup" and chosen.dated:
        place = f"{place.rstrip('/')}/{clock.now():%Y-%m-%dT%H%M%SZ}"
    files = open_backup(place, ids=ids)
    try:
        match chosen.command:
            case "backup":
                return await backup.make(files)
            case "verify":
                return await restore.verify(files)
            case _:
                return await restore.run(files, resume=chosen.resume)
    finally:
        await files.close()


def _table(report: dict[str, Any]) -> str:
    lines = [f"{name:14} {_shown(value)}" for name, value in report.items()]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "\n".join([str(len(value)), *(f"{'':14} {one}" for one in value)])
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
