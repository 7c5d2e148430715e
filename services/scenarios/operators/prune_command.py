"""`python -m services.scenarios prune`: removes versions and plans that nobody can need."""

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import AwareDatetime, BaseModel, Field, JsonValue

from data_models.clock import Clock, RandomIds, SystemClock
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_changes import change_blob
from data_models.storage.blob_store import BlobStore
from data_models.values import read_value
from services.scenarios.migration.indexes.tag_index import is_context
from services.scenarios.migration.migration_config import RetentionConfig
from services.scenarios.migration.scenario_store import ScenarioStore, plan_name, version_name
from services.scenarios.operators.stored_sessions import context_in
from services.scenarios.scenario_factory import CONTAINER, migration_config_for
from services.stored_folders import list_folders
from services.stores import SESSIONS, opened
from settings import Settings, load_settings

# Removes versions and plans that no session can need any more (M16).


class Pruned(BaseModel):
    """What one run removed, and since when what it left has been of no use.

    Attributes:
        unneeded_since: By version number; days of retention count from there.
    """

    versions: list[int] = Field(default_factory=list)
    plans: list[int] = Field(default_factory=list)
    unneeded_since: dict[int, AwareDatetime] = Field(default_factory=dict)


async def lowest_in_use(documents: BlobStore, folders: Sequence[str]) -> dict[str, int]:
    """Return the oldest version that any stored session can need, by scenario.

    All documents are read: the index may be late, and it is no ground for deleting anything.

    Raises:
        CorruptDocumentError: a document cannot be read, so nobody knows what it needs.
    """
    lowest: dict[str, int] = {}
    for folder in folders:
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
    async with opened(settings, SESSIONS, CONTAINER, ids=ids) as (sessions, blobs):
        store, config = ScenarioStore(blobs=blobs), migration_config_for(settings).retention
        pruner = Pruner(store=store, blobs=blobs, clock=SystemClock(), config=config)
        lowest = await lowest_in_use(sessions, await list_folders(settings, ids=ids))
        done: dict[str, JsonValue] = {}
        for scenario_id in sorted(await store.versions()):
            found = await pruner.prune(scenario_id, lowest=lowest.get(scenario_id))
            done[scenario_id] = found.model_dump(mode="json")
        return done
