"""Which steps lie before which, for whole versions at once.

One search per step would take seconds for 5,000 steps; bit sets, one bit a step, take
milliseconds. `Bits` are sets of steps in this form.
"""

from collections.abc import Iterable
from typing import TypeAlias

from services.scenarios.definition.graph import Graph, Neighbours

Bits: TypeAlias = int


class Upstream:
    """Every step's descendants, with and without back edges."""

    def __init__(self, *, graph: Graph) -> None:
        self._steps = list(graph.steps)
        self._bit = {step: 1 << index for index, step in enumerate(graph.steps)}
        order = _children_first(graph)
        self._after = self._descendants(order, graph.forward, {})
        self._reached = self._after
        while True:
            wider = self._descendants(order, graph.successors, self._reached)
            if wider == self._reached:
                break
            self._reached = wider

    def bits(self, steps: Iterable[str]) -> Bits:
        """Return the set of `steps`."""
        found = 0
        for step in steps:
            found |= self._bit[step]
        return found

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
        found = 0
        for step in steps:
            found |= self._after[step]
        return found

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


def _children_first(graph: Graph) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in graph.steps:
        stack = [] if root in seen else [(root, iter(graph.forward[root]))]
        seen.add(root)
        while stack:
            step, targets = stack[-1]
            target = next((one for one in targets if one not in seen), None)
            if target is None:
                order.append(step)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(graph.forward[target])))
    return order
