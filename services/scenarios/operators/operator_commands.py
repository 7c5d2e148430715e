"""What an operator does on the command line: every act of the API, answered with its JSON.

The service is the one behind the page and the API, so every act is on the same trail. A deployment
runs in the command itself; if it is killed, the same command or any server goes on.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from string import Formatter
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from data_models.clock import RandomIds, SystemClock
from data_models.documents import Documents
from data_models.errors import ScenarioDefinitionError
from data_models.storage.blob_store import BlobStore
from services.audit.trail import Audit, AuditTrail, NoAudit
from services.conversations.conversation_factory import caretaker_for
from services.replica import Replica
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.acts import ACTS, Act, Answer, Asked
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.scenarios.operators.stored_sessions import rebuild
from services.scenarios.scenario_factory import ScenarioStores, scenarios_for
from services.stored_folders import list_folders
from services.stores import AUDIT, SESSIONS, USERS, open_container, require_data
from settings import Settings, load_settings

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
_READER = "operator"
"""Who looks at sessions here, on the audit trail: whoever has the machine."""
_EARLIER = {"at_step": "--at", "version": "--in-version", "review": "--flagged"}
"""How options were called in 0.1; `--at` is where sessions are, `--step` where one goes."""
_FLAGS = {"share_percent": "--share", "fields": "--field"}
_PLACES = {"scenario_id": "scenario"}


def add_commands(commands: _Commands) -> None:
    """Add the operator's commands to the program's."""
    for act in ACTS:
        if act.command:
            _add_act(commands, act)
    reindex = commands.add_parser("reindex", help="make the index of sessions anew")
    reindex.add_argument("--after", default="", help="cursor to go on behind")
    reindex.set_defaults(command=lambda options: _printed(asyncio.run(_reindexed(options.after))))


def _add_act(commands: _Commands, act: Act) -> None:
    parser = commands.add_parser(act.command, help=(act.work.__doc__ or "").splitlines()[0])
    for _, name, _, _ in Formatter().parse(act.path):
        if name is not None:
            parser.add_argument(_PLACES.get(name, name))
    for name, field in (act.sent.model_fields if act.sent is not None else {}).items():
        _add_field(parser, name, field)
    for name in act.query:
        parser.add_argument(*_options_of(name), *(["--at"] if name == "step" else []), dest=name)
    is_read = act.method == "GET"
    parser.add_argument("--by", required=not is_read, default=_READER, help="who does it")
    parser.add_argument("--json", action="store_true", help="the answer is JSON in any case")
    parser.set_defaults(command=lambda options: _printed(asyncio.run(_done(act, options))))


def _add_field(parser: argparse.ArgumentParser, name: str, field: FieldInfo) -> None:
    """Add what a body holds: texts of definitions and values by step come from files."""
    kind = str(field.annotation)
    if name == "definition":
        parser.add_argument(name, type=lambda path: Path(path).read_text("utf-8"), metavar="FILE")
    elif name == "action":
        parser.add_argument(name, help="move, resume, ask_again, end or pin")
    else:
        more: dict[str, Any] = {"dest": name, "required": field.is_required()}
        if kind.startswith("dict"):
            more |= {"type": _read_json, "metavar": "FILE", "help": "JSON by step id"}
        elif kind.startswith("tuple"):
            more |= {"action": "append"}
        elif field.annotation is int:
            more |= {"type": int}
        parser.add_argument(*_options_of(name), **more)


def _options_of(name: str) -> Sequence[str]:
    """Return how a field is called on the command line, by its earlier name, too."""
    earlier = [_EARLIER[name]] if name in _EARLIER else []
    return _FLAGS.get(name, f"--{name.replace('_', '-')}"), *earlier


def _read_json(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise ScenarioDefinitionError((f"{path} is not JSON",)) from error


def _printed(found: Answer) -> str:
    shown = found.model_dump(mode="json") if isinstance(found, BaseModel) else found
    return json.dumps(shown, indent=2, ensure_ascii=False, default=str)


async def _done(act: Act, options: argparse.Namespace) -> Answer:
    """Do an act, and work on a deployment until it rests."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    place = {name: given.get(_PLACES.get(name, name), "") for name in ("scenario_id", *given)}
    settings, ids = load_settings(), RandomIds()
    if act.command != "publish":  # which may come before the first start of a server
        require_data(settings)
    stores = scenarios_for(settings, ids=ids)
    conversations, trail, users = (
        open_container(settings, name, ids=ids) for name in (SESSIONS, AUDIT, USERS)
    )
    chain = AuditTrail(store=trail, replica=Replica().label, clock=SystemClock())
    try:
        audit = chain if settings.audit else NoAudit()
        operators = _operators(settings, stores, conversations, users, audit)
        fields = act.sent.model_fields if act.sent is not None else ()
        body = {name: given[name] for name in fields if name in given}
        asked = Asked(operators.service, options.by, place, given, body)
        held = await stores.store.deployment(asked.scenario) if act.command == "deploy" else None
        is_begun = held is not None and held.value.is_under_way
        found = held.value if held is not None and is_begun else await act.work(asked)
        is_deploying = isinstance(found, DeploymentRecord) and act.command != "pause"
        return await operators.deployer.advance(asked.scenario) if is_deploying else found
    finally:
        await chain.close()
        for store in (trail, users, conversations, stores):
            await store.close()


def _operators(
    settings: Settings,
    stores: ScenarioStores,
    conversations: BlobStore,
    users: BlobStore,
    audit: Audit,
) -> Operators:
    clock, ids = SystemClock(), RandomIds()
    return operators_for(
        stores,
        documents=Documents(store=conversations, clock=clock, ids=ids),
        audit=audit,
        registry=CollectorRegistry(),
        clock=clock,
        ids=ids,
        lease=caretaker_for(settings, sessions=conversations, users=users, clock=clock, ids=ids),
        works=False,
    )


async def _reindexed(after: str) -> Answer:
    """Make the index of sessions anew from the documents."""
    settings, ids = load_settings(), RandomIds()
    stores, sessions = scenarios_for(settings, ids=ids), open_container(settings, SESSIONS, ids=ids)
    try:
        folders = await list_folders(settings, ids=ids)
        found: dict[str, Any] = {"conversations": 0, "sessions": 0, "cursor": ""}
        async for done in rebuild(sessions, stores.index, folders=folders, after=after):
            found = asdict(done)
        return found
    finally:
        await sessions.close()
        await stores.close()
