"""Two versions side by side: what is new, which forks changed, and whom they may lead away."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from services.scenarios.definition.graph import Branch, Graph
from services.scenarios.migration.anchors import AnchorMap
from services.scenarios.migration.move import Move
from services.scenarios.migration.upstream import Bits, Upstream


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
        return tuple(self._away())

    def _away(self) -> Iterator[Away]:
        for fork in self.forks:
            behind = self.images & self.upstream.after(fork)
            for branch in self.new.branches(fork):
                missed = behind & ~self.upstream.reached(branch.target)
                if missed:
                    yield Away(fork, branch, missed)
