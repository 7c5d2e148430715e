"""What an author did not mean: ways that end nowhere, go round for ever, or can never be gone.

A version with a fault can be read and compared; it is not published.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from typing import Literal, TypeAlias

from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenarios.scenario import FieldDefinition
from services.scenarios.definition.conditions import Condition
from services.scenarios.definition.graph import Branch, Graph, reachable

# Whether any values at all make a condition true: a search over the values that it tells apart.

TRIES_LIMIT = 5_000
"""So many combinations are tried; a condition that needs more is not judged."""
_PLAIN = frozenset({"&&", "||", "!", "(", ")", "==", "!=", "<", "<=", ">", ">=", "true", "false"})
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_TEXT = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'")
Values: TypeAlias = Mapping[str, JsonValue]


def is_never_true(
    condition: Condition, fields: Mapping[str, FieldDefinition], *, before: list[Condition]
) -> bool:
    """Whether no values make `condition` true where all those tried `before` it are false.

    Only conditions that compare fields with constants or with each other are judged: between
    the constants that they name their truth does not change.
    """
    everything = [condition, *before]
    if not all(_is_plain(one, fields) for one in everything):
        return False
    names = list(dict.fromkeys(name for one in everything for name in one.fields))
    tokens = [token for one in everything for token in one.canonical.split(" ")]
    choices = [_choices(fields[name], tokens) for name in names]
    tries = 1
    for choice in choices:
        tries *= len(choice)
    if tries > TRIES_LIMIT:
        return False
    return not any(
        _holds(condition, before, dict(zip(names, values, strict=True)))
        for values in product(*choices)
    )


def _holds(condition: Condition, before: list[Condition], values: Values) -> bool:
    try:
        return condition.judge(values).value is True and not any(
            one.judge(values).value for one in before
        )
    except ScenarioConditionError:
        return True  # whoever cannot judge it does not call it false


def _is_plain(condition: Condition, fields: Mapping[str, FieldDefinition]) -> bool:
    return all(
        token in _PLAIN
        or _NUMBER.fullmatch(token)
        or _TEXT.fullmatch(token)
        or (token in fields and fields[token].value_type != "any")
        for token in condition.canonical.split(" ")
    )


def _choices(field: FieldDefinition, tokens: list[str]) -> list[JsonValue]:
    """Return a value for each stretch of the field's range that the constants tell apart."""
    match field.value_type:
        case "boolean":
            return [True, False]
        case "integer":
            found = {n for one in _numbers(tokens) for n in (int(one) - 1, int(one), int(one) + 1)}
            return [n for n in sorted({*found, *_bounds(field, int)}) if _fits(field, n)]
        case "number":
            near = {n for one in _numbers(tokens) for n in (one - 0.5, one, one + 0.5)}
            return [n for n in sorted({*near, *_bounds(field, float)}) if _fits(field, n)]
        case "date":
            return [day.isoformat() for day in sorted(_days(tokens))]
        case _:
            texts = [match[1] or match[2] or "" for match in map(_TEXT.fullmatch, tokens) if match]
            return list(dict.fromkeys([*texts, "none of these"]))


def _numbers(tokens: list[str]) -> Iterator[float]:
    yield 0.0
    yield from (float(token) for token in tokens if _NUMBER.fullmatch(token))


def _bounds(field: FieldDefinition, kind: type[int] | type[float]) -> list[int | float]:
    return [kind(one) for one in (field.minimum, field.maximum) if one is not None]


def _fits(field: FieldDefinition, value: float) -> bool:
    low, high = field.minimum, field.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def _days(tokens: list[str]) -> set[date]:
    found = {date(2030, 1, 1)}
    for token in tokens:
        match = _TEXT.fullmatch(token)
        try:
            day = date.fromisoformat((match[1] or match[2] or "") if match else "")
        except ValueError:
            continue
        found |= {day - timedelta(days=1), day, day + timedelta(days=1)}
    return found


