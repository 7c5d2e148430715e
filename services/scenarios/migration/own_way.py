"""The new version as one session can still walk it (M9, M10).

A loop that lies ahead of the session must decide nothing behind it: edges that lead from the
session's step, or from what lies ahead of it, back into its own path are no way to where it stands.
"""

from functools import cached_property
from typing import TypeAlias

from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.graph import Graph, Reach, reachable
from services.scenarios.migration.plans.move import Move

Edge: TypeAlias = tuple[str, str]


class OwnWay:
    """Answers for one session in one move; every search is made once.

    Attributes:
        path: The old ids of the steps that led the session to where it is, without the loops it
            went; its current one last.
    """

    def __init__(self, *, session: ScenarioSession, move: Move) -> None:
        self._move = move
        path = [step for step in session.path if step in move.old.steps]
        if session.step is not None and (not path or path[-1] != session.step):
            path.append(session.step)
        self.path = path = _without_loops(path)
        self._visited = frozenset(move.image[step] for step in path if step in move.image)

    def reached_from(self, step: str) -> frozenset[str]:
        """Every new step that can follow `step` on the session's own way, itself included."""
        return self._reach.of(step)

    def leads_back(self, step: str, target: str) -> bool:
        """Whether the new edge leads from ahead of the session back into its path."""
        return (step, target) in self._returning

    def is_after(self, step: str, earlier: str) -> bool:
        """Whether the new `step` lies strictly after `earlier`, loops of both versions cut open."""
        return self._reach_in_both.is_after(step, earlier)

    def comes_again(self, step: str, landing: str) -> bool:
        """Whether the new `step` lies ahead of one who goes on from `landing`."""
        return step != landing and step in self._reach_in_both.of(landing)

    def is_after_in_old(self, step: str, earlier: str) -> bool:
        """Whether the old `step` lies strictly after `earlier` on what the session had ahead."""
        return self._reach_in_old.is_after(step, earlier)

    def fields_read_from(self, landing: str) -> frozenset[str]:
        """The fields that `landing` or what follows it uses, before a loop leads back."""
        new = self._move.new
        if not self._returning:
            return new.fields_read_from(landing)
        return frozenset().union(*map(new.fields_read_at, self.reached_from(landing)))

    @cached_property
    def _reach(self) -> Reach:
        return _reach(self._move.new, self._returning)

    @cached_property
    def _reach_in_both(self) -> Reach:
        return _reach(self._move.new, self._returning_in_both)

    @cached_property
    def _reach_in_old(self) -> Reach:
        return _reach(self._move.old, self._returning_in_old)

    @cached_property
    def _ahead_in_old(self) -> frozenset[str]:
        """The session's old step and all that it reaches without entering its path again."""
        current, old = self.path[-1], self._move.old
        on_path = frozenset(self.path)
        return reachable(
            [current], lambda step: (s for s in old.successors[step] if s not in on_path)
        )

    @cached_property
    def _returning(self) -> frozenset[Edge]:
        """The new edges that lead back from the session's step or from ahead of it."""
        new = self._move.new
        sources = {self._move.image[s] for s in self._ahead_in_old if s in self._move.image}
        if not sources or not self._visited:
            return frozenset()
        # A step that is new and met only behind those lies ahead, too.
        met = reachable([new.entry], lambda s: () if s in sources else new.successors[s])
        sources |= new.steps.keys() - met - {*self._move.image.values()}
        return frozenset(
            (step, target)
            for step in sources
            for target in new.successors[step]
            if target in self._visited
        )

    @cached_property
    def _returning_in_both(self) -> frozenset[Edge]:
        """Those of them that the old version has too; a new loop may do things twice."""
        former = self._move.preimage
        return frozenset(
            (step, target)
            for step, target in self._returning
            if step in former and former[target] in self._move.old.successors[former[step]]
        )

    @cached_property
    def _returning_in_old(self) -> frozenset[Edge]:
        on_path = frozenset(self.path)
        return frozenset(
            (step, target)
            for step in self._ahead_in_old
            for target in self._move.old.successors[step]
            if target in on_path
        )


def _without_loops(path: list[str]) -> list[str]:
    """Return the path as if each loop had not been gone: what lay in it lies ahead again."""
    direct: list[str] = []
    for step in path:
        if step in direct:
            del direct[direct.index(step) :]
        direct.append(step)
    return direct


def _reach(graph: Graph, cut: frozenset[Edge]) -> Reach:
    """Return what follows what without the edges of `cut`."""
    if not cut:
        return graph.reach
    return Reach(ways=lambda step: (to for to in graph.successors[step] if (step, to) not in cut))
