"""What an operator does on the command line: every act of the API, answered with its JSON.

The service is the one behind the page and the API, so every act is on the same trail. A deployment
runs in the command itself; if it is killed, the same command or any server goes on.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry
from pydantic import AwareDatetime, BaseModel, Field, JsonValue
from pydantic.fields import FieldInfo

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.documents import Documents
from data_models.errors import ScenarioDefinitionError
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_value
from services.audit.trail import AuditTrail, NoAudit
from services.basis import Replica
from services.conversations.maintenance_lease import caretaker_for
from services.scenarios.migration.plans.migration_plan import DeploymentRecord
from services.scenarios.migration.scenario_store import ScenarioStore, plan_name, version_name
from services.scenarios.migration.session_index import context_in, is_context, rebuild
from services.scenarios.operators.acts import ACTS, Act, Answer, checked_id
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.scenarios.scenario_settings import (
    CONTAINER,
    RetentionConfig,
    index_for,
    migration_config_for,
    scenarios_for,
)
from services.stores import AUDIT, SESSIONS, USERS, opened, require_data
from settings import Settings, load_settings

# `python -m services.scenarios prune`: removes versions and plans that nobody can need.

# Removes versions and plans that no session can need any more (M16).


class Pruned(BaseModel):
    """What one run removed, and since when what it left has been of no use.

    Attributes:
        unneeded_since: By version number; days of retention count from there.
    """

    versions: list[int] = Field(default_factory=list)
    plans: list[int] = Field(default_factory=list)
    unneeded_since: dict[int, AwareDatetime] = Field(default_factory=dict)


async def lowest_in_use(documents: BlobStore) -> dict[str, int]:
    """Return the oldest version that any stored session can need, by scenario.

    All documents are read: the index may be late, and it is no ground for deleting anything.

    Raises:
        CorruptDocumentError: a document cannot be read, so nobody knows what it needs.
    """
    lowest: dict[str, int] = {}
    async for folder in documents.folders():
        async for row in documents.list(f"{folder}/"):
            blob = await documents.read(row.name) if is_context(row.name) else None
            for session in () if blob is None else context_in(blob.data).sessions:
                if session.step is not None:
                    known = lowest.get(session.scenario_id, session.version)
                    lowest[session.scenario_id] = min(known, oldest_needed(session))
    return lowest


def oldest_needed(session: ScenarioSession) -> int:
    """Return the oldest version that `session` refers to: its own, or a checkpoint's."""
    versions = [session.version, *(one.version for one in session.completed_checkpoints)]
    return min([*versions, *(one.version for one in session.executed)])


class Pruner:
    """Deletes what has been of no use for the days that the settings say.

    A run that finds something useless notes when; a later one removes it. Whatever is in use in
    between starts anew.
    """

    def __init__(
        self, *, store: ScenarioStore, blobs: BlobStore, clock: Clock, config: RetentionConfig
    ) -> None:
        self._store, self._blobs = store, blobs
        self._clock, self._config = clock, config

    async def prune(self, scenario_id: str, *, lowest: int | None) -> Pruned:
        """Remove what no session needs.

        Args:
            scenario_id: Of which scenario.
            lowest: The oldest version in use, by `lowest_in_use`; None if no session is stored.
        """
        if (held := await self._store.active(scenario_id)) is None:
            return Pruned()
        # The version before the active one is what a rollback proposes and a canary holds on to.
        kept_from = min([*held.value.versions[-2:], *([] if lowest is None else [lowest])])
        useless = [number for number in held.value.versions if number < kept_from]
        since = await self._note(scenario_id, useless)
        now = self._clock.now()
        done = Pruned(unneeded_since=since)
        for number, moment in since.items():
            if now - moment >= timedelta(days=self._config.version_retention_days):
                await self._blobs.delete(version_name(scenario_id, number))
                done.versions.append(number)
            if now - moment >= timedelta(days=self._config.plan_retention_days):
                await self._blobs.delete(plan_name(scenario_id, number))
                done.plans.append(number)
        return done

    async def _note(self, scenario_id: str, useless: Sequence[int]) -> dict[int, datetime]:
        name = f"scenarios/{scenario_id}/pruning.json"
        now = self._clock.now()

        def noted(data: bytes | None) -> bytes:
            known = {} if data is None else read_value(data, Pruned).unneeded_since
            since = {number: known.get(number, now) for number in useless}
            return Pruned(unneeded_since=since).model_dump_json().encode()

        data = await change_blob(self._blobs, name, noted, what="what is not needed")
        return read_value(data, Pruned).unneeded_since


