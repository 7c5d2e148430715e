"""The way through a new version that a session would have come (M4, M5, M9).

Only its own path counts: between the anchors it visited one after the other, the new version's
route is followed; where that forks as before, along the branch it really took; where the fork is
new or changed, as the facts decide.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from pydantic import JsonValue

from services.scenarios.definition.graph import Branch
from services.scenarios.migration.case import OwnWay
from services.scenarios.migration.plans.move import Move

NESTING_LIMIT = 40
"""So many undecided forks in a row are looked through before one is asked about anyway."""
LOOKS_LIMIT = 2_000
"""So many ways on of one session, each with what can be met again; beyond that, forks are asked."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """The route leads to the session's own anchor."""

    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diverted:
    """A fork on the route leads away from the anchor."""

    steps: tuple[str, ...]
    fork: str
    branch: Branch


@dataclass(frozen=True, slots=True)
class Undecided:
    """A fork needs `fields` before it can be known where the route leads."""

    steps: tuple[str, ...]
    fork: str
    fields: tuple[str, ...]


Route: TypeAlias = Arrived | Diverted | Undecided


@dataclass(frozen=True, slots=True)
class _Leg:
    """From one anchor the session visited to the next one.

    Attributes:
        taken: Where the session really went from the start, as a step of the new version.
    """

    start: str
    end: str
    taken: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is, and how it came there.

    Attributes:
        is_free: A judged fork led past the session's own next anchors; only the goal counts.
    """

    leg: int
    step: str
    steps: tuple[str, ...]
    seen: frozenset[str] = frozenset()
    is_free: bool = False
    nesting: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class RouteFinder:
    """Walks one session's route to `goal`, the image of its current step.

    Attributes:
        work: What is to be made up for at each step; two routes that differ in nothing of it are
            the same to the session.
        way: What of the new version this session can still walk.
        unsafe: Whether a completed checkpoint forbids to go to a step.
        may_divert: Whether a fork may lead away from the goal; if not, only the ways that lead
            there count, and the first of them where no condition holds.
    """

    move: Move
    goal: str
    way: OwnWay
    values: Mapping[str, JsonValue]
    work: Callable[[], Mapping[str, frozenset[str]]]
    unsafe: Callable[[str], bool]
    may_divert: bool = True

    def __post_init__(self) -> None:
        self._legs = _legs(self.move, self.way.path, self.goal)
        self._explored: dict[tuple[int, str, bool, frozenset[str]], Route] = {}

    @cached_property
    def _work(self) -> Mapping[str, frozenset[str]]:
        """Looked up only where a fork is open, which is seldom."""
        return self.work()

    def find(self) -> Route:
        """Return the route, or the first fork that must be decided.

        Raises:
            ScenarioConditionError: a condition cannot be decided from values of these types.
        """
        return self._walk(self._next_leg(-1, ()))

    def _walk(self, place: _Place | None) -> Route:
        steps: tuple[str, ...] = ()
        while place is not None:
            steps = place.steps
            if self._is_over(place):
                place = None if place.is_free else self._next_leg(place.leg, steps)
                continue
            branches = self._ways(place.step)
            chosen = branches[0] if len(branches) == 1 else self._judge(place, branches)
            if chosen is None:
                place = None if place.is_free else self._next_leg(place.leg, steps)
            elif isinstance(chosen, Branch):
                place = self._onwards(place, chosen.target)
            else:
                return chosen
        return Arrived(steps)

    def _next_leg(self, leg: int, steps: tuple[str, ...]) -> _Place | None:
        for index in range(leg + 1, len(self._legs)):
            start = self._legs[index].start
            steps = steps if steps[-1:] == (start,) else (*steps, start)
            if self._legs[index].end in self.way.reached_from(start):
                return _Place(index, start, steps)
        return None

    def _is_over(self, place: _Place) -> bool:
        """Whether the leg ends here: at its end, at the goal, or where no way leads to the goal."""
        moved = bool(place.seen)
        ends = {self.goal} if place.is_free else {self.goal, self._legs[place.leg].end}
        return (
            (moved and place.step in ends)
            or place.step in place.seen
            or not self._ways(place.step)
            or self.goal not in self.way.reached_from(place.step)
        )

    def _ways(self, step: str) -> tuple[Branch, ...]:
        """The branches of `step` that count: none that only leads back from ahead."""
        every = self.move.new.branches(step)
        branches = tuple(one for one in every if not self.way.leads_back(step, one.target))
        if self.may_divert:
            return branches
        return tuple(branch for branch in branches if self._leads_on(branch))

    def _leads_on(self, branch: Branch) -> bool:
        return self.goal in self.way.reached_from(branch.target)

    def _onwards(self, place: _Place, target: str) -> _Place:
        end = self._legs[place.leg].end
        return _Place(
            leg=place.leg,
            step=target,
            steps=(*place.steps, target),
            seen=place.seen | {place.step},
            is_free=place.is_free or end not in self.way.reached_from(target),
            nesting=place.nesting,
        )

    def _judge(self, place: _Place, branches: tuple[Branch, ...]) -> Branch | Route | None:
        """Choose a branch; None where no branch holds, a route where that settles it."""
        if (taken := self._taken(place, branches)) is not None:
            return taken
        possible, missing = _possible(branches, self.values)
        if not missing:
            # Where no condition holds, the one that does may lead elsewhere.
            kept = possible if self.may_divert else [*possible, *branches]
            return self._settled(place, kept[0]) if kept else None
        if place.nesting >= NESTING_LIMIT or len(self._explored) >= LOOKS_LIMIT:
            return Undecided(place.steps, place.step, missing)
        # Ask only if the answer changes where the session lands or what it must make up for.
        routes = [self._supposed(place, branch) for branch in possible]
        open_ways = [
            route
            for route in routes
            if not (isinstance(route, Diverted) and self.unsafe(route.branch.target))
        ] or routes
        if len({self._meaning(place, route) for route in open_ways}) == 1:
            return replace(open_ways[0], steps=(*place.steps, *self._common(open_ways)))
        return Undecided(place.steps, place.step, missing)

    def _taken(self, place: _Place, branches: tuple[Branch, ...]) -> Branch | None:
        taken = self._legs[place.leg].taken
        if place.seen or taken is None or not self.move.leads_as_before(place.step):
            return None
        return next((branch for branch in branches if branch.target == taken), None)

    def _settled(self, place: _Place, branch: Branch) -> Branch | Route:
        if self._leads_on(branch):
            return branch
        return Diverted(place.steps, place.step, branch)

    def _common(self, routes: Sequence[Route]) -> tuple[str, ...]:
        """Return the steps on every route, and those of the first that leave work.

        Which of the others was gone is only supposed, and depends on how the fork is written.
        """
        shared = frozenset(routes[0].steps).intersection(*(route.steps for route in routes))
        return tuple(step for step in routes[0].steps if step in shared or step in self._work)

    def _supposed(self, place: _Place, branch: Branch) -> Route:
        """Return the rest of the route if `branch` were taken, as who knows all would walk it.

        Of where it came along only that counts which can be met again: there the leg ends.
        """
        if not isinstance(self._settled(place, branch), Branch):
            return Diverted((), place.step, branch)
        onwards = replace(self._onwards(place, branch.target), steps=(branch.target,),
                          nesting=place.nesting + 1)  # fmt: skip
        ahead = self.way.reached_from(branch.target)
        key = onwards.leg, onwards.step, onwards.is_free, onwards.seen & {*ahead, branch.target}
        if key not in self._explored:
            self._explored[key] = self._walk(onwards)
        return self._explored[key]

    def _meaning(self, place: _Place, route: Route) -> tuple[str, str, frozenset[str]]:
        steps = (*place.steps, *route.steps)
        work = frozenset(one for step in steps for one in self._work.get(step, ()))
        match route:
            case Arrived():
                return "land", self.goal, work
            case Diverted():
                return "divert", route.branch.target, work
            case Undecided():
                return "ask", route.fork, work


def _possible(
    branches: tuple[Branch, ...], values: Mapping[str, JsonValue]
) -> tuple[list[Branch], tuple[str, ...]]:
    """The branches that may be taken, and the fields of the first one that is undecided."""
    possible: list[Branch] = []
    missing: tuple[str, ...] = ()
    for branch in branches:
        verdict = None if branch.condition is None else branch.condition.judge(values)
        if verdict is not None and verdict.value is False:
            continue
        possible.append(branch)
        if verdict is None or verdict.value:
            break
        missing = missing or verdict.missing
    return possible, missing


def _legs(move: Move, path: list[str], goal: str) -> tuple[_Leg, ...]:
    """From the new entry through the images of the visited anchors to the goal."""
    legs: list[_Leg] = []
    place, taken = move.new.entry, None
    for index, step in enumerate(path):
        if (visited := move.image.get(step)) is None:
            continue
        if visited != place:
            legs.append(_Leg(place, visited, taken))
            place = visited
        following = path[index + 1] if index + 1 < len(path) else None
        taken = move.image.get(following) if following else None
    if place != goal:
        legs.append(_Leg(place, goal, taken))
    return tuple(legs)
