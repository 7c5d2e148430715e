"""One thing that a tool found, or that an agent concluded, and where it comes from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import Field

from data_models.entities.entity_queue import Entity
from data_models.entities.entity_values import copied

LLM_REASONING = "llm_reasoning"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where derived values come from, and how long they hold (E13, E14)."""

    tool: str = LLM_REASONING
    params: Mapping[str, Any] = field(default_factory=dict)
    valid_for: float | None = None
    depends_on: Sequence[str] = ()

    @property
    def is_model(self) -> bool:
        """Whether a model concluded it, rather than a tool."""
        return self.tool == LLM_REASONING


class DerivedEntity(Entity):
    """One thing a tool found, or an agent concluded.

    Attributes:
        valid_for: Seconds after `updated_at` at which it expires; None for never.
        depends_on: Conversation keys whose change expires it.
        is_outdated: Set when one of them changed.
        handed_over_from: The agent that copied it here.
    """

    agent_name: str
    source_tool: str
    source_params: dict[str, Any] = Field(default_factory=dict)
    valid_for: float | None = None
    depends_on: list[str] = Field(default_factory=list)
    is_outdated: bool = False
    handed_over_from: str | None = None

    def is_expired(self, now: datetime) -> bool:
        """Tell whether nobody may see it any more (E13)."""
        if self.is_outdated:
            return True
        if self.valid_for is None:
            return False
        return (now - self.updated_at).total_seconds() >= self.valid_for

    def extra_bytes(self) -> int:
        if not self.source_params and not self.depends_on:
            return 4 * len(self.agent_name + self.source_tool)
        texts = json.dumps([self.source_params, self.depends_on])
        return 4 * len(self.agent_name + self.source_tool + texts)

    def renew(self, origin: Origin) -> bool:
        """Take on where the value comes from now (E14); False if that is no news."""
        if (
            self.source_tool == origin.tool
            and self.valid_for == origin.valid_for
            and not self.is_outdated
            and self.handed_over_from is None
            and self.source_params == origin.params
            and self.depends_on == list(origin.depends_on)
        ):
            return False
        self.source_tool = origin.tool
        self.source_params = copied(dict(origin.params))
        self.valid_for = origin.valid_for
        self.depends_on = list(origin.depends_on)
        self.is_outdated = False
        self.handed_over_from = None
        return True

    def copy_for(self, agent_name: str, *, seq: int) -> Self:
        """Return a copy for another agent, age and origin included (E12)."""
        return self.model_copy(
            update={
                "value": copied(self.value),
                "source_params": copied(self.source_params),
                "depends_on": list(self.depends_on),
                "agent_name": agent_name,
                "handed_over_from": self.agent_name,
                "seq": seq,
            }
        )
