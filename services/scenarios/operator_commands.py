"""What an operator does on the command line; every command answers with one JSON document."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, TypeAdapter, ValidationError

from data_models.clock import RandomIds, SystemClock
from data_models.errors import ScenarioPlanError
from services.scenarios.definition_reader import read_definition
from services.scenarios.deployment import Deployer
from services.scenarios.graph import Graph
from services.scenarios.migration_config import DeploymentConfig
from services.scenarios.migration_plan import AnchorMigrationPolicy, MigrationPlan
from services.scenarios.scenario_store import ScenarioStore
from services.scenarios.sqlite_index import SqliteSessionIndex
from services.stores import open_container
from settings import load_settings

CONTAINER = "scenarios"
INDEX_FILE = "scenario-sessions.sqlite"
_POLICIES = TypeAdapter(dict[str, AnchorMigrationPolicy])


@dataclass(frozen=True, slots=True)
class Desk:
    """An operator's tools over the stores that the settings name."""

    store: ScenarioStore
    deployer: Deployer


Work: TypeAlias = Callable[[Desk, argparse.Namespace], Awaitable[BaseModel | dict[str, Any]]]


async def publish(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Make a first version active."""
    graph = _read(options.file)
    await desk.deployer.publish_first(graph)
    return {"scenario": graph.scenario.id, "active": graph.version, "checksum": graph.checksum}


async def propose(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Store a new version and its plan."""
    policies = _policies(options.policies) if options.policies else None
    graph = _read(options.file)
    return _shown(await desk.deployer.propose(graph, operator=options.by, policies=policies))


async def rollback(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Propose an earlier version's content under a new number."""
    former = await desk.store.graph(options.scenario, options.to)
    held = await desk.store.active(options.scenario)
    if former is None or held is None:
        raise ScenarioPlanError(f"version {options.to} is not stored")
    again = former.scenario.with_version(max(held.value.versions) + 1)
    return _shown(await desk.deployer.propose(Graph(scenario=again), operator=options.by))


async def approve(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Approve the pending plan as a second person."""
    return _shown(await desk.deployer.approve(options.scenario, operator=options.by))


async def cancel(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Cancel a plan that is not deployed."""
    return _shown(await desk.deployer.cancel(options.scenario))


async def deploy(desk: Desk, options: argparse.Namespace) -> BaseModel:
    """Deploy the approved plan, or go on with a deployment that was interrupted."""
    return await desk.deployer.deploy(options.scenario)


async def pause(desk: Desk, options: argparse.Namespace) -> BaseModel:
    """Stop a deployment after its page."""
    return await desk.deployer.pause(options.scenario)


async def resume(desk: Desk, options: argparse.Namespace) -> BaseModel:
    """Let a paused deployment go on, and go on with it."""
    await desk.deployer.pause(options.scenario, paused=False)
    return await desk.deployer.deploy(options.scenario)


async def status(desk: Desk, options: argparse.Namespace) -> dict[str, Any]:
    """Show the active version, the plan from it and the last deployment."""
    held = await desk.store.active(options.scenario)
    if held is None:
        raise ScenarioPlanError("the scenario has no active version")
    plan = await desk.store.plan(options.scenario, held.value.version)
    deployment = await desk.store.deployment(options.scenario)
    return {
        "versions": [*held.value.versions],
        "active": held.value.version,
        "plan": _shown(plan.value) if plan else None,
        "deployment": deployment.value.model_dump(mode="json") if deployment else None,
    }


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the operator's commands to the program's."""
    works: list[tuple[Work, tuple[str, ...]]] = [
        (publish, ("file",)),
        (propose, ("file", "--by", "--policies")),
        (rollback, ("scenario", "--to", "--by")),
        (approve, ("scenario", "--by")),
        (cancel, ("scenario",)),
        (deploy, ("scenario",)),
        (pause, ("scenario",)),
        (resume, ("scenario",)),
        (status, ("scenario",)),
    ]
    for work, arguments in works:
        parser = commands.add_parser(work.__name__, help=(work.__doc__ or "").strip())
        for argument in arguments:
            _add(parser, argument)
        parser.add_argument("--json", action="store_true", help="the answer is JSON in any case")
        parser.set_defaults(command=_run, work=work)


def _add(parser: argparse.ArgumentParser, argument: str) -> None:
    match argument:
        case "file":
            parser.add_argument("file", type=Path)
        case "--policies":
            parser.add_argument("--policies", type=Path, help="JSON by step id; * for all others")
        case "--to":
            parser.add_argument("--to", type=int, required=True)
        case "--by":
            parser.add_argument("--by", required=True, help="who does it; approval needs another")
        case _:
            parser.add_argument(argument)


def _run(options: argparse.Namespace) -> str:
    """Return what to print."""
    found = asyncio.run(_worked(options.work, options))
    shown = found.model_dump(mode="json") if isinstance(found, BaseModel) else found
    return json.dumps(shown, indent=2, ensure_ascii=False)


async def _worked(work: Work, options: argparse.Namespace) -> BaseModel | dict[str, Any]:
    settings = load_settings()
    container = open_container(settings, CONTAINER, ids=RandomIds())
    index = SqliteSessionIndex(path=settings.data_dir / INDEX_FILE)
    store = ScenarioStore(shelf=container)
    deployer = Deployer(
        store=store,
        index=index,
        clock=SystemClock(),
        ids=RandomIds(),
        config=DeploymentConfig(),
    )
    try:
        return await work(Desk(store, deployer), options)
    finally:
        await index.close()
        await container.close()


def _read(path: Path) -> Graph:
    return read_definition(path.read_text("utf-8"))


def _policies(path: Path) -> dict[str, AnchorMigrationPolicy]:
    try:
        return _POLICIES.validate_json(path.read_bytes())
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors(include_url=False)}
        raise ScenarioPlanError(f"policies: wrong at {', '.join(sorted(places))}") from error


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
