"""Versions, plans, the active pointer and the deployment under way, on any blobs.

Versions are created once and never changed; everything else changes by conditional writes.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import structlog
from pydantic import BaseModel, Field, model_validator

from data_models import errors
from data_models.clock import Clock
from data_models.errors import CorruptDocumentError, ScenarioInputError, ScenarioNotFoundError
from data_models.identifiers import hashed
from data_models.scenarios.scenario import Scenario
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore
from data_models.values import Value, read_value
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.migration_plan import (
    AnchorMigrationPolicy,
    DeploymentRecord,
    MigrationPlan,
)
from services.scenarios.migration.plans.move import VersionChain

ModelT = TypeVar("ModelT", bound=BaseModel)
GRAPHS_KEPT = 64
_VERSION = re.compile(r"scenarios/([A-Za-z0-9_-]+)/versions/([1-9][0-9]*)\.json")


def is_in_share(session_id: str, percent: int) -> bool:
    """Whether a canary of so many percent takes the session: always the same ones first."""
    return int(hashed("canary", session_id)[:8], 16) % 100 < percent


class StoredVersion(Value):
    """A version as it was checked; the hashes tell whether it is still what was published.

    Attributes:
        checksum: Empty in a version that was stored before its hashes were.
    """

    scenario: Scenario
    checksum: str = ""
    hashes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_scenario_alone(cls, raw: Any) -> Any:
        is_older = isinstance(raw, dict) and "scenario" not in raw
        return {"scenario": raw} if is_older else raw

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Return what is stored of a version."""
        return cls(scenario=graph.scenario, checksum=graph.checksum, hashes=graph.hashes)

    def compiled(self) -> Graph:
        """Return the version.

        Raises:
            CorruptDocumentError: it is not what was published.
        """
        graph = checked_graph(self.scenario)
        if self.checksum and (self.checksum, self.hashes) != (graph.checksum, graph.hashes):
            raise errors.CorruptDocumentError("a version is not what its hashes say")
        return graph


class ActivePointer(Value):
    """The deployed versions in order; the last one is where new sessions start.

    Attributes:
        policies: Those of the last deployment; they hold even where its plan is lost (M17).
        share_percent: Of the sessions, how many the last version reaches; the others stay where
            they are, as if it were not deployed.
    """

    scenario_id: str
    versions: tuple[int, ...]
    checksum: str
    policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    share_percent: int = Field(default=100, ge=0, le=100)
    withdrawn: str = ""

    @property
    def version(self) -> int:
        """The active version."""
        return self.versions[-1]

    def reaches(self, session_id: str) -> bool:
        """Whether the active version is for this session; raising the share takes nobody out."""
        return is_in_share(session_id, self.share_percent)

    def version_for(self, session_id: str) -> int:
        """The version that a new session begins in."""
        has_former = len(self.versions) > 1 and not self.reaches(session_id)
        return self.versions[-2] if has_former else self.versions[-1]


@dataclass(frozen=True, slots=True)
class Held(Generic[ModelT]):
    """A document and the version it was read at."""

    value: ModelT
    etag: str


