"""What-if cases as authors write them (5.8), read into the production's own models."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from data_models.errors import ScenarioDefinitionError
from data_models.scenarios.scenario import FieldDefinition, Rule, Scenario, Step, Transition
from services.scenarios.definition.conditions import names_in
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaseStep(_Shape):
    """A step; everything is optional."""

    name: str = ""
    intent: str = ""
    desc: str = ""
    kind: str = "chat"
    collects: list[str] = Field(default_factory=list)
    uses: list[str] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list)
    rule_ids: list[str] = Field(default_factory=list)
    checkpoint: str | bool | None = None
    required: bool = False


class CaseGraph(_Shape):
    """One version; `edges` are in the order in which they are tried."""

    v: int = Field(ge=1)
    entry: str
    steps: dict[str, CaseStep | None]
    edges: list[str] = Field(default_factory=list)


class CaseValue(_Shape):
    """A value of the profile that is less than certain."""

    value: JsonValue
    confidence: float = 1.0
    expired: bool = False


class CaseFinding(_Shape):
    """What extraction would return."""

    value: JsonValue
    confidence: float = 1.0
    quote: str = ""


class CaseSession(_Shape):
    """The session before anything is deployed over it."""

    v: int
    at: str = ""
    path: list[str] = Field(default_factory=list)
    passed: list[str] = Field(default_factory=list)
    profile: dict[str, CaseValue] = Field(default_factory=dict)
    vars: dict[str, JsonValue] = Field(default_factory=dict)
    says: dict[str, CaseFinding] = Field(default_factory=dict)
    channel: str = "whatsapp"
    age_days: float = 0

    @model_validator(mode="before")
    @classmethod
    def _plain_values(cls, raw: Any) -> Any:
        profile = raw.get("profile") if isinstance(raw, dict) else None
        if isinstance(raw, dict) and "at" not in raw and raw.get("path"):
            raw = {**raw, "at": raw["path"][-1]}
        if not isinstance(profile, dict):
            return raw
        wrapped = {
            name: value if isinstance(value, dict) and "value" in value else {"value": value}
            for name, value in profile.items()
        }
        return {**raw, "profile": wrapped}


class TurnEvent(_Shape):
    """The user writes something."""

    turn: Literal[True]


class AnswerEvent(_Shape):
    """The user answers what was asked; null denies what was to be confirmed."""

    answer: dict[str, JsonValue]


class DoneEvent(_Shape):
    """The required action of a step has finished."""

    done: str


class MoveEvent(_Shape):
    """The session goes on to a step of its own version."""

    move: str


CaseEvent: TypeAlias = TurnEvent | AnswerEvent | DoneEvent | MoveEvent


class CaseFile(_Shape):
    """One what-if case."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    graphs: list[CaseGraph] = Field(min_length=1)
    session: CaseSession
    """Without one, a session that has just begun on the first version."""
    policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    missing_plans: list[str] = Field(default_factory=list)
    events: list[CaseEvent] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _new_session(cls, raw: Any) -> Any:
        graphs = raw.get("graphs") if isinstance(raw, dict) else None
        if not isinstance(graphs, list) or not graphs or not isinstance(graphs[0], dict):
            return raw
        if raw.get("session") is not None:
            return raw
        return {**raw, "session": {"v": graphs[0].get("v"), "at": graphs[0].get("entry")}}


def scenario_of(graph: CaseGraph, *, scenario_id: str) -> Scenario:
    """Return the definition; fields are whatever the steps and conditions name.

    Raises:
        ScenarioDefinitionError: an edge cannot be read or leaves from nowhere.
    """
    transitions: dict[str, list[Transition]] = {step: [] for step in graph.steps}
    for edge in graph.edges:
        start, transition = _edge(edge)
        if start not in transitions:
            raise ScenarioDefinitionError((f"edge {edge!r}: there is no step {start!r}",))
        transitions[start].append(transition)
    steps = {step: definition or CaseStep() for step, definition in graph.steps.items()}
    return Scenario(
        id=scenario_id,
        version=graph.v,
        entry_step=graph.entry,
        fields=_fields(steps, transitions),
        steps=tuple(_step(step, one, transitions[step]) for step, one in steps.items()),
    )


def _edge(text: str) -> tuple[str, Transition]:
    start, arrow, rest = text.partition(">")
    target, asks, condition = rest.partition("?")
    start, target, condition = start.strip(), target.strip(), condition.strip()
    if not (arrow and start and target) or (asks and not condition):
        raise ScenarioDefinitionError((f"edge {text!r}: write FROM>TO or FROM>TO ? condition",))
    is_else = condition in ("", "else")
    return start, Transition(target=target, condition=None if is_else else condition)


def _fields(
    steps: dict[str, CaseStep], transitions: dict[str, list[Transition]]
) -> tuple[FieldDefinition, ...]:
    names: dict[str, None] = {}
    for step, definition in steps.items():
        names.update(dict.fromkeys([*definition.collects, *definition.uses]))
        for transition in transitions[step]:
            names.update(dict.fromkeys(names_in(transition.condition or "")))
    return tuple(FieldDefinition(name=name, value_type="any") for name in names)


def _step(step_id: str, step: CaseStep, transitions: list[Transition]) -> Step:
    ids = [*step.rule_ids, *[""] * len(step.rules)]
    return Step(
        id=step_id,
        name=step.name,
        intent=step.intent,
        description=step.desc,
        kind=step.kind,
        rules=tuple(Rule(id=ids[index], text=text) for index, text in enumerate(step.rules)),
        collects_profile_fields=tuple(step.collects),
        uses=tuple(step.uses),
        is_checkpoint=step.checkpoint not in (None, False),
        checkpoint_description=step.checkpoint if isinstance(step.checkpoint, str) else "",
        is_required_action=step.required,
        transitions=tuple(transitions),
    )
