"""`python -m services.scenarios prune`: removes versions and plans that nobody can need."""

import argparse
import asyncio
import json

from pydantic import JsonValue

from data_models.clock import RandomIds, SystemClock
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators.pruning import Pruner, lowest_in_use
from services.scenarios.scenario_factory import CONTAINER, migration_config_for
from services.stored_folders import stored_folders
from services.stores import SESSIONS, open_container
from settings import Settings, load_settings


def add_prune(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the program's."""
    parser = commands.add_parser("prune", help="remove versions and plans that nobody can need")
    parser.add_argument("--json", action="store_true", help="the answer is JSON in any case")
    parser.set_defaults(command=_prune)


def _prune(_: argparse.Namespace) -> str:
    return json.dumps(asyncio.run(pruned(load_settings())), indent=2)


async def pruned(settings: Settings) -> dict[str, JsonValue]:
    """Look through all stored sessions, then prune every scenario; return what was removed."""
    ids = RandomIds()
    sessions = open_container(settings, SESSIONS, ids=ids)
    blobs = open_container(settings, CONTAINER, ids=ids)
    store = ScenarioStore(blobs=blobs)
    pruner = Pruner(
        store=store,
        blobs=blobs,
        clock=SystemClock(),
        config=migration_config_for(settings).retention,
    )
    try:
        lowest = await lowest_in_use(sessions, await stored_folders(settings, ids=ids))
        done: dict[str, JsonValue] = {}
        for scenario_id in sorted(await store.versions()):
            found = await pruner.prune(scenario_id, lowest=lowest.get(scenario_id))
            done[scenario_id] = found.model_dump(mode="json")
        return done
    finally:
        await blobs.close()
        await sessions.close()
