"""Which step of a new version is which step of the old one (M2)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from services.scenarios.definition.graph import Graph

AnchorReason: TypeAlias = Literal["mapped", "same", "unique", "neighbours", "modified"]


@dataclass(frozen=True, slots=True)
class AnchorMap:
    """A one-to-one partial map from old step ids to new ones.

    Attributes:
        reasons: Why each old step is an anchor.
        ambiguous: Old steps that have twins in the new version which nothing tells apart.
    """

    image: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, AnchorReason] = field(default_factory=dict)
    ambiguous: tuple[str, ...] = ()


def match_anchors(old: Graph, new: Graph, mapping: Mapping[str, str] | None = None) -> AnchorMap:
    """Return the anchors, surest first: by the operator, hash, neighbours, then id or name."""
    matching = _Matching(old=old, new=new)
    for left, right in (mapping or {}).items():
        matching.pair(left, right, "mapped")
    for step in old.steps:
        if old.hashes[step] == new.hashes.get(step):
            matching.pair(step, step, "same")
    rights = _grouped(matching.right, new.hashes.__getitem__)
    for key, lefts in _grouped(matching.left, old.hashes.__getitem__).items():
        if len(lefts) == len(rights.get(key, [])) == 1:
            matching.pair(lefts[0], rights[key][0], "unique")
    while matching.pair_by_neighbours():
        pass
    hashes = {matching.new.hashes[step] for step in matching.right}
    ambiguous = tuple(step for step in matching.left if matching.old.hashes[step] in hashes)
    matching.pair_modified()
    unpaired = tuple(step for step in ambiguous if step in matching.left)
    return AnchorMap(matching.image, matching.reasons, unpaired)


class _Matching:
    """Anchors found so far and what is left on either side, in order of definition."""

    def __init__(self, *, old: Graph, new: Graph) -> None:
        self.old, self.new = old, new
        self.left = dict.fromkeys(old.steps)
        self.right = dict.fromkeys(new.steps)
        self.image: dict[str, str] = {}
        self.reasons: dict[str, AnchorReason] = {}

    def pair(self, left: str, right: str, reason: AnchorReason) -> None:
        if left in self.left and right in self.right:
            del self.left[left], self.right[right]
            self.image[left], self.reasons[left] = right, reason

    def pair_by_neighbours(self) -> bool:
        """Pair twins that are each other's only best fit by matched neighbours; False at rest."""
        scores = self._scores()
        best_right = _only_best((left, right, n) for (left, right), n in scores.items())
        best_left = _only_best((right, left, n) for (left, right), n in scores.items())
        found = [(a, b) for a, b in best_right.items() if best_left.get(b) == a]
        for left, right in found:
            self.pair(left, right, "neighbours")
        return bool(found)

    def pair_modified(self) -> None:
        """Pair what was edited: by id, then by a name that only one on either side is left of."""
        for step in list(self.left):
            self._pair_alike(step, step)
        names = _grouped(self.right, lambda step: self.new.steps[step].title)
        for name, lefts in _grouped(self.left, lambda step: self.old.steps[step].title).items():
            rights = names.get(name, [])
            if len(lefts) == len(rights) == 1:
                self._pair_alike(lefts[0], rights[0])

    def _pair_alike(self, left: str, right: str) -> None:
        if left not in self.left or right not in self.right:
            return
        before, after = self.old.steps[left], self.new.steps[right]
        if (before.kind, before.is_checkpoint) == (after.kind, after.is_checkpoint):
            self.pair(left, right, "modified")

    def _scores(self) -> Counter[tuple[str, str]]:
        """How many matched neighbours each pair of twins shares."""
        scores: Counter[tuple[str, str]] = Counter()
        ways = (
            (self.old.predecessors, self.new.successors),
            (self.old.successors, self.new.predecessors),
        )
        for left in self.left:
            for old_way, new_way in ways:
                for neighbour in old_way[left]:
                    known = self.image.get(neighbour)
                    for right in new_way[known] if known else ():
                        if right in self.right and self.old.hashes[left] == self.new.hashes[right]:
                            scores[left, right] += 1
        return scores


def _only_best(scores: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return for each first the second with the highest score, unless two share it."""
    best: dict[str, tuple[int, str | None]] = {}
    for first, second, score in scores:
        top, _ = best.get(first, (0, None))
        if score >= top:
            best[first] = (score, None if score == top else second)
    return {first: second for first, (_, second) in best.items() if second is not None}


def _grouped(steps: Iterable[str], key: Callable[[str], Hashable]) -> dict[Hashable, list[str]]:
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for step in steps:
        groups[key(step)].append(step)
    return groups
