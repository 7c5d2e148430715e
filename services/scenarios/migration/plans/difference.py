"""Two versions side by side: what is new, which forks changed, and whom they may lead away."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from graphlib import TopologicalSorter
from operator import or_
from typing import TypeAlias

from data_models.scenarios.scenario import FieldDefinition, Step
from services.scenarios.definition.graph import Branch, Graph, Neighbours
from services.scenarios.migration.plans.move import AnchorMap, Move

Bits: TypeAlias = int


class Upstream:
    """Every step's descendants, with and without back edges."""

    def __init__(self, *, graph: Graph) -> None:
        self._steps = list(graph.steps)
        self._bit = {step: 1 << index for index, step in enumerate(graph.steps)}
        # What follows a step comes before it; without back edges nothing goes round.
        order = list(TopologicalSorter(graph.forward).static_order())
        self._after = self._descendants(order, graph.forward, {})
        self._reached = self._after
        while True:
            wider = self._descendants(order, graph.successors, self._reached)
            if wider == self._reached:
                break
            self._reached = wider

    def bits(self, steps: Iterable[str]) -> Bits:
        """Return the set of `steps`."""
        return reduce(or_, (self._bit[step] for step in steps), 0)

    def after(self, step: str) -> Bits:
        """The steps strictly after `step` when loops are cut open."""
        return self._after[step]

    def reached(self, step: str) -> Bits:
        """Every step that can follow `step`, itself included."""
        return self._reached[step] | self._bit[step]

    def reaching(self, steps: Iterable[str]) -> Bits:
        """Every step that one of `steps` can follow, themselves included."""
        wanted = self.bits(steps)
        return self.bits(step for step in self._steps if self.reached(step) & wanted)

    def after_any(self, steps: Iterable[str]) -> Bits:
        """Every step that lies after at least one of `steps`."""
        return reduce(or_, (self._after[step] for step in steps), 0)

    def steps(self, bits: Bits) -> list[str]:
        """Return the steps of the set, in order of definition."""
        return [step for step in self._steps if bits & self._bit[step]]

    def _descendants(
        self, order: list[str], ways: Neighbours, known: dict[str, Bits]
    ) -> dict[str, Bits]:
        found: dict[str, Bits] = {}
        for step in order:
            bits = known.get(step, 0)
            for target in ways[step]:
                bits |= self._bit[target] | found.get(target, known.get(target, 0))
            found[step] = bits
        return found


@dataclass(frozen=True, slots=True)
class Away:
    """A branch of a changed fork, and the anchors behind the fork that it does not lead to."""

    fork: str
    branch: Branch
    anchors: Bits


@dataclass(frozen=True)
class Difference:
    """What is different for sessions that came the longest possible way."""

    old: Graph
    new: Graph
    anchors: AnchorMap

    @cached_property
    def move(self) -> Move:
        """The jump, without any session."""
        image = self.anchors.image
        return Move(old=self.old, new=self.new, image=image, images_of=lambda _version: {})

    @cached_property
    def upstream(self) -> Upstream:
        """What lies before what in the new version."""
        return Upstream(graph=self.new)

    @cached_property
    def images(self) -> Bits:
        """The new steps that are anchors."""
        return self.upstream.bits(self.anchors.image.values())

    @cached_property
    def inserted(self) -> tuple[str, ...]:
        """The steps that only the new version has."""
        return tuple(step for step in self.new.steps if step not in self.move.preimage)

    @cached_property
    def forks(self) -> tuple[str, ...]:
        """The forks of the new version that the old one has not, or has otherwise (M5)."""
        return tuple(
            step
            for step in self.new.steps
            if self.new.is_fork(step) and not self.move.leads_as_before(step)
        )

    @cached_property
    def away(self) -> tuple[Away, ...]:
        """The branches of changed forks that lead sessions past an anchor."""
        ways = ((fork, branch) for fork in self.forks for branch in self.new.branches(fork))
        behind = {fork: self.images & self.upstream.after(fork) for fork in self.forks}
        return tuple(
            Away(fork, branch, missed)
            for fork, branch in ways
            if (missed := behind[fork] & ~self.upstream.reached(branch.target))
        )


# What is different, in words for people who read no graph.


def sentences_of(difference: Difference) -> list[str]:
    """Return one sentence for each difference; none where the versions mean the same."""
    old, new = difference.old, difference.new
    return [*_entry(difference), *_steps(difference), *_ways(difference), *_fields(old, new)]


