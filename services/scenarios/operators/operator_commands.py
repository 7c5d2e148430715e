"""What an operator does on the command line; every command answers with one JSON document.

The service is the one behind the page and the API, so every act is on the same trail. A deployment
runs in the command itself; if it is killed, the same command or any server goes on.
"""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry
from pydantic import BaseModel, TypeAdapter, ValidationError

from data_models.clock import RandomIds, SystemClock
from data_models.documents import Documents
from data_models.errors import ScenarioPlanError
from data_models.storage.blob_store import BlobStore
from services.audit.trail import AuditTrail, NoAudit
from services.conversations.conversation_factory import caretaker_for
from services.replica import Replica
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.dry_run import DryRunCounts
from services.scenarios.operators.interventions import Intervention
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.scenarios.operators.operator_options import add_command
from services.scenarios.operators.operator_service import OperatorService
from services.scenarios.operators.plan_reader import ScenarioOverview
from services.scenarios.operators.session_service import FLAGGED, BulkResult, Refusal, SessionFilter
from services.scenarios.operators.stored_sessions import rebuild
from services.scenarios.scenario_factory import ScenarioStores, scenarios_for
from services.stored_folders import list_folders
from services.stores import AUDIT, SESSIONS, USERS, open_container
from settings import Settings, load_settings

_POLICIES = TypeAdapter(dict[str, AnchorMigrationPolicy])
_PAIRS = TypeAdapter(dict[str, str])
_READER = "operator"
"""Who looks at sessions here, on the audit trail: whoever has the machine."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a command works with."""

    settings: Settings
    stores: ScenarioStores
    conversations: BlobStore
    operators: Operators

    @property
    def service(self) -> OperatorService:
        """The operators' service."""
        return self.operators.service

    async def finish(self, scenario_id: str) -> DeploymentRecord:
        """Work on a deployment until it rests."""
        return await self.operators.deployer.advance(scenario_id)


Answer: TypeAlias = BaseModel | dict[str, Any]
Work: TypeAlias = Callable[[Parts, argparse.Namespace], Awaitable[Answer]]


async def scenarios(parts: Parts, _: argparse.Namespace) -> dict[str, Any]:
    """List every stored scenario."""
    return {"scenarios": [card.model_dump(mode="json") for card in await parts.service.scenarios()]}