def add_prune(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the program's."""
    parser = commands.add_parser("prune", help="remove versions and plans that nobody can need")
    parser.add_argument("--json", action="store_true", help="the answer is JSON in any case")
    parser.set_defaults(command=lambda _: json.dumps(asyncio.run(prune(load_settings())), indent=2))


async def prune(settings: Settings) -> dict[str, JsonValue]:
    """Look through all stored sessions, then prune every scenario; return what was removed."""
    ids = RandomIds()
    require_data(settings)
    async with opened(settings, SESSIONS, CONTAINER, ids=ids) as (sessions, blobs):
        store, config = ScenarioStore(blobs=blobs), migration_config_for(settings).retention
        pruner = Pruner(store=store, blobs=blobs, clock=SystemClock(), config=config)
        lowest = await lowest_in_use(sessions)
        done: dict[str, JsonValue] = {}
        for scenario_id in sorted(await store.versions()):
            found = await pruner.prune(scenario_id, lowest=lowest.get(scenario_id))
            done[scenario_id] = found.model_dump(mode="json")
        return done


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
    reindex.set_defaults(command=lambda _: _printed(asyncio.run(_reindexed())))


def _add_act(commands: _Commands, act: Act) -> None:
    parser = commands.add_parser(act.command, help=(act.work.__doc__ or "").splitlines()[0])
    for name in act.places:
        parser.add_argument(_PLACES.get(name, name))
    for name, field in (act.sent.model_fields if act.sent is not None else {}).items():
        _add_field(parser, name, field)
    for name in act.query.model_fields if act.query is not None else ():
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
    place = {name: given[_PLACES.get(name, name)] for name in act.places}
    settings, ids = load_settings(), RandomIds()
    if act.command != "publish":  # which may come before the first start of a server
        require_data(settings)
    fields = act.sent.model_fields if act.sent is not None else ()
    body = {name: given[name] for name in fields if name in given}
    async with _operators(settings, ids) as operators:
        if act.command == "deploy":  # what was begun is not begun again
            held = await operators.deployer.store.deployment(checked_id(place["scenario_id"]))
            if held is not None and held.value.is_under_way:
                return await operators.deployer.advance(held.value.scenario_id)
        found = await act.carry_out(
            operators.service, who=options.by, place=place, query=given, body=body
        )
        if not isinstance(found, DeploymentRecord) or act.command == "pause":
            return found
        return await operators.deployer.advance(found.scenario_id)


@asynccontextmanager
async def _operators(settings: Settings, ids: IdSource) -> AsyncIterator[Operators]:
    """Yield the operators' half over what the settings name, which is closed behind it."""
    clock, stores = SystemClock(), scenarios_for(settings, ids=ids)
    async with opened(settings, SESSIONS, AUDIT, USERS, ids=ids) as (sessions, trail, users):
        chain = AuditTrail(store=trail, replica=Replica().label, clock=clock)
        try:
            yield operators_for(
                stores,
                documents=Documents(store=sessions, clock=clock, ids=ids),
                audit=chain if settings.audit else NoAudit(),
                registry=CollectorRegistry(),
                clock=clock,
                ids=ids,
                lease=caretaker_for(settings, sessions=sessions, users=users, clock=clock, ids=ids),
                works=False,
            )
        finally:
            await chain.close()
            await stores.close()


async def _reindexed() -> Answer:
    """Make the index of sessions anew from the documents."""
    settings = load_settings()
    require_data(settings)
    async with opened(settings, SESSIONS, ids=RandomIds()) as (sessions,):
        index = index_for(settings)
        try:
            return (await rebuild(sessions, index))._asdict()
        finally:
            await index.close()