def _entry(difference: Difference) -> Iterator[str]:
    old, new = difference.old, difference.new
    if difference.anchors.image.get(old.entry) != new.entry:
        before, after = _title(old, old.entry), _title(new, new.entry)
        yield f"It begins with “{after}” instead of “{before}”."


def _steps(difference: Difference) -> Iterator[str]:
    old, new = difference.old, difference.new
    for gone in (step for step in old.steps if step not in difference.anchors.image):
        yield f"The step “{_title(old, gone)}” is gone."
    for step in new.steps.values():
        if (former := difference.move.preimage.get(step.id)) is None:
            what = f", which {_does(new, step)}" if _does(new, step) else ""
            yield f"The step “{step.title}” is new{what}."
        else:
            yield from _changes(old.steps[former], step, new)


def _changes(before: Step, after: Step, graph: Graph) -> Iterator[str]:
    name = f"“{after.title}”"
    if before.title != after.title:
        yield f"“{before.title}” is called {name} now."
    yield from _asked(name, before, after, graph)
    if (before.tool, before.parameters) != (after.tool, after.parameters):
        yield f"{name} {f'now runs {after.tool}' if after.tool else 'runs no tool any more'}."
    if before.is_checkpoint != after.is_checkpoint:
        yield f"{name} {'is now a checkpoint' if after.is_checkpoint else 'is no checkpoint now'}."
    if before.is_required_action != after.is_required_action:
        word = "runs for everybody now" if after.is_required_action else "runs for newcomers only"
        yield f"{name} {word}."
    if (before.instructions, before.rules) != (after.instructions, after.rules):
        yield f"What is said at {name} is different."


def _asked(name: str, before: Step, after: Step, graph: Graph) -> Iterator[str]:
    asked, asks = set(before.collects_profile_fields), set(after.collects_profile_fields)
    for one in after.collects_profile_fields:
        if one not in asked:
            yield f"{name} now asks for {graph.fields[one].label}."
    for one in before.collects_profile_fields:
        if one not in asks:
            yield f"{name} asks for {one.replace('_', ' ')} no more."


def _ways(difference: Difference) -> Iterator[str]:
    old, new, move = difference.old, difference.new, difference.move
    for step in new.steps:
        if (former := move.preimage.get(step)) is None:
            yield from (f"{one}." for one in _ways_in_words(new, step))
        elif not move.leads_as_before(step):
            before = sorted((move.image.get(b.target, ""), b.text) for b in old.branches(former))
            if before == sorted((b.target, b.text) for b in new.branches(step)):
                yield f"The ways out of “{_title(new, step)}” are tried in another order."
            else:
                yield from (f"{one} now." for one in _ways_in_words(new, step))


def _ways_in_words(graph: Graph, step: str) -> Iterator[str]:
    for branch in graph.branches(step):
        target = f"to “{_title(graph, branch.target)}”"
        if branch.condition is not None:
            yield f"After “{_title(graph, step)}”, where {branch.text}, it goes {target}"
        else:
            word = "else" if graph.is_fork(step) else "always"
            yield f"After “{_title(graph, step)}” it {word} goes {target}"


def _fields(old: Graph, new: Graph) -> Iterator[str]:
    for name, one in new.fields.items():
        if name not in old.fields:
            yield f"There is a new answer: {one.label} ({_kind(one)})."
        elif _kind(old.fields[name]) != _kind(one):
            yield f"{one.label} is {_kind(one)}, before {_kind(old.fields[name])}."
    for name, one in old.fields.items():
        if name not in new.fields:
            yield f"The answer {one.label} is not used any more."


def _kind(one: FieldDefinition) -> str:
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", one.minimum), ("at most", one.maximum))
        if bound is not None
    ]
    kept = f"kept for {one.valid_for.days} days" if one.valid_for is not None else ""
    return ", ".join(part for part in [one.value_type, *bounds, one.unit, kept] if part)


def _does(graph: Graph, step: Step) -> str:
    asks = [graph.fields[name].label for name in step.collects_profile_fields]
    parts = [
        f"asks for {', '.join(asks)}" if asks else "",
        f"runs {step.runs}" if step.runs else "",
    ]
    parts += ["is a checkpoint" if step.is_checkpoint else ""]
    return " and ".join(part for part in parts if part)


def _title(graph: Graph, step: str) -> str:
    return graph.steps[step].title
