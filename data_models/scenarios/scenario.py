"""Scenario definitions: a versioned graph of a conversation, as its author wrote it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, JsonValue, field_validator, model_validator

from data_models.values import ClosedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class StepType:
    """How a session goes through steps of a type.

    Attributes:
        acts: Whether a tool runs in the step, which is left once that has succeeded; such a step
            says nothing to the user.
        tool: The tool that always runs in it; "" for the one that the author names.
    """

    acts: bool = False
    tool: str = ""


STEP_TYPES: dict[str, StepType] = {"chat": StepType(), "tool": StepType(acts=True)}


ValueType: TypeAlias = Literal["text", "integer", "number", "boolean", "date", "any"]
FieldScope: TypeAlias = Literal["run", "patient"]
STEP_LIMIT = 5_000
TEXT_LIMIT_CHARS = 8_000
_SPANS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
SCENARIO_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$"


def is_scenario_id(text: str) -> bool:
    """Tell whether `text` can be the id of a scenario; ids are parts of storage names."""
    return re.fullmatch(SCENARIO_ID, text) is not None


class _Definition(ClosedValue):
    """Immutable and closed: a misspelt key is an error, not a silent default."""


class FieldDefinition(_Definition):
    """A fact that steps collect, use or decide by.

    Attributes:
        value_type: `date` is ISO text; `any` takes every JSON value and is not type-checked.
        scope: `run`: known until the run ends. `patient`: outlives the run for `valid_for`, and
            every scenario that declares the same shares it; a new run confirms it first.
        valid_for: How long a lasting value may be offered again, as "90d", "12h" or "4w".
        minimum: The least a number may be, itself included; `maximum` the most.
        unit: What a number counts, for people.
        question: How the field is asked for; without one its label is asked for.
        extraction_hint: Tells the extractor where people say it.
        phi: Whether it is health information, never logged or shown to operators.
    """

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)
    display_name: str = ""
    value_type: ValueType = "text"
    extraction_hint: str = ""
    examples: tuple[str, ...] = ()
    phi: bool = True
    scope: FieldScope = "run"
    valid_for: timedelta | None = None
    minimum: float | None = None
    maximum: float | None = None
    unit: str = Field(default="", max_length=40)
    question: str = Field(default="", max_length=200)

    @field_validator("valid_for", mode="before")
    @classmethod
    def _of_days(cls, raw: Any) -> Any:
        found = re.fullmatch(r"(\d{1,4}) ?([hdw])", raw) if isinstance(raw, str) else None
        return raw if found is None else int(found[1]) * _SPANS[found[2]]

    @model_validator(mode="after")
    def _lasts_as_declared(self) -> Self:
        if (self.scope != "run") != (self.valid_for is not None):
            raise ValueError("scope 'patient' and valid_for are declared together, or neither")
        if self.valid_for is not None and self.valid_for <= timedelta(0):
            raise ValueError("valid_for has to be longer than nothing")
        bounds = (self.minimum, self.maximum)
        if bounds != (None, None) and self.value_type not in ("integer", "number"):
            raise ValueError("minimum and maximum belong to an integer or a number")
        if None not in bounds and (self.minimum or 0) > (self.maximum or 0):
            raise ValueError("minimum is above maximum")
        return self

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
        parameters: What its tool is given; "{field}" stands for the value of a field, which is
            asked for where it is a whole parameter.
        results: By field, where the tool's answer holds its value, as "slots.0.slot_id"; a last
            part `length` counts a list.
    """

    id: str = Field(min_length=1, max_length=120)
    name: str = ""
    intent: str = ""
    description: str = ""
    kind: str = Field(default="chat", json_schema_extra={"enum": list(STEP_TYPES)})
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
    results: dict[str, str] = Field(default_factory=dict)
    transitions: tuple[Transition, ...] = ()

    @field_validator("transitions")
    @classmethod
    def _ordered(cls, transitions: tuple[Transition, ...]) -> tuple[Transition, ...]:
        return tuple(sorted(transitions, key=lambda one: one.order))

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in STEP_TYPES:
            raise ValueError(f"Input should be {' or '.join(map(repr, STEP_TYPES))}")
        return kind

    @property
    def acts(self) -> bool:
        """Whether a tool runs in the step before it is left."""
        return STEP_TYPES[self.kind].acts

    @property
    def runs(self) -> str:
        """The tool that runs in the step; "" for none."""
        return STEP_TYPES[self.kind].tool or self.tool

    @property
    def title(self) -> str:
        """What people call the step."""
        return self.name or self.id

    @property
    def slots(self) -> tuple[str, ...]:
        """The fields whose values its tool is given."""
        return tuple(dict.fromkeys(_slots(self.parameters)))

    @property
    def needs(self) -> tuple[str, ...]:
        """Those of them without which its tool cannot run: they are a whole parameter."""
        whole = (SLOT.fullmatch(v) for v in self.parameters.values() if isinstance(v, str))
        return tuple(dict.fromkeys(found[1] for found in whole if found))

    @property
    def gives(self) -> tuple[str, ...]:
        """The fields that are known once it is over."""
        return (*self.collects_profile_fields, *self.results)


def _slots(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield from SLOT.findall(value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _slots(part)


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
