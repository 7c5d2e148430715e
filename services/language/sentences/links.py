"""What two facts of a sentence have to do with each other: one after, or because of, another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from services.language.figures.quantities import TIME_UNITS, Quantity
from services.language.sentences.clauses import Clause
from services.language.words.statement_phrases import FoundPhrase
from services.language.words.statement_tables import saying

LinkKind: TypeAlias = Literal[
    "because", "therefore", "after", "before", "during", "except", "given"
]
KINDS: tuple[LinkKind, ...] = get_args(LinkKind)
TOLD = tuple(kind for kind in KINDS if kind != "given")  # "since" may tell a time
EXCEPT = "link:except"
REASONS = frozenset({"link:because", "link:given"})
LINKS = frozenset(f"link:{kind}" for kind in (*KINDS, "by", "caused")) - {EXCEPT} - REASONS
_TAGS = {f"link:{kind}": kind for kind in KINDS}
_ENDS_HALF = frozenset({",", ";", "(", ")", "–", "—"})
_DISTANCE_CHARS = 2


@dataclass(frozen=True, slots=True)
class Link:
    """Two facts, the first of which is told to be after, because of … the second.

    Attributes:
        clauses: All that the sentence states, read as two sentences; of the second from `turn`.
        distance: How far apart they are told to be.
    """

    kind: LinkKind
    first: Clause
    second: Clause
    clauses: tuple[Clause, ...]
    distance: Quantity | None = None
    turn: int = 0

    def turned(self) -> "Link":
        """Return it with what came first, or was the cause, as the second."""
        other: dict[LinkKind, LinkKind] = {"therefore": "because", "before": "after"}
        if self.kind not in other:
            return self
        kind = other[self.kind]
        return replace(self, kind=kind, first=self.second, second=self.first)


def links_in(found: Sequence[FoundPhrase]) -> Iterator[tuple[LinkKind, FoundPhrase]]:
    """Yield the words that link two facts."""
    is_caused = any("link:caused" in one.tags for one in found)
    for one in found:
        if not one.tags.isdisjoint(_TAGS):
            yield from ((kind, one) for tag, kind in _TAGS.items() if tag in one.tags)
        if is_caused and "link:by" in one.tags:
            yield "because", one  # "wurde durch Naproxen verursacht"


def second_of(
    words: Sequence[str], start: int, found: Sequence[FoundPhrase], kind: LinkKind
) -> int:
    """Return where that ends which a sentence begins with behind a linking word.

    It ends at a comma, or before the verb: "Wegen der Hypophysitis erhält er …". What is excepted
    may be several things with commas: "Apart from A, B and C, she takes …".
    """
    commas = [at for at in range(start, len(words)) if words[at] in _ENDS_HALF]
    if commas and (kind == "given" or not saying("who").isdisjoint(words[start : start + 1])):
        return commas[0]  # "Because she has never bled, aspirin may be given"
    verbs = {one.start for one in found if one.start > start and "asserts" in one.tags}
    verb = min(verbs, default=len(words))
    ends = [at for at in range(start, verb) if words[at] in _ENDS_HALF]
    if not ends and kind == "after":  # "After the arthritis had resolved she …"
        return next((at for at in range(start + 2, len(words)) if words[at] in saying("who")), verb)
    return (ends[-1] if kind == "except" else ends[0]) if ends else verb


def distance_before(offset: int, quantities: Sequence[Quantity]) -> Quantity | None:
    """Return the time right before a linking word: "two months before"."""
    near = (one for one in quantities if offset - _DISTANCE_CHARS <= one.end <= offset)
    return next((one for one in near if one.unit in TIME_UNITS), None)
