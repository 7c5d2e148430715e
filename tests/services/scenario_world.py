"""Turns with scenarios: the services on stores in memory, a shop of versions, a scripted team."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversations.conversation import Conversation
from data_models.identifiers import ConversationLayout, PatientId
from data_models.scenarios.scenario import FieldDefinition, Scenario, Step, Transition
from data_models.scenarios.scenario_session import MigrationAppliedEvent, ScenarioSession
from data_models.storage.blob_store import BlobStore
from services.audit.trail import AuditTrail
from services.basis import Replica
from services.group_chat_port import GroupChatRequest
from services.model_port import Answer
from services.records.resources.ports import PatientRecords
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.scenario_settings import DeploymentConfig, MigrationConfig, ScenarioStores
from services.scenarios.session.progress import ToolAction, ToolRan
from services.scenarios.session.recording import Findings
from services.telemetry.metrics import Metrics
from services.turn.tools import ScenarioParts, scenario_parts
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.definitions import definition_in
from tests.services.records.charts import records_in
from tests.services.scenarios.worlds import MemoryIndex, deploy_now
from tests.services.turn_tools import NO_RECORDS, turn_tools
from tests.services.world import CHAT, Heard, World

SAMPLES = Path(__file__).parents[2] / "samples"
PATIENT = PatientId("patient_4")
POINTER_SECONDS = 6.0
"""After so long every replica has looked at the active pointer again."""


class ScriptedExtractor:
    """A model that finds what the test says, and keeps every question."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.questions: list[dict[str, Any]] = []

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        self.questions.append(json.loads(text))
        assert answer is Findings
        return answer.model_validate({"found": self.found})


def step(step_id: str, *targets: str | tuple[str, str], **more: Any) -> Step:
    """A step with its ways out: ids, or (condition, id)."""
    ways = [
        Transition(target=way)
        if isinstance(way, str)
        else Transition(condition=way[0], target=way[1])
        for way in targets
    ]
    return Step(id=step_id, transitions=tuple(ways), **more)


def version(number: int, *steps: Step, **types: Any) -> Graph:
    """One version of the scenario `visit`; fields by type, integers unless said otherwise."""
    names: dict[str, None] = {}
    for one in steps:
        names.update(dict.fromkeys([*one.collects_profile_fields, *one.uses]))
    fields = tuple(FieldDefinition(name=n, value_type=types.get(n, "integer")) for n in names)
    return checked_graph(
        Scenario(
            id="visit",
            name="Visit",
            version=number,
            entry_step=steps[0].id,
            fields=fields,
            steps=steps,
        )
    )


def sample(name: str) -> Graph:
    """A sample; of the booking the plain one, whose steps all ask and run nothing."""
    plain = Path(__file__).parent / "scenarios" / f"{name}.yaml"
    path = plain if plain.exists() else SAMPLES / "scenarios" / f"{name}.yaml"
    return definition_in(path)


