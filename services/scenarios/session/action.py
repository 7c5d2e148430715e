"""A tool that a scenario's step runs, not an agent of its own accord. Pure."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import JsonValue

from data_models.scenarios.scenario import SLOT, Step
from data_models.scenarios.scenario_session import Evidence, ExecutedAction, ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.session.facts import takes, with_answers, without_values

NOT_SAID = "not said"
"""In a text that is made of fields, what stands for one that nobody knows."""


@dataclass(frozen=True, slots=True)
class ToolAction:
    """One run of a step's tool.

    Attributes:
        idempotency_key: The same for every attempt at the same run: a tool that changes
            something outside must not change it twice under one key.
    """

    tool: str
    parameters: Mapping[str, JsonValue]
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class ToolRan:
    """What came of it.

    Attributes:
        data: The tool's answer.
        has_asked: The tool only asked the user; the step goes on with their answer.
    """

    succeeded: bool
    data: Mapping[str, Any] = field(default_factory=dict, compare=False)
    has_asked: bool = False


Act: TypeAlias = Callable[[ToolAction], Awaitable[ToolRan]]


async def run_tool(step: Step, values: Mapping[str, JsonValue], key: str, act: Act) -> ToolRan:
    """Run the tool of `step`, if it has one, with what is known of the fields."""
    if not step.runs:
        return ToolRan(True)
    parameters = {name: bound(value, values) for name, value in step.parameters.items()}
    return await act(ToolAction(step.runs, parameters, key))


def bound(parameters: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """Return `parameters` with the values of the fields that they name in braces."""
    if isinstance(parameters, str):
        whole = SLOT.fullmatch(parameters)
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        return SLOT.sub(lambda found: _shown(values.get(found[1])), parameters)
    if isinstance(parameters, dict):
        return {name: bound(value, values) for name, value in parameters.items()}
    if isinstance(parameters, list):
        return [bound(value, values) for value in parameters]
    return parameters


def with_results(
    session: ScenarioSession, graph: Graph, step: Step, data: Mapping[str, Any], *, turn: int
) -> ScenarioSession:
    """Return the session with what the tool's answer says of the step's results.

    What the answer does not hold, or not in the field's type, is not known.
    """
    found: dict[str, JsonValue] = {}
    for name, path in step.results.items():
        value = _at(data, path)
        if takes(graph.fields[name], value):
            found[name] = value
    evidence = Evidence(source="tool", turn=turn)
    emptied = without_values(session, step.results)
    return with_answers(emptied, found, graph, dict.fromkeys(found, evidence))


def with_run(session: ScenarioSession, key: str, step: str) -> ScenarioSession:
    """Return the session with the run on record, so that it is not made again."""
    done = ExecutedAction(idempotency_key=key, step_id=step, version=session.version)
    return session.model_copy(update={"executed": [*session.executed, done], "awaiting": ""})


def _shown(value: JsonValue) -> str:
    if value is None:
        return NOT_SAID
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _at(data: Any, path: str) -> JsonValue:
    for part in path.split("."):
        if part == "length" and isinstance(data, list | None):
            data = len(data or ())  # of what a tool gave, an empty list is left out
        elif isinstance(data, list) and part.isdecimal():
            data = data[int(part)] if int(part) < len(data) else None
        elif isinstance(data, Mapping):
            data = data.get(part)
        else:
            return None
    return data if isinstance(data, str | int | float | bool) else None
