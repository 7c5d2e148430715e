"""A patient's entities, and short ways to write to them and read them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from data_models.entities.derived_entities import Origin
from data_models.entities.entities import Entities, Provenance
from services.entities.circumstances import AgentNames, MergeReport, Writing
from services.entities.delta import EntityDelta, parse_entity_delta
from services.entities.merge import get_agent_entity_context, merge_entity_delta, store_tool_result
from services.entities.session import GROUNDING_MARK, EntitySession

START = datetime(2030, 1, 2, 9, 0, tzinfo=UTC)
BOOKING, SCHEDULER = "AppointmentManager", "Registration"


@dataclass
class World:
    """The entities of one patient at a moment that the test moves."""

    entities: Entities = field(default_factory=Entities)
    team: AgentNames = field(default_factory=lambda: AgentNames.of([BOOKING, SCHEDULER]))
    seconds: float = 0.0

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def wants(
        self,
        updates: Mapping[str, Any] | None = None,
        *,
        source: Provenance = "inferred",
        agent: str | None = None,
    ) -> MergeReport:
        """Send a delta of what the user wants."""
        delta = EntityDelta(entities_to_update=dict(updates or {}))
        return self.sends(delta, source=source, agent=agent)

    def replies(self, payload: Any) -> MergeReport:
        """Send what a model wrote."""
        return self.sends(parse_entity_delta(payload), agent=BOOKING)

    def sends(
        self,
        delta: EntityDelta,
        *,
        source: Provenance = "inferred",
        agent: str | None = None,
        pinned: Sequence[str] = (),
    ) -> MergeReport:
        writing = Writing(now=self.now, team=self.team, pinned=frozenset(pinned))
        return merge_entity_delta(
            self.entities, delta, agent_name=agent, writing=writing, source=source
        )

    def finds(
        self,
        values: Mapping[str, Any],
        *,
        agent: str = BOOKING,
        tool: str = "find_slots",
        params: Mapping[str, Any] | None = None,
        valid_for: float | None = None,
        depends_on: Sequence[str] = (),
        pinned: Sequence[str] = (),
    ) -> MergeReport:
        """Store the result of a tool."""
        origin = Origin(tool, params or {}, valid_for, depends_on)
        writing = Writing(now=self.now, team=self.team, pinned=frozenset(pinned))
        return store_tool_result(
            self.entities, values, agent_name=agent, origin=origin, writing=writing
        )

    def wanted(self) -> dict[str, Any]:
        return self.entities.conversation.get_all()

    def order(self) -> list[str]:
        return list(self.entities.conversation.get_all())

    def found(self, agent: str = BOOKING) -> dict[str, Any]:
        shown = get_agent_entity_context(
            self.entities.conversation, self.entities.derived, agent_name=agent, now=self.now
        )
        return shown["derived_entities"]


def shown(session: EntitySession, agent: str) -> dict[str, Any]:
    """Return what an agent is shown, under its two names; empty where there is nothing."""
    line = session.grounding(agent).partition("\n")[0]
    found: dict[str, Any] = json.loads(line.removeprefix(GROUNDING_MARK)) if line else {}
    return found