FaultKind: TypeAlias = Literal[
    "dead_end", "endless_loop", "unknown_tool", "unknown_argument", "unreachable_step",
    "never_true", "not_known_yet", "skipped_checkpoint",
]  # fmt: skip
Tools: TypeAlias = Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, with its step, in words for the author."""

    kind: FaultKind
    step: str
    text: str

    def __str__(self) -> str:
        return f"step {self.step!r}, {self.kind.replace('_', ' ')}: {self.text}"


def faults_of(graph: Graph, *, tools: Tools, in_records: Collection[str] = ()) -> list[Fault]:
    """Return every fault of one version.

    Args:
        graph: A version whose names all exist.
        tools: What steps may run; see `step_tools`.
        in_records: Fields that a patient's record may answer, so that they are always known.
    """
    never = dict(_never_true(graph))
    return [
        *never.values(),
        *_unreachable(graph, set(never)),
        *_dead_ends(graph),
        *_endless(graph, set(never)),
        *_tool_faults(graph, tools),
        *_not_known_yet(graph, set(in_records)),
    ]


def _never_true(graph: Graph) -> Iterator[tuple[tuple[str, int], Fault]]:
    for step in graph.steps:
        tried: list[Condition] = []
        for at, branch in enumerate(graph.branches(step)):
            if branch.condition is None:
                continue
            texts: tuple[tuple[list[Condition], str], ...] = (
                ([], "is never true"),
                (tried, "is never met: one of the ways before it is always taken"),
            )
            for before, text in texts:
                if is_never_true(branch.condition, graph.fields, before=before):
                    yield (step, at), Fault("never_true", step, f"{branch.text!r} {text}")
                    break
            tried.append(branch.condition)


def _takeable(graph: Graph, never: set[tuple[str, int]]) -> dict[str, tuple[Branch, ...]]:
    return {
        step: tuple(b for at, b in enumerate(graph.branches(step)) if (step, at) not in never)
        for step in graph.steps
    }


def _unreachable(graph: Graph, never: set[tuple[str, int]]) -> Iterator[Fault]:
    ways = _takeable(graph, never)
    met = reachable([graph.entry], lambda step: [one.target for one in ways[step]])
    for step in graph.steps:
        if step not in met:
            yield Fault("unreachable_step", step, "no way that can be taken leads here")


def _dead_ends(graph: Graph) -> Iterator[Fault]:
    for step in graph.steps:
        branches = graph.branches(step)
        if branches and all(branch.condition is not None for branch in branches):
            conditions = " or ".join(repr(branch.text) for branch in branches)
            text = f"it is left only where {conditions}; a way without condition is needed (else)"
            yield Fault("dead_end", step, text)


def _endless(graph: Graph, never: set[tuple[str, int]]) -> Iterator[Fault]:
    """Loops that cannot be left, or only by what nothing in the loop can change."""
    ways = _takeable(graph, never)
    for loop in _loops(graph):
        exits = [s for s in loop if any(b.target not in loop for b in ways[s])]
        name = " → ".join(step for step in graph.steps if step in loop)
        first = next(step for step in graph.steps if step in loop)
        if not exits:
            yield Fault("endless_loop", first, f"nothing leads out of the loop {name}")
        elif not any(_may_leave(graph, loop, step) for step in exits):
            text = f"what leads out of the loop {name} depends on nothing that is asked in it"
            yield Fault("endless_loop", first, text)


def _may_leave(graph: Graph, loop: frozenset[str], step: str) -> bool:
    """Whether something that is asked or found in the loop decides about the ways out of `step`."""
    if loop.isdisjoint(graph.successors[step]):
        return True
    asked = {n for s in loop for n in graph.steps[s].gives}
    return not asked.isdisjoint(graph.fields_decided_by(step))


def _loops(graph: Graph) -> list[frozenset[str]]:
    """Return the sets of steps that lead to one another."""
    found: dict[frozenset[str], None] = {}
    for step in graph.steps:
        if any(step in graph.reached_from(target) for target in graph.successors[step]):
            ahead = graph.reached_from(step)
            found[frozenset(one for one in ahead if step in graph.reached_from(one))] = None
    return list(found)


def _tool_faults(graph: Graph, tools: Tools) -> Iterator[Fault]:
    for step in graph.steps.values():
        if not step.runs:
            continue
        if (known := tools.get(step.runs)) is None:
            yield Fault("unknown_tool", step.id, f"there is no tool {step.runs!r}")
            continue
        for name in step.parameters:
            if name not in known:
                there_are = ", ".join(known) or "none"
                text = f"{step.runs} takes no {name!r}; it takes: {there_are}"
                yield Fault("unknown_argument", step.id, text)
        for name, is_needed in known.items():
            if is_needed and name not in step.parameters:
                yield Fault("unknown_argument", step.id, f"{step.runs} needs {name!r}")


def _not_known_yet(graph: Graph, always: set[str]) -> Iterator[Fault]:
    """Fields that a step reads, and no way to it gives."""
    anywhere = {name for step in graph.steps.values() for name in step.gives}
    for step in graph.steps.values():
        # The step itself is among those before it only where a loop leads back.
        before = reachable(graph.predecessors[step.id], graph.predecessors.__getitem__)
        known = always.union(*(graph.steps[one].gives for one in before))
        known |= set(step.collects_profile_fields)
        after_tool = known | set(step.results)
        late = [name for name in (*step.uses, *step.slots) if name not in known]
        # A field that nobody collects is asked for at the fork itself.
        decided = anywhere.intersection(graph.fields_decided_by(step.id))
        late += [name for name in graph.fields_decided_by(step.id) if name in decided - after_tool]
        for name in dict.fromkeys(late):
            behind = "is asked for only behind it" if name in anywhere else "is given by no step"
            yield Fault("not_known_yet", step.id, f"it uses {name!r}, which {behind}")


def skipped_checkpoints(new: Graph, image: Mapping[str, str]) -> list[Fault]:
    """Return the checkpoints that only `new` has and that sessions on their way never come to.

    Args:
        image: The new steps that old ones are.
    """
    former, found = set(image.values()), list[Fault]()
    for step in new.steps.values():
        runs_for_all = step.is_required_action and step.runs
        if not step.is_checkpoint or step.id in former or runs_for_all:
            continue
        behind = [s for s in former if s in new.reached_from(step.id)]
        passed = [s for s in new.steps if s in behind and step.id not in new.reached_from(s)]
        if passed:
            titles = ", ".join(new.steps[s].title for s in passed[:5])
            text = f"sessions at {titles} now never pass the checkpoint {step.title!r}"
            found.append(Fault("skipped_checkpoint", step.id, text))
    return found
