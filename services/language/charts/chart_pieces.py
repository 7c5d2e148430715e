"""What the words of a chart question may be. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

LabelKind: TypeAlias = Literal[
    "aspect", "above", "below", "part", "people", "frame", "topic", "name",
    "not_chart", "stop", "before", "then", "for_it", "unit", "beyond", "place",
    "excluding",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Label:
    """What a phrase is.

    Attributes:
        value: Which aspect, part or frame; for names the tool and what it is called there.
    """

    kind: LabelKind
    value: Any


@dataclass(frozen=True)
class Piece:
    """Words of a text that belong together, with all that they may be; no label: unknown."""

    words: tuple[str, ...]
    labels: tuple[Label, ...] = ()

    def of(self, kind: LabelKind) -> Sequence[Any]:
        """Return the values of its labels of one kind."""
        return self.by_kind.get(kind, ())

    @cached_property
    def by_kind(self) -> Mapping[LabelKind, Sequence[Any]]:
        """The values of its labels."""
        found: dict[LabelKind, list[Any]] = {}
        for label in self.labels:
            found.setdefault(label.kind, []).append(label.value)
        return found

    @cached_property
    def text(self) -> str:
        """Its words."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class NameIs:
    """A name of the vocabulary: what tool it is for and how the tool is asked for it."""

    tool: str
    name: str


@cache
def name_label(tool: str, name: str) -> Label:
    """Return what a name is; all its phrases of all languages share it."""
    return Label("name", NameIs(tool, name))


def begins(piece: Piece) -> bool:
    """Whether a word behind a name says that its beginning is meant: start, diagnosis."""
    is_start = "when" in piece.of("aspect") and bool(piece.of("not_chart"))
    return is_start or "diagnosed" in piece.of("frame")


def verb_ahead(pieces: Sequence[Piece], at: int, asking: Collection[str]) -> Sequence[Piece]:
    """Return "was wurde beim letzten Besuch gemessen" with its verb before the event, at `at`."""
    *rest, verb = [one for one in pieces if one.text not in "?!.,;"] or [Piece(())]
    is_open = at > 1 and pieces[0].text in asking
    is_open &= not any(one.of("name") or one.of("topic") for one in pieces[:at])
    is_last = not {"had_done", "measured"}.isdisjoint(verb.of("frame"))
    is_last |= any(topic.tool == "timeline" for topic in verb.of("topic"))  # "passiert"
    return (*rest[:at], verb, *rest[at:]) if is_open and is_last else pieces
