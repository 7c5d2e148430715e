"""`python -m services.operations backup|verify|restore FOLDER` and `forget PATIENT [--dry-run]`.

Exit 0 done, 1 something needs a person, 2 it could not be done as asked.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
from data_models.identifiers import storable_patient_id
from services.audit.entry import AuditEntry
from services.audit.trail import AuditTrail
from services.conversations.conversation_factory import caretaker_for
from services.operations.backup import Backup, Restore
from services.operations.forgetting import PRINCIPAL, Forgetting
from services.replica import Replica
from services.stores import AUDIT, SCENARIOS, SESSIONS, USERS, open_container
from settings import Settings, load_settings

CONTAINERS = (SESSIONS, USERS, AUDIT, SCENARIOS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        report = asyncio.run(_run(chosen, load_settings()))
    except RoundsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(report) + "\n" if chosen.json else _table(report))
    return 1 if report.get("unreadable") else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.operations", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    backup = commands.add_parser("backup", help="copy all containers into a new folder")
    verify = commands.add_parser("verify", help="check a backup against its list")
    restore = commands.add_parser("restore", help="put a backup into empty containers")
    restore.add_argument("--resume", action="store_true", help="go on after an interruption")
    for one in (backup, verify, restore):
        one.add_argument("folder", type=Path)
    forget = commands.add_parser("forget", help="delete one patient's data everywhere")
    forget.add_argument("patient")
    forget.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    for one in (backup, verify, restore, forget):
        one.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


async def _run(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    ids, clock = RandomIds(), SystemClock()
    stores = {name: open_container(settings, name, ids=ids) for name in CONTAINERS}
    maintenance_lease = caretaker_for(
        settings, sessions=stores[SESSIONS], users=stores[USERS], clock=clock, ids=ids
    )
    restore = Restore(containers=stores)
    try:
        match chosen.command:
            case "backup":
                backup = Backup(
                    containers=stores,
                    conversations=SESSIONS,
                    maintenance_lease=maintenance_lease,
                    clock=clock,
                )
                made = await backup.make(chosen.folder)
            case "verify":
                made = await restore.verify(chosen.folder)
            case "restore":
                made = await restore.run(chosen.folder, resume=chosen.resume)
            case _:
                trail = AuditTrail(store=stores[AUDIT], replica=Replica().label, clock=clock)
                forgetting = Forgetting(
                    sessions=stores[SESSIONS],
                    users=stores[USERS],
                    maintenance_lease=maintenance_lease,
                )
                return await _forget(forgetting, trail, chosen)
        return made.model_dump(mode="json")
    finally:
        for store in stores.values():
            await store.close()


async def _forget(
    forgetting: Forgetting, trail: AuditTrail, chosen: argparse.Namespace
) -> dict[str, Any]:
    patient_id = storable_patient_id(chosen.patient)
    if not chosen.dry_run:
        entry = AuditEntry(
            principal=PRINCIPAL,
            conversation="all",
            patient=patient_id,
            actions=("forget_patient",),
        )
        await trail.record(entry)
    try:
        return asdict(await forgetting.run(patient_id, dry_run=chosen.dry_run))
    finally:
        await trail.close()


def _table(report: dict[str, Any]) -> str:
    lines = [f"{name:14} {_shown(value)}" for name, value in report.items()]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "\n".join([str(len(value)), *(f"{'':14} {one}" for one in value)])
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
