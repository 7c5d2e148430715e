"""One version of a scenario, compiled for questions about its shape."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from data_models.scenarios.scenario import FieldDefinition, Scenario, Step, ValueType
from services.scenarios.definition.conditions import (
    Condition,
    canonical_condition,
    compile_condition,
)

# Fingerprints of steps and versions (M1): equal meaning, equal hash; ids and order aside.


def content_hash(step: Step) -> str:
    """Return the fingerprint of what `step` does, without its ids, transitions and version."""
    # What versions of 0.1 did not have is left out where it is empty: their hashes stand.
    results: dict[str, JsonValue] = {"results": {**step.results}} if step.results else {}
    return _digest(
        {
            **results,
            "intent": step.intent or step.title,
            "description": step.description,
            "kind": step.kind,
            "rules": [*sorted(_canonical_text(rule.text) for rule in step.rules)],
            "collects": [*sorted(set(step.collects_profile_fields))],
            "is_checkpoint": step.is_checkpoint,
            "checkpoint_type": step.checkpoint_type,
            "is_required_action": step.is_required_action,
            "tool": step.tool,
            "parameters": step.parameters,
        }
    )


def _canonical_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _canonical(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _canonical_text(value)
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {_canonical_text(key): _canonical(item) for key, item in value.items()}
    return value


def _digest(value: JsonValue) -> str:
    text = json.dumps(_canonical(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Branch:
    """One compiled transition; `condition` None is taken when no other branch holds."""

    target: str
    condition: Condition | None

    @property
    def text(self) -> str:
        """The canonical condition, or the word for its absence."""
        return "else" if self.condition is None else self.condition.canonical


Neighbours: TypeAlias = dict[str, tuple[str, ...]]
Ways: TypeAlias = Callable[[str], Iterable[str]]


class Reach:
    """What follows what along some ways; each search is made once."""

    def __init__(self, *, ways: Ways) -> None:
        self._ways = ways
        self._known: dict[str, frozenset[str]] = {}

    def of(self, step: str) -> frozenset[str]:
        """Every step that can follow `step`, itself included."""
        if step not in self._known:
            self._known[step] = reachable([step], self._ways)
        return self._known[step]

    def is_after(self, step: str, earlier: str) -> bool:
        """Whether `step` lies strictly after `earlier`: nothing leads back."""
        return step != earlier and step in self.of(earlier) and earlier not in self.of(step)


class Graph:
    """Immutable; answers are computed once and remembered.

    Raises:
        ScenarioConditionError: a condition is wrong; `definition_checks` finds them all first.
    """

    def __init__(self, *, scenario: Scenario) -> None:
        self.scenario = scenario
        self.steps: dict[str, Step] = {step.id: step for step in scenario.steps}
        self.hashes = {step.id: content_hash(step) for step in scenario.steps}
        # The version's number is left out: two versions with one checksum are the same scenario.
        steps: dict[str, JsonValue] = {
            step.id: [
                self.hashes[step.id],
                [
                    [transition.target, canonical_condition(transition.condition or "")]
                    for transition in step.transitions
                ],
            ]
            for step in scenario.steps
        }
        self.checksum = _digest({"entry": scenario.entry_step, "steps": steps})
        self.fields: dict[str, FieldDefinition] = {field.name: field for field in scenario.fields}
        types: dict[str, ValueType] = {field.name: field.value_type for field in scenario.fields}
        self._branches = {step.id: _branches(step, types) for step in scenario.steps}
        self.reach = Reach(ways=lambda step: self.successors[step])
        self._read: dict[str, frozenset[str]] = {}

    @property
    def version(self) -> int:
        """The version's number."""
        return self.scenario.version

    @property
    def entry(self) -> str:
        """Where sessions begin."""
        return self.scenario.entry_step

    def branches(self, step: str) -> tuple[Branch, ...]:
        """The ways out of `step` in the order in which they are tried; else comes last."""
        return self._branches[step]

    def is_fork(self, step: str) -> bool:
        """Whether there is anything to choose behind `step`."""
        return len(self._branches[step]) > 1

    def fields_decided_by(self, step: str) -> tuple[str, ...]:
        """The fields that the conditions behind `step` name, in their order."""
        conditions = (branch.condition for branch in self._branches[step] if branch.condition)
        return tuple(dict.fromkeys(name for one in conditions for name in one.fields))

    @cached_property
    def successors(self) -> Neighbours:
        """The targets of each step, each once, in order."""
        return {
            step: tuple(dict.fromkeys(branch.target for branch in branches))
            for step, branches in self._branches.items()
        }

    @cached_property
    def predecessors(self) -> Neighbours:
        """The steps that lead to each step."""
        found: dict[str, list[str]] = {step: [] for step in self.steps}
        for step, targets in self.successors.items():
            for target in targets:
                found[target].append(step)
        return {step: tuple(sources) for step, sources in found.items()}

    @cached_property
    def forward(self) -> Neighbours:
        """The successors without back edges, so that "after" has a meaning in loops."""
        back = _back_edges(self.entry, self.successors)
        return {
            step: tuple(target for target in targets if (step, target) not in back)
            for step, targets in self.successors.items()
        }

    def reached_from(self, step: str) -> frozenset[str]:
        """Every step that can follow `step`, itself included."""
        return self.reach.of(step)

    def fields_read_at(self, step: str) -> frozenset[str]:
        """The fields that `step` itself uses or decides by."""
        return self._reads[step]

    def fields_read_from(self, step: str) -> frozenset[str]:
        """The fields that `step` or anything that can follow it uses or decides by."""
        if step not in self._read:
            self._read[step] = frozenset(
                name for reached in self.reached_from(step) for name in self._reads[reached]
            )
        return self._read[step]

    @cached_property
    def _reads(self) -> dict[str, frozenset[str]]:
        return {
            step.id: frozenset((*step.uses, *step.slots, *self.fields_decided_by(step.id)))
            for step in self.scenario.steps
        }


