"""Reads definitions as authors write them: YAML or JSON text, errors in their words."""

import yaml
from pydantic import ValidationError

from data_models.errors import ScenarioDefinitionError
from data_models.scenario import Scenario
from services.scenarios.definition.definition_checks import checked_graph
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
    except yaml.YAMLError as error:
        raise ScenarioDefinitionError((_yaml_problem(error),)) from error
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        raise ScenarioDefinitionError((_yaml_problem(error),)) from error
    except ValueError as error:  # such as a date of 30 February
        raise ScenarioDefinitionError((f"a value cannot be read: {error}",)) from error
    except RecursionError:
        raise ScenarioDefinitionError(("the definition is nested too deeply",)) from None
    finally:
        loader.dispose()


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
