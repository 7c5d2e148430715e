"""Scenario definitions: a versioned graph of a conversation, as its author wrote it."""

import re
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

ValueType: TypeAlias = Literal["text", "integer", "number", "boolean", "date", "any"]
StepKind: TypeAlias = Literal["chat", "tool"]
STEP_LIMIT = 5_000
TEXT_LIMIT_CHARS = 8_000
SCENARIO_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$"


def is_scenario_id(text: str) -> bool:
    """Tell whether `text` can be the id of a scenario; ids are parts of storage names."""
    return re.fullmatch(SCENARIO_ID, text) is not None


class _Definition(BaseModel):
    """Immutable and closed: a misspelt key is an error, not a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldDefinition(_Definition):
    """A fact that steps collect, use or decide by.

    Attributes:
        value_type: `date` is ISO text; `any` takes every JSON value and is not type-checked.
        extraction_hint: Tells the extractor where people say it.
        phi: Whether it is health information, never logged or shown to operators.
    """

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)
    display_name: str = ""
    value_type: ValueType = "text"
    extraction_hint: str = ""
    examples: tuple[str, ...] = ()
    phi: bool = True

    @property
    def label(self) -> str:
        """What people call it."""
        return self.display_name or self.name.replace("_", " ")


class Rule(_Definition):
    """One rule of a step; the id is for authors and changes nothing."""

    text: str
    id: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, raw: Any) -> Any:
        return {"text": raw} if isinstance(raw, str) else raw


class Transition(_Definition):
    """A way out of a step.

    Attributes:
        condition: A CEL expression over the fields; None is taken when no other one holds.
        order: Lower ones are tried first; equal ones as they were written.
    """

    target: str
    condition: str | None = Field(default=None, max_length=TEXT_LIMIT_CHARS)
    order: int = 0


class Step(_Definition):
    """One state of the conversation.

    Attributes:
        uses: Fields that this step reads, beside those its transitions read.
        is_checkpoint: Completing it cannot be undone, such as a payment.
        is_required_action: Its tool must have run, also for sessions that came past it.
    """

    id: str = Field(min_length=1, max_length=120)
    name: str = ""
    intent: str = ""
    description: str = ""
    kind: StepKind = "chat"
    instructions: str = Field(default="", max_length=TEXT_LIMIT_CHARS)
    rules: tuple[Rule, ...] = ()
    collects_profile_fields: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    is_checkpoint: bool = False
    checkpoint_type: str = ""
    checkpoint_description: str = ""
    is_required_action: bool = False
    tool: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    transitions: tuple[Transition, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _ordered(cls, raw: Any) -> Any:
        transitions = raw.get("transitions") if isinstance(raw, dict) else None
        if not isinstance(transitions, list) or not all(isinstance(t, dict) for t in transitions):
            return raw
        orders = [t.get("order", 0) for t in transitions]
        if not all(isinstance(order, int) for order in orders):
            return raw
        return {**raw, "transitions": sorted(transitions, key=lambda t: t.get("order", 0))}

    @property
    def title(self) -> str:
        """What people call the step."""
        return self.name or self.id


class Scenario(_Definition):
    """One version of a scenario."""

    id: str = Field(pattern=SCENARIO_ID)
    name: str = ""
    version: int = Field(default=1, ge=1)
    entry_step: str
    fields: tuple[FieldDefinition, ...] = ()
    steps: tuple[Step, ...] = Field(min_length=1, max_length=STEP_LIMIT)

    @property
    def title(self) -> str:
        """What people call the scenario."""
        return self.name or self.id

    def with_version(self, version: int) -> Self:
        """Return the same content under another version number."""
        return self.model_copy(update={"version": version})
