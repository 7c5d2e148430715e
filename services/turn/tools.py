"""Opens a patient's tool memory for a turn, and stores it with the turn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from data_models.clock import IdSource
from data_models.identifiers import hashed
from services.assistant.undo_log import AssistantService
from services.basis import Basis
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.orders.order_drafts import OrderDrafts
from services.scheduling.clinic import Clinic
from services.team import Team
from services.telemetry.metrics import Metrics
from services.tool_memory.extractors import zone_of
from services.tool_memory.resolver import Picked, picked_from
from services.tool_memory.session import ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from services.turn.entities import TurnEntities
from services.turn.phases import GroundedTurn, LoadedTurn
from services.turn.scenario_parts import ScenarioParts

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
