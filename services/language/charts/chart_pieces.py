"""What the words of a chart question may be. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