@dataclass
class ScenarioWorld:
    """One replica with scenarios; several may share `sessions`, `blobs`, `trail` and `index`."""

    sessions: BlobStore = field(default_factory=MemoryBlobStore)
    blobs: BlobStore = field(default_factory=MemoryBlobStore)
    trail: BlobStore = field(default_factory=MemoryBlobStore)
    index: MemoryIndex = field(default_factory=MemoryIndex)
    clock: FixedClock = field(default_factory=FixedClock)
    ids: IdSource = field(default_factory=CountingIds)
    records: PatientRecords = NO_RECORDS
    config: MigrationConfig = field(
        default_factory=lambda: MigrationConfig(deployment=DeploymentConfig(require_approval=False))
    )
    replica_name: str = "r1"
    replica: Replica = field(default_factory=Replica)
    quotes: bool = True
    """Whether the team quotes the whole message for what it records."""

    def __post_init__(self) -> None:
        if isinstance(self.sessions, MemoryBlobStore):
            self.sessions.tags = self.index.local
        self.model = ScriptedExtractor()
        self.registry = CollectorRegistry()
        store = ScenarioStore(blobs=self.blobs)
        self.stores = ScenarioStores(
            blobs=self.blobs, store=store, index=self.index, config=self.config
        )
        audit = AuditTrail(store=self.trail, replica=self.replica_name, clock=self.clock)
        self.parts: ScenarioParts = scenario_parts(
            self.stores,
            records=self.records,
            model=self.model,
            audit=audit,
            trail=self.trail,
            metrics=Metrics(registry=self.registry),
            clock=self.clock,
            ids=self.ids,
        )
        self.deployer = Deployer(
            store=store,
            index=self.index,
            clock=self.clock,
            ids=self.ids,
            config=self.config.deployment,
        )
        self.world = World(
            sessions=self.sessions,
            audit=audit,
            clock=self.clock,
            ids=self.ids,
            replica=self.replica,
            tools=turn_tools(clock=self.clock, ids=self.ids, scenarios=self.parts),
        )
        self.team = self.world.team
        self.team.first = self._record

    async def publish(self, graph: Graph) -> None:
        await self.deployer.publish_first(graph)

    async def deploy(self, graph: Graph, **policies: AnchorMigrationPolicy) -> None:
        """Put a newer version into force, and let every replica see it."""
        await self.deployer.propose(graph, operator="ann", policies=policies)
        await deploy_now(self.deployer, graph.scenario.id)
        self.clock.advance(POINTER_SECONDS)

    async def say(self, text: str, **fields: JsonValue) -> Heard:
        """Say something; the team records `fields` of it."""
        self._fields: Mapping[str, JsonValue] = fields
        heard = await self.world.say(text)
        await self.world.scheduler.idle()
        return heard

    async def begin(self, name: str = "visit") -> None:
        await self.say("hello patient_4")
        await self.say(f"start {name}")

    async def _record(self, request: GroupChatRequest) -> None:
        fields, self._fields = self._fields, {}
        if fields and request.scenario is not None:
            quotes = dict.fromkeys(fields, request.text) if self.quotes else {}
            await request.scenario.record(fields, act=self._act, quotes=quotes)

    async def _act(self, action: ToolAction) -> ToolRan:
        self.team.actions.append(action)
        return ToolRan(action.tool not in self.team.broken_tools)

    # -- what is stored -----------------------------------------------------------------------

    async def document(self, patient: PatientId | None = PATIENT) -> ChatContext:
        blob = present(await self.sessions.read(ConversationLayout.of(CHAT).context(patient)))
        return ChatContext.model_validate_json(blob.data)

    async def session(self) -> ScenarioSession:
        return present((await self.document()).scenario)

    async def conversation(self) -> Conversation:
        blob = present(await self.sessions.read(ConversationLayout.of(CHAT).conversation))
        return Conversation.model_validate_json(blob.data)

    async def events(self) -> list[MigrationAppliedEvent]:
        """What is kept of migrations, once for each session and jump."""
        names = [row.name async for row in self.blobs.list("scenarios/")]
        blobs = [await self.blobs.read(name) for name in names if "/events/" in name]
        found = [MigrationAppliedEvent.model_validate_json(b.data) for b in blobs if b is not None]
        return sorted(found, key=lambda event: event.to_version)

    async def trail_entries(self) -> list[dict[str, Any]]:
        """Every migration on the audit trail."""
        rows: list[dict[str, Any]] = []
        async for info in self.trail.list("trail/"):
            blob = await self.trail.read(info.name)
            rows += [json.loads(line) for line in (blob.data if blob else b"").splitlines()]
        return [row for row in rows if "scenario_migration" in row["actions"]]


def with_sample_records(clock: Clock) -> PatientRecords:
    return records_in(SAMPLES / "patients", clock)


def questions(heard: Heard) -> Sequence[str]:
    """What the server asked or announced, and not the team."""
    return [text for text in heard.texts if not text.startswith("Heard:")]
