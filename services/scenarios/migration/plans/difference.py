"""Two versions side by side: what is new, which forks changed, and whom they may lead away."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from graphlib import TopologicalSorter
from operator import or_
from typing import TypeAlias

from services.scenarios.definition.graph import Branch, Graph, Neighbours
from services.scenarios.migration.plans.anchors import AnchorMap
from services.scenarios.migration.plans.move import Move

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