def _branches(step: Step, types: dict[str, ValueType]) -> tuple[Branch, ...]:
    """The last unconditional transition is else, wherever it was written."""
    compiled = [
        Branch(
            transition.target,
            None
            if transition.condition is None
            else compile_condition(transition.condition, types),
        )
        for transition in step.transitions
    ]
    plain = [index for index, branch in enumerate(compiled) if branch.condition is None]
    if plain:
        compiled.append(compiled.pop(plain[-1]))
    return tuple(compiled)


def reachable(starts: Iterable[str], following: Ways) -> frozenset[str]:
    """Return `starts` and every step that `following` leads to from them."""
    found = {*starts}
    waiting = [*found]
    while waiting:
        for step in following(waiting.pop()):
            if step not in found:
                found.add(step)
                waiting.append(step)
    return frozenset(found)


def levels(start: str, ways: Neighbours, *, but: Iterable[str] = ()) -> Iterator[list[str]]:
    """Yield the steps behind `start`, the nearest first, each at its distance only.

    Args:
        but: Steps that are not entered.
    """
    seen, level = {start, *but}, [start]
    while level:
        following = dict.fromkeys(target for step in level for target in ways[step])
        level = [step for step in following if step not in seen]
        seen.update(level)
        yield level


def _back_edges(entry: str, successors: Neighbours) -> set[tuple[str, str]]:
    """The edges that lead to a step on the way from the entry, in a depth-first search."""
    back: set[tuple[str, str]] = set()
    on_way = {entry}
    done: set[str] = set()
    stack = [(entry, iter(successors[entry]))]
    while stack:
        step, targets = stack[-1]
        if (target := next(targets, None)) is None:
            on_way.discard(step)
            done.add(step)
            stack.pop()
        elif target in on_way:
            back.add((step, target))
        elif target not in done:
            on_way.add(target)
            stack.append((target, iter(successors[target])))
    return back
