"""What must hold before a version of a scenario is stored (5.1)."""

from collections import Counter
from collections.abc import Iterator

from data_models.errors import ScenarioConditionError, ScenarioDefinitionError
from data_models.scenario import Scenario, Step, ValueType
from services.scenarios.definition.conditions import compile_condition
from services.scenarios.definition.graph import Graph


def checked_graph(scenario: Scenario) -> Graph:
    """Return the compiled graph of a sound version.

    Raises:
        ScenarioDefinitionError: with every problem, each naming its step and field.
    """
    problems = tuple(_problems(scenario))
    if problems:
        raise ScenarioDefinitionError(problems)
    graph = Graph(scenario=scenario)
    lost = [step for step in graph.steps if step not in graph.reached_from(graph.entry)]
    if lost:
        raise ScenarioDefinitionError(
            tuple(f"step {step!r}: no way leads here from {graph.entry!r}" for step in lost)
        )
    return graph


def _problems(scenario: Scenario) -> Iterator[str]:
    ids = {step.id for step in scenario.steps}
    yield from _repeated("step", [step.id for step in scenario.steps])
    yield from _repeated("field", [field.name for field in scenario.fields])
    if scenario.entry_step not in ids:
        yield f"entry_step: there is no step {scenario.entry_step!r}"
    types: dict[str, ValueType] = {field.name: field.value_type for field in scenario.fields}
    for step in scenario.steps:
        yield from _unknown_fields(step, types)
        yield from _broken_transitions(step, ids, types)
        yield from _unfit_kind(step)


def _repeated(kind: str, names: list[str]) -> Iterator[str]:
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{kind} {name!r}: the id is used {times} times"


def _unknown_fields(step: Step, types: dict[str, ValueType]) -> Iterator[str]:
    used = {
        "collects_profile_fields": step.collects_profile_fields,
        "uses": step.uses,
        "parameters": step.slots,
        "results": tuple(step.results),
    }
    for key, names in used.items():
        for name in names:
            if name not in types:
                yield f"step {step.id!r}, {key}: there is no field {name!r}"


def _broken_transitions(step: Step, ids: set[str], types: dict[str, ValueType]) -> Iterator[str]:
    for position, transition in enumerate(step.transitions, 1):
        where = f"step {step.id!r}, transition {position}"
        if transition.target not in ids:
            yield f"{where}: there is no step {transition.target!r}"
        if transition.condition is not None:
            try:
                compile_condition(transition.condition, types)
            except ScenarioConditionError as error:
                yield f"{where}, condition: {error}"
    conditional = [transition.condition is not None for transition in step.transitions]
    if len(conditional) > 1 and all(conditional):
        yield f"step {step.id!r}, transitions: a fork needs one without condition (else)"


def _unfit_kind(step: Step) -> Iterator[str]:
    if not step.acts and step.tool:
        yield f"step {step.id!r}, tool: only a step of kind 'tool' runs one"
    if step.results and not step.runs:
        yield f"step {step.id!r}, results: only a step with a tool has any"
    if step.checkpoint_type and not step.is_checkpoint:
        yield f"step {step.id!r}, checkpoint_type: the step is no checkpoint"
