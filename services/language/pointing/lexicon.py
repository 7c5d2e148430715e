"""The words, names and ids of a store, arranged for looking up."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from services.language.pointing.folding import may_be_misspelt, similar_tokens

_SHAPE = re.compile(r"([A-Za-z]+)([_:.-]?)\d+")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What stored entities are called.

    Attributes:
        tokens: Every word of the live entities, with the ids of those that have it.
        by_length: Those that may be misspelt.
        names: Whole names of two words and more, of all entities, longest first.
        ids: Every id, by its folded form.
        shapes: Forms of ids: letters and what follows them.
    """

    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_length: Mapping[int, Sequence[str]] = field(default_factory=dict)
    names: Sequence[tuple[str, ...]] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    shapes: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(
        cls,
        *,
        tokens: Mapping[str, Sequence[str]],
        names: Collection[tuple[str, ...]],
        ids: Collection[str],
    ) -> "Lexicon":
        """Return the lexicon of a store."""
        by_length: dict[int, list[str]] = {}
        for token in sorted(tokens):
            if may_be_misspelt(token):
                by_length.setdefault(len(token), []).append(token)
        shapes = (match for match in map(_SHAPE.fullmatch, ids) if match is not None)
        return cls(
            tokens=tokens,
            by_length=by_length,
            names=sorted(
                {name for name in names if len(name) > 1}, key=lambda one: (-len(one), one)
            ),
            ids={one.casefold(): one for one in ids},
            shapes=frozenset((match[1].casefold(), match[2]) for match in shapes),
        )

    def meanings(self, word: str) -> dict[str, float]:
        """Return the stored words that `word` may be, 1 for itself and less for similar ones."""
        found = similar_tokens(word, self.by_length)
        if (stem := word.removesuffix("ing")) in self.tokens:  # "ordering" is "order"
            found[stem] = 1.0 if stem == word else 0.9
        if word in self.tokens:
            found[word] = 1.0
        return found

    def scores(self, word: str) -> dict[str, float]:
        """Return how well `word` fits, by id, of those that it fits at all."""
        found: dict[str, float] = {}
        for token, score in self.meanings(word).items():
            for entity_id in self.tokens[token]:
                found[entity_id] = max(score, found.get(entity_id, 0.0))
        return found

    def id_of(self, text: str) -> str | None:
        """Return the stored id that `text` is, case ignored."""
        return self.ids.get(text.casefold())

    def has_shape(self, text: str) -> bool:
        """Whether `text` is formed as stored ids are."""
        match = _SHAPE.fullmatch(text)
        return match is not None and (match[1].casefold(), match[2]) in self.shapes
