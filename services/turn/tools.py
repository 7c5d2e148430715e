"""What turns share of entities, scenarios and tools, and how a turn opens and stores them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import structlog

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.entities.entity_values import BOOKING_KEYS, canonical_key
from data_models.errors import ToolInputError
from data_models.identifiers import PatientId, hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from data_models.storage.blob_store import BlobStore, put_blob
from services.assistant.undo_log import AssistantService
from services.audit.trail import Audit, Visitor, is_on_trail, record_access
from services.basis import Basis
from services.entities.circumstances import AgentNames
from services.entities.legacy import (
    LEGACY_FIELD,
    file_legacy,
    legacy_entities,
    legacy_owner,
    lost_share,
)
from services.entities.meter import EntityMeter
from services.entities.session import EntitySession
from services.language.requests.appointment_slots import slots_in
from services.language.requests.arrangement import asks_for
from services.language.requests.work import leaves_question
from services.model_port import StructuredModel
from services.orders.order_drafts import OrderDrafts
from services.records.resources.ports import PatientRecords
from services.scenarios.migration.case import MigrationMeter
from services.scenarios.migration.reconciliation import Reconciler
from services.scenarios.migration.scenario_store import Catalogue
from services.scenarios.scenario_settings import MigrationConfig, ScenarioStores
from services.scenarios.session.recording import Extractor
from services.scenarios.session.session_state import RecordFacts
from services.scheduling.clinic import Clinic
from services.team import Team
from services.telemetry.metrics import Metrics
from services.tool_memory.extractors import zone_of
from services.tool_memory.resolver import Picked, picked_from
from services.tool_memory.session import ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from services.turn.phases import GroundedTurn, LoadedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEntities:
    """What all turns share of the entities.

    Attributes:
        reads_legacy: Whether JSON in agents' texts, of older prompts, is understood.
    """

    team: AgentNames
    clock: Clock
    meter: EntityMeter
    reads_legacy: bool = False

    def open(self, turn: GroundedTurn) -> EntitySession:
        """Return the entities of the patient whose document `turn` writes, once per turn.

        Whoever hears more in the user's words calls `heard` on it before the team speaks.
        """
        if turn.sessions.entities is None:
            turn.sessions.entities = self._opened(turn)
        if (notice := turn.sessions.entities.eviction_notice()) is not None:
            turn.run.emit(notice)
        return turn.sessions.entities

    def _opened(self, turn: GroundedTurn) -> EntitySession:
        document = turn.document
        self._adopt_legacy(document)
        needed = needed_keys(document)
        wanted = BOOKING_KEYS.intersection(document.entities.conversation.entities)
        session = EntitySession(
            entities=document.entities,
            team=self.team,
            clock=self.clock,
            meter=self.meter,
            session_id=turn.conversation_id,
            pinned={*needed, *wanted},
            reads_legacy=self.reads_legacy,
        )
        said = [one.text for each in document.chat_history for one in each.agent_responses[-1:]]
        is_asked = bool(said) and asks_for(said[-1]) is not None
        is_booking = bool(document.entities.conversation.entities or needed or is_asked)
        read, waits = turn.sessions.utterance, document.continuation
        is_of_another = waits is not None and (
            turn.continuation is None or (read is not None and leaves_question(read, waits.agent))
        )
        wishes = slots_in(turn.text, is_booking=is_booking and not is_of_another)
        if wishes and not turn.is_press_elsewhere:
            session.heard(wishes)
        return session

    def _adopt_legacy(self, document: ChatContext) -> None:
        """Migrate a document of the legacy form that no operator has migrated (page 2.4)."""
        extra: dict[str, Any] = document.model_extra or {}
        if not (legacy := legacy_entities(extra)):
            return
        now, owner = self.clock.now(), legacy_owner(extra)
        try:
            owner = self.team.owner(owner)
            file_legacy(document.entities, legacy, owner=owner, team=self.team, now=now)
        except ToolInputError:
            # An agent that is gone: all may read what it found.
            self.meter.stranger("merge_delta")
            file_legacy(document.entities, legacy, owner=None, team=self.team, now=now)
        self.meter.count_migrated(owner or "unknown", lost=lost_share(legacy, document.entities))
        kept = {key: value for key, value in extra[LEGACY_FIELD].items() if key != "entities"}
        extra[LEGACY_FIELD] = kept


def needed_keys(document: ChatContext) -> Collection[str]:
    """Return the keys that the open plan, or a scenario on its way, waits for (E25)."""
    plan, scenario = document.plan, document.scenario
    needed: list[str] = []
    if plan is not None and plan.is_open:
        steps = [step for step in plan.steps if step.status in ("pending", "running")]
        needed = [key for step in steps for key in step.needs]
    if scenario is not None and scenario.progress is not None:
        needed += [item.field for item in scenario.progress.work if item.field is not None]
    if scenario is not None and scenario.is_open and scenario.place is not None:
        needed += scenario.place.keys
    return {key for raw in needed if (key := canonical_key(raw)) is not None}


# Delivers what migrations did to the audit trail: each session's jump exactly once (M19).

ACTION = "scenario_migration"


class ScenarioEvents:
    """Appends an entry to the trail, then keeps the whole event under its id, which seals it.

    An event waits in its session's outbox until both are done. One that is found there again
    was perhaps delivered by a process that died: then the trail itself is searched for its id.
    """

    def __init__(self, *, audit: Audit, trail: BlobStore, blobs: BlobStore) -> None:
        self._audit, self._trail, self._blobs = audit, trail, blobs

    async def deliver(
        self,
        event: MigrationAppliedEvent,
        *,
        principal: str,
        conversation: str,
        patient: PatientId | None,
        run_id: str,
        is_retry: bool,
    ) -> None:
        """Return once the event is on the trail, once.

        Raises:
            StoreError: it may not be; it stays in the outbox.
        """
        name = f"scenarios/{event.scenario_id}/events/{event.event_id}.json"
        mark = f"event:{event.event_id}"[:80]
        if is_retry and await self._blobs.read(name) is not None:
            return
        if not (is_retry and await is_on_trail(self._trail, mark, since=event.timestamp)):
            visitor = Visitor(principal, conversation, run_id)
            await record_access(self._audit, visitor, ACTION, mark, patient=patient, outcome="done")
        await put_blob(self._blobs, name, event.model_dump_json().encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioParts:
    """The collaborators of `services.turn.scenarios.scenarios.TurnScenarios`."""

    catalogue: Catalogue
    reconciler: Reconciler
    extractor: Extractor
    records: RecordFacts
    events: ScenarioEvents
    meter: MigrationMeter
    config: MigrationConfig
    clock: Clock
    ids: IdSource


def scenario_parts(
    stores: ScenarioStores,
    *,
    records: PatientRecords,
    model: StructuredModel | None,
    audit: Audit,
    trail: BlobStore,
    metrics: Metrics,
    clock: Clock,
    ids: IdSource,
) -> ScenarioParts:
    """Return the parts around the stores that operators share with turns."""
    catalogue = Catalogue(store=stores.store, clock=clock)
    return ScenarioParts(
        catalogue=catalogue,
        reconciler=Reconciler(catalogue=catalogue, clock=clock, config=stores.config),
        extractor=Extractor(model=model),
        records=RecordFacts(records=records, clock=clock),
        events=ScenarioEvents(audit=audit, trail=trail, blobs=stores.blobs),
        meter=MigrationMeter(registry=metrics.registry, config=stores.config),
        config=stores.config,
        clock=clock,
        ids=ids,
    )


logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTools:
    """What all turns share of the tool memory.

    Attributes:
        time_zone: IANA name for users whose channel names none.
    """

    ids: IdSource
    entities: TurnEntities
    assistant: AssistantService
    scenarios: ScenarioParts
    limits: ToolMemoryLimits = field(default_factory=ToolMemoryLimits)
    time_zone: str = "UTC"
    on_extractor_failure: Callable[[], None] | None = None
    clinic: Clinic | None = None
    orders: OrderDrafts | None = None

    def open(self, turn: GroundedTurn) -> ToolMemorySession:
        """Return the tool memory of the patient whose document `turn` writes, once per turn."""
        if (session := turn.sessions.tool_memory) is not None:
            session.hear(turn.text)
            return session
        document = turn.document
        zone = zone_of(turn.message.time_zone or "") or ZoneInfo(self.time_zone)
        store = ToolEntityStore(
            memory=document.tool_memory,
            limits=self.limits,
            now=turn.now,
            principal=hashed(turn.message.sender.principal_id),
        )
        store.tidy(kept=_asked_about(turn))
        conversation = hashed(turn.conversation_id)
        logger.info("tool_memory_loaded", conversation=conversation, **store.get_context_summary())
        local_now = turn.now.astimezone(zone)
        turn.sessions.tool_memory = ToolMemorySession(
            store=store,
            turn_id=document.next_turn_id - 1,
            user_text=turn.text,
            now=local_now,
            roster=frozenset(turn.registry.patient_registry) - {document.patient_id},
            ids=self.ids,
            on_extractor_failure=self.on_extractor_failure,
            picked=_picked(turn, local_now),
        )
        return turn.sessions.tool_memory


def tools_for(
    basis: Basis,
    *,
    team: Team,
    assistant: AssistantService,
    metrics: Metrics,
    clinic: Clinic,
    scenarios: ScenarioParts,
    orders: OrderDrafts | None = None,
) -> TurnTools:
    """Return what the settings say of tool memory and entities."""
    settings = basis.settings
    entities = TurnEntities(
        team=AgentNames.of(team.names, legacy=team.legacy_names),
        clock=basis.clock,
        meter=EntityMeter(registry=metrics.registry, agents=team.names),
        reads_legacy=settings.entity_legacy_format,
    )
    limits = ToolMemoryLimits(
        entities=settings.tool_memory_entities,
        executions=settings.tool_memory_executions,
        idle=timedelta(minutes=settings.tool_memory_idle_minutes),
    )
    return TurnTools(
        ids=basis.ids,
        limits=limits,
        time_zone=settings.time_zone,
        entities=entities,
        assistant=assistant,
        on_extractor_failure=metrics.extractor_failed,
        clinic=clinic,
        scenarios=scenarios,
        orders=orders,
    )


def close_tool_memory(turn: GroundedTurn) -> None:
    """Bound the tool memory of a turn that ends; the caller stores the document."""
    if turn.sessions.tool_memory is not None:
        turn.sessions.tool_memory.close(kept=_asked_about(turn))


def presses_entity(turn: LoadedTurn) -> bool:
    """Whether a button of our question which item is meant was pressed."""
    question = turn.open_question()
    is_ours = question is not None and question.kind == "which_entity"
    return is_ours and turn.question_press() is not None


def _picked(turn: GroundedTurn, local_now: datetime) -> Picked | None:
    """Return which of the items we asked about this message picks, if it is an answer to that."""
    question, document = turn.open_question(), turn.document
    if question is None or question.kind != "which_entity" or turn.is_press_elsewhere:
        return None
    if question.patient_id != document.patient_id:
        return None
    return picked_from(question.payload, turn.answer, document.tool_memory, local_now=local_now)


def _asked_about(turn: GroundedTurn) -> tuple[str, ...]:
    """Return the entities of the user's open question: they are never forgotten."""
    asked = [one.payload for one in (turn.record.question, turn.open_question()) if one is not None]
    ids = [each for one in asked for each in [one.get("entity_id"), *one.get("candidates", ())]]
    ids += [row["entity_id"] for one in asked for row in one.get("items", ())]
    return tuple(one for one in ids if isinstance(one, str))