class ScenarioStore:
    """Everything about scenarios that is not a session."""

    def __init__(self, *, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._graphs: dict[tuple[str, int], Graph] = {}

    async def add_version(self, graph: Graph) -> None:
        """Store a version; storing the same one again changes nothing.

        Raises:
            ScenarioDefinitionError: the number is taken by a version of other content.
        """
        scenario = graph.scenario
        name = version_name(scenario.id, scenario.version)
        try:
            await self._blobs.create(name, StoredVersion.of(graph).model_dump_json().encode())
        except errors.BlobExistsError:
            stored = await self.graph(scenario.id, scenario.version)
            if stored is None or stored.scenario != scenario:
                raise errors.ScenarioDefinitionError(
                    (f"version {scenario.version}: exists already with other content",)
                ) from None

    async def versions(self, scenario_id: str | None = None) -> dict[str, list[int]]:
        """Return the numbers of all stored versions by scenario, or of one scenario."""
        prefix = f"scenarios/{scenario_id}/versions/" if scenario_id else "scenarios/"
        found: dict[str, list[int]] = defaultdict(list)
        async for blob in self._blobs.list(prefix):
            if match := _VERSION.fullmatch(blob.name):
                found[match[1]].append(int(match[2]))
        return {scenario: sorted(numbers) for scenario, numbers in found.items()}

    async def graph(self, scenario_id: str, version: int) -> Graph | None:
        """Return a compiled version, or None if it is not stored."""
        key = scenario_id, version
        if key not in self._graphs:
            held = await self._read(version_name(scenario_id, version), StoredVersion)
            if held is None:
                return None
            if len(self._graphs) >= GRAPHS_KEPT:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[key] = held.value.compiled()
        return self._graphs[key]

    async def require_graph(self, scenario_id: str, version: int) -> Graph:
        """Return a compiled version.

        Raises:
            ScenarioNotFoundError: it is not stored.
        """
        if (graph := await self.graph(scenario_id, version)) is None:
            raise errors.ScenarioNotFoundError(f"version {version} is not stored")
        return graph

    async def chain(
        self,
        scenario_id: str,
        versions: Sequence[int],
        policies: Mapping[str, AnchorMigrationPolicy] | None = None,
    ) -> VersionChain:
        """Join what is stored of `versions`, oldest first.

        Raises:
            ScenarioNotFoundError: the last one is not stored.
        """
        last = await self.require_graph(scenario_id, versions[-1])
        former = [await self.graph(scenario_id, version) for version in versions[:-1]]
        held = [await self.plan(scenario_id, version) for version in versions]
        plans = [one.value for one in held if one is not None and one.value.to_version in versions]
        return VersionChain(
            graphs=[*(graph for graph in former if graph is not None), last],
            plans={plan.from_version: plan for plan in plans},
            policies=policies,
        )

    async def plan(self, scenario_id: str, from_version: int) -> Held[MigrationPlan] | None:
        """Return the newest plan that leads from a version, if there is one."""
        return await self._read(plan_name(scenario_id, from_version), MigrationPlan)

    async def save_plan(self, plan: MigrationPlan, *, etag: str | None) -> None:
        """Create or replace the plan from its version.

        Raises:
            BlobExistsError: somebody else made one meanwhile.
            BlobChangedError: somebody else changed it meanwhile.
        """
        await self._write(plan_name(plan.scenario_id, plan.from_version), plan, etag)

    async def active(self, scenario_id: str) -> Held[ActivePointer] | None:
        """Return the active pointer; None before the first deployment."""
        return await self._read(f"scenarios/{scenario_id}/active.json", ActivePointer)

    async def require_active(self, scenario_id: str) -> Held[ActivePointer]:
        """Return the active pointer.

        Raises:
            ScenarioNotFoundError: nothing is deployed.
        """
        if (held := await self.active(scenario_id)) is None:
            raise errors.ScenarioNotFoundError("the scenario has no active version")
        return held

    async def current_plan(self, scenario_id: str) -> Held[MigrationPlan]:
        """Return the newest plan that leads from the active version.

        Raises:
            ScenarioNotFoundError: nothing is deployed.
            ScenarioPlanError: there is no plan.
        """
        version = (await self.require_active(scenario_id)).value.version
        if (held := await self.plan(scenario_id, version)) is None:
            raise errors.ScenarioPlanError("there is no plan from this version")
        return held

    async def save_active(self, pointer: ActivePointer, *, etag: str | None) -> None:
        """Flip the pointer."""
        await self._write(f"scenarios/{pointer.scenario_id}/active.json", pointer, etag)

    async def deployment(self, scenario_id: str) -> Held[DeploymentRecord] | None:
        """Return the last deployment, perhaps still under way."""
        return await self._read(f"scenarios/{scenario_id}/deployment.json", DeploymentRecord)

    async def save_deployment(
        self, record: DeploymentRecord, *, etag: str | None
    ) -> Held[DeploymentRecord]:
        """Write the record and return it as held.

        Raises:
            BlobExistsError: somebody else began one meanwhile.
            BlobChangedError: somebody else went on with it meanwhile.
        """
        name = f"scenarios/{record.scenario_id}/deployment.json"
        return Held(record, await self._write(name, record, etag))

    async def _write(self, name: str, value: BaseModel, etag: str | None) -> str:
        data = value.model_dump_json().encode()
        if etag is None:
            return await self._blobs.create(name, data)
        return await self._blobs.replace(name, data, etag=etag)

    async def _read(self, name: str, model: type[ModelT]) -> Held[ModelT] | None:
        if (blob := await self._blobs.read(name)) is None:
            return None
        return Held(read_value(blob.data, model), blob.etag)


def version_name(scenario_id: str, version: int) -> str:
    """Return where a version is kept."""
    return f"scenarios/{scenario_id}/versions/{version}.json"


def plan_name(scenario_id: str, from_version: int) -> str:
    """Return where the plan from a version is kept."""
    return f"scenarios/{scenario_id}/plans/{from_version}.json"


_log = structlog.get_logger()
POINTER_TTL_SECONDS = 5.0
TITLES_TTL_SECONDS = 300.0


# The versions a turn needs, read once and kept while the active pointer stands.


class Catalogue:
    """Answers from memory while it may; the pointer is at most five seconds old."""

    def __init__(self, *, store: ScenarioStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._pointers: dict[str, tuple[float, Held[ActivePointer]]] = {}
        self._chains: dict[str, tuple[tuple[int, ...], VersionChain]] = {}
        self._titles: tuple[float, dict[str, str]] | None = None

    async def titles(self, *, is_fresh: bool = False) -> dict[str, str]:
        """Return the name of each scenario that can be begun, by id.

        Args:
            is_fresh: Read anew, so that what was published a moment ago is there; else what is
                returned may be minutes old.
        """
        now = self._clock.monotonic()
        if is_fresh or self._titles is None or now - self._titles[0] > TITLES_TTL_SECONDS:
            found: dict[str, str] = {}
            for scenario_id in sorted(await self._store.versions()):
                if (graph := await self._readable(scenario_id)) is not None:
                    found[scenario_id] = graph.scenario.title
            self._titles = now, found
        return self._titles[1]

    async def _readable(self, scenario_id: str) -> Graph | None:
        """Return a scenario's entry version; one that is damaged must not hide the others."""
        try:
            return await self.entry(scenario_id, "")
        except (ScenarioInputError, CorruptDocumentError) as error:
            _log.warning("scenario_unreadable", code=error.code)
            return None

    async def is_current(self, session: ScenarioSession) -> bool:
        """Whether the session is where it belongs: one comparison, seldom a read."""
        pointer = await self._pointer(session.scenario_id)
        if pointer is None or pointer.version == session.version:
            return True
        return not pointer.reaches(session.session_id)

    async def entry(self, scenario_id: str, session_id: str) -> Graph | None:
        """Return the version that a new session begins in; None if none is offered."""
        pointer = await self._pointer(scenario_id)
        if pointer is None or pointer.withdrawn:
            return None
        return await self._store.graph(scenario_id, pointer.version_for(session_id))

    async def is_withdrawn(self, scenario_id: str) -> bool:
        """Whether operators took the scenario back: nobody begins it, and nobody goes on."""
        pointer = await self._pointer(scenario_id)
        return pointer is not None and bool(pointer.withdrawn)

    async def chain(self, scenario_id: str) -> VersionChain | None:
        """Return the deployed versions; None where its active one is not stored."""
        if (pointer := await self._pointer(scenario_id)) is None:
            return None
        known = self._chains.get(scenario_id)
        if known is None or known[0] != pointer.versions:
            with suppress(ScenarioNotFoundError):
                chain = await self._store.chain(scenario_id, pointer.versions, pointer.policies)
                known = self._chains[scenario_id] = pointer.versions, chain
        return known[1] if known is not None and known[0] == pointer.versions else None

    async def graph(self, session: ScenarioSession) -> Graph:
        """Return the session's own version.

        Raises:
            ScenarioNotFoundError: it is not stored any more.
        """
        return await self._store.require_graph(session.scenario_id, session.version)

    async def _pointer(self, scenario_id: str) -> ActivePointer | None:
        now = self._clock.monotonic()
        known = self._pointers.get(scenario_id)
        if known is None or now - known[0] > POINTER_TTL_SECONDS:
            if (held := await self._store.active(scenario_id)) is None:
                return None  # not kept: its first version may be published at any moment
            known = self._pointers[scenario_id] = now, held
        return known[1].value
