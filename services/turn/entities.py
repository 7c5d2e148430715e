"""Opens a patient's entities for a turn, with what the user has just said."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from data_models.chat_context import ChatContext
from data_models.clock import Clock
from data_models.entities.entity_values import BOOKING_KEYS, canonical_key
from data_models.errors import ToolInputError
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
from services.turn.phases import GroundedTurn


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