async def publish(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Make a first version active."""
    graph = await parts.service.publish(options.file.read_text("utf-8"), operator=options.by)
    return {"scenario": graph.scenario.id, "active": graph.version, "checksum": graph.checksum}


async def show(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Show one version's steps and ways."""
    return await parts.service.graph(options.scenario, options.version)


async def propose(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Store a new version and its plan."""
    policies = _policies(options.policies) if options.policies else None
    view = await parts.service.propose(
        options.file.read_text("utf-8"),
        operator=options.by,
        policies=policies,
        mapping=_mapping(options.mapping),
    )
    return {**_shown(view.plan), "changes": [*view.changes]}


async def set_mapping(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Plan again with the steps of a file paired by hand; an approval is lost."""
    view = await parts.service.set_mapping(
        options.scenario, _mapping(options.mapping), operator=options.by
    )
    return _shown(view.plan)


async def sessions(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """List sessions that fit."""
    return await parts.service.sessions.find(
        options.scenario, _filter(options), after=options.after, limit=min(options.limit, 1_000)
    )


async def session(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Show one session: its way, its fields, and what the next version would do."""
    return await parts.service.sessions.show(options.scenario, options.session, operator=_READER)


async def act(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Move, resume, ask again, end or pin one session."""
    return await parts.service.sessions.act(
        options.scenario, options.session, _intervention(options), operator=options.by
    )


async def act_on_all(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Do the same to every session of a filter."""
    wanted, after, done = _filter(options), "", 0
    if wanted == SessionFilter():
        raise ScenarioPlanError("name which: --at, --in-version, --flagged or --channel")
    refused: tuple[Refusal, ...] = ()
    while True:
        result = await parts.service.sessions.act_on_all(
            options.scenario, wanted, _intervention(options), operator=options.by, after=after
        )
        done, after = done + result.done, result.cursor
        refused += result.refused
        if not after:
            return BulkResult(done=done, refused=refused)


async def set_policies(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Plan again with the policies of a file; an approval is lost."""
    policies = _policies(options.policies)
    view = await parts.service.set_policies(options.scenario, policies, operator=options.by)
    return _shown(view.plan)


async def diff(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Show the plan with both versions side by side."""
    return await parts.service.plan(options.scenario)


async def dry_run(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Tell what the plan would do to stored sessions: sums of all, and the first rows."""
    counts, rows, after = DryRunCounts(), list[dict[str, Any]](), options.after
    while True:
        page = await parts.service.dry_run(
            options.scenario, after=after, limit=1_000, operator=_READER
        )
        for row in page.rows:
            counts.add(row)
            if len(rows) < options.limit:
                rows.append(row.model_dump(mode="json"))
        if not (after := page.cursor):
            sums = {"effects": dict(counts.effects), "asked": dict(counts.asked)}
            score = await parts.service.score(options.scenario)
            shown = None if score is None else score.model_dump(mode="json")
            return {"sessions": counts.sessions, **sums, "score": shown, "rows": rows}


async def deploy(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Deploy the approved plan, or go on with a deployment that was interrupted."""
    held = await parts.stores.store.deployment(options.scenario)
    if held is None or not held.value.is_under_way:
        await parts.service.deploy(
            options.scenario, operator=options.by, share_percent=options.share
        )
    return await parts.finish(options.scenario)


async def share(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Change how many sessions a canary reaches; 100 ends it."""
    await parts.service.set_share(
        options.scenario, share_percent=options.share, operator=options.by
    )
    return await parts.finish(options.scenario)


async def resume(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """Let a paused deployment go on, and go on with it."""
    await parts.service.resume(options.scenario, operator=options.by)
    return await parts.finish(options.scenario)


async def status(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Show versions, plan, last deployment and live counts."""
    overview = await parts.service.overview(options.scenario)
    shown = overview.model_dump(mode="json")
    return {**shown, "plan": _shown(overview.plan) if overview.plan else None}


async def review(parts: Parts, options: argparse.Namespace) -> BaseModel:
    """List sessions that a person must look at."""
    return await parts.service.sessions.find(
        options.scenario, FLAGGED, after=options.after, limit=min(options.limit, 1_000)
    )


async def history(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Show what operators did, newest first."""
    entries = await parts.service.log.newest(options.scenario)
    return {"entries": [entry.model_dump(mode="json") for entry in entries]}


async def reindex(parts: Parts, options: argparse.Namespace) -> dict[str, Any]:
    """Make the index of sessions anew from the documents; `--after` resumes."""
    folders = await list_folders(parts.settings, ids=RandomIds())
    found: dict[str, Any] = {}
    async for done in rebuild(
        parts.conversations, parts.stores.index, folders=folders, after=options.after
    ):
        found = asdict(done)
    return found or {"conversations": 0, "sessions": 0, "cursor": ""}


def _act(
    act: Callable[..., Awaitable[Any]], shown: Callable[[Any], Answer], *further: str
) -> tuple[Work, tuple[str, ...]]:
    """Return the command of an act on a scenario, with what it takes on the command line."""

    @wraps(act)
    async def work(parts: Parts, options: argparse.Namespace) -> Answer:
        given = {name: vars(options)[name] for name in further}
        return shown(await act(parts.service, options.scenario, operator=options.by, **given))

    return work, ("scenario", *(f"--{name}" for name in further), "--by")


def _offer(view: ScenarioOverview) -> dict[str, Any]:
    return {"scenario": view.scenario_id, "withdrawn": view.withdrawn}


def _shown(plan: MigrationPlan) -> dict[str, Any]:
    found = plan.transformation_map
    return {
        "plan": plan.id,
        "from": plan.from_version,
        "to": plan.to_version,
        "status": plan.status,
        "approved_by": plan.approved_by,
        "anchors": found.image,
        "deleted": [node.node_id_v1 for node in found.deleted_nodes],
        "inserted": [*found.new_nodes],
        "summary": plan.summary.model_dump(mode="json"),
    }


_FILTER = ("--at", "--in-version", "--flagged", "--channel")
_COMMANDS: tuple[tuple[Work, tuple[str, ...]], ...] = (
    (scenarios, ()),
    (publish, ("file", "--by")),
    (show, ("scenario", "version")),
    (propose, ("file", "--by", "--policies", "--mapping")),
    (set_mapping, ("scenario", "--mapping", "--by")),
    (set_policies, ("scenario", "policies", "--by")),
    (diff, ("scenario",)),
    (dry_run, ("scenario", "--after", "--limit")),
    _act(OperatorService.rollback, lambda view: _shown(view.plan), "to"),
    _act(OperatorService.approve, _shown),
    _act(OperatorService.cancel, _shown),
    (deploy, ("scenario", "--by", "--share")),
    (share, ("scenario", "--by", "--share")),
    _act(OperatorService.pause, lambda record: record),
    (resume, ("scenario", "--by")),
    (status, ("scenario",)),
    (review, ("scenario", "--after", "--limit")),
    _act(OperatorService.withdraw, _offer, "reason"),
    _act(OperatorService.offer_again, _offer),
    (sessions, ("scenario", *_FILTER, "--after", "--limit")),
    (session, ("scenario", "session")),
    (act, ("scenario", "session", "action", "--reason", "--step", "--field", "--by")),
    (act_on_all, ("scenario", "action", *_FILTER, "--reason", "--step", "--field", "--by")),
    (history, ("scenario",)),
    (reindex, ("--after",)),
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the operator's commands to the program's."""
    for work, arguments in _COMMANDS:
        add_command(commands, work, arguments, _run)


def _run(options: argparse.Namespace) -> str:
    """Return what to print."""
    found = asyncio.run(_work(options.work, options))
    shown = found.model_dump(mode="json") if isinstance(found, BaseModel) else found
    return json.dumps(shown, indent=2, ensure_ascii=False)


async def _work(work: Work, options: argparse.Namespace) -> Answer:
    settings, ids, clock = load_settings(), RandomIds(), SystemClock()
    stores = scenarios_for(settings, ids=ids)
    names = (SESSIONS, AUDIT, USERS)
    conversations, trail, users = (open_container(settings, name, ids=ids) for name in names)
    chain = AuditTrail(store=trail, replica=Replica().label, clock=clock)
    operators = operators_for(
        stores,
        documents=Documents(store=conversations, clock=clock, ids=ids),
        audit=chain if settings.audit else NoAudit(),
        registry=CollectorRegistry(),
        clock=clock,
        ids=ids,
        lease=caretaker_for(settings, sessions=conversations, users=users, clock=clock, ids=ids),
        works=False,
    )
    try:
        return await work(Parts(settings, stores, conversations, operators), options)
    finally:
        await chain.close()
        for store in (trail, users, conversations, stores):
            await store.close()


def _filter(options: argparse.Namespace) -> SessionFilter:
    return SessionFilter(options.at, options.in_version, options.flagged, options.channel)


def _intervention(options: argparse.Namespace) -> Intervention:
    return Intervention(options.action, options.reason, options.step, tuple(options.field))


def _mapping(path: Path | None) -> dict[str, str]:
    try:
        return _PAIRS.validate_json(path.read_bytes()) if path is not None else {}
    except ValidationError as error:
        raise ScenarioPlanError('mapping: the file is not like {"old step": "new step"}') from error


def _policies(path: Path) -> dict[str, AnchorMigrationPolicy]:
    try:
        return _POLICIES.validate_json(path.read_bytes())
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors(include_url=False)}
        raise ScenarioPlanError(f"policies: wrong at {', '.join(sorted(places))}") from error
