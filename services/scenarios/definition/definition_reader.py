"""Reads definitions as authors write them: YAML or JSON text, errors in their words.

What is to be published is sound and has no faults.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from data_models.errors import ScenarioConditionError, ScenarioDefinitionError
from data_models.scenarios.scenario import Scenario, Step, ValueType
from services.scenarios.definition.conditions import compile_condition
from services.scenarios.definition.faults import Fault, faults_of
from services.scenarios.definition.graph import Graph

SOURCE_LIMIT_BYTES = 4 * 1024 * 1024


def read_definition(source: str) -> Graph:
    """Return the checked version that `source` defines.

    Raises:
        ScenarioDefinitionError: with everything that is wrong, naming step and field.
    """
    if len(source.encode(errors="surrogatepass")) > SOURCE_LIMIT_BYTES:
        raise ScenarioDefinitionError(("the definition is over 4 MiB",))
    raw = _plain_values(source)
    try:
        scenario = Scenario.model_validate(raw)
    except ValidationError as error:
        raise ScenarioDefinitionError(_shape_problems(error, raw)) from error
    return checked_graph(scenario)


def _plain_values(source: str) -> object:
    try:
        loader = _PlainLoader(source)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ScenarioDefinitionError((_yaml_problem(error),)) from error
    except ValueError as error:  # such as a date of 30 February
        raise ScenarioDefinitionError((f"a value cannot be read: {error}",)) from error
    except RecursionError:
        raise ScenarioDefinitionError(("the definition is nested too deeply",)) from None


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, with which a small text can grow without bounds, tags, repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not used", event.start_mark)
        event = self.peek_event()  # type: ignore[no-untyped-call]
        kinds = (yaml.ScalarEvent, yaml.CollectionStartEvent)
        if isinstance(event, kinds) and event.tag is not None:
            mark = event.start_mark
            raise yaml.composer.ComposerError(None, None, "tags are not used", mark)  # type: ignore[arg-type]
        return super().compose_node(parent, index)  # type: ignore[arg-type]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[object] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, "keys are plain words, each used once", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _yaml_problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return "the text is neither YAML nor JSON"


def _shape_problems(error: ValidationError, raw: object) -> tuple[str, ...]:
    return tuple(
        f"{_place(problem['loc'], raw)}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )


def _place(location: tuple[int | str, ...], raw: object) -> str:
    """Name a step by its id, for nobody counts list items."""
    if len(location) > 1 and location[0] == "steps" and isinstance(location[1], int):
        steps = raw.get("steps") if isinstance(raw, dict) else None
        step = steps[location[1]] if isinstance(steps, list) else None
        named = step.get("id") if isinstance(step, dict) else None
        first = f"step {named!r}" if named else f"step number {location[1] + 1}"
        return ", ".join([first, *map(str, location[2:])])
    return ", ".join(map(str, location)) or "the definition"


def checked_graph(scenario: Scenario) -> Graph:
    """Return the compiled graph of a sound version.

    Raises:
        ScenarioDefinitionError: with every problem, each naming its step and field.
    """
    if problems := tuple(_problems(scenario)):
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
        if not step.acts and step.tool:
            yield f"step {step.id!r}, tool: only a step of kind 'tool' runs one"
        if step.results and not step.runs:
            yield f"step {step.id!r}, results: only a step with a tool has any"
        if step.checkpoint_type and not step.is_checkpoint:
            yield f"step {step.id!r}, checkpoint_type: the step is no checkpoint"


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


# The tools that steps may run, with their arguments; generated from the team's catalogue.

_FILE = Path(__file__).with_name("step_tools.json")
_SHAPE = TypeAdapter(dict[str, dict[str, bool]])


@cache
def step_tools() -> Mapping[str, Mapping[str, bool]]:
    """Return by tool the arguments it takes, and whether each one has to be given."""
    return _SHAPE.validate_json(_FILE.read_bytes())


BIRTH_DATE = frozenset({"date_of_birth", "birth_date", "birthdate", "dob"})
AGE = frozenset({"age", "age_years", "patient_age"})
SEX = frozenset({"sex", "gender"})
NAME = frozenset({"name", "full_name", "patient_name"})
IN_RECORDS = BIRTH_DATE | AGE | SEX | NAME
"""Fields that the patient's record may answer."""


def read_publishable(source: str) -> Graph:
    """Return the version that `source` defines.

    Raises:
        ScenarioDefinitionError: with everything that is wrong, and every fault.
    """
    graph = read_definition(source)
    if faults := faults_in(graph):
        raise ScenarioDefinitionError(tuple(map(str, faults)))
    return graph


def faults_in(graph: Graph) -> list[Fault]:
    """Return the faults of a version with the tools and records of this product."""
    return faults_of(graph, tools=step_tools(), in_records=IN_RECORDS)
