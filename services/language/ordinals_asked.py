"""Which one of several times is asked for: "the second dose", "her third pregnancy". Pure."""

from collections.abc import Sequence

from services.language.chart_pieces import Label, Piece
from services.language.chart_words import Lexicon

AGAIN = frozenset({"immunizations", "procedures", "problems", "encounters"})
"""The tools whose rows happen again, each time on a day of its own."""


def with_ordinals(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces`, a word that counts from the first one before what can be counted so.

    Where nothing is named it counts what was told before: "when was the second?".
    """
    places = {one: at for at, said in words.words.ordinals.items() for one in said}
    is_of_told = all(one.text in places or not (_names(one) and one.text[-1:].isalnum())
                     for one in pieces)  # fmt: skip
    return [
        Piece(piece.words, (Label("place", places[piece.text]), Label("aspect", "first")))
        if piece.text in places and (is_of_told or any(map(_happens, pieces[at + 1 : at + 2])))
        else piece
        for at, piece in enumerate(pieces)
    ]


def _names(piece: Piece) -> bool:
    """Whether it names something, or nobody knows what it is."""
    return not piece.labels or bool(piece.of("name") or piece.of("topic"))


def _happens(piece: Piece) -> bool:
    named = {one.tool for one in (*piece.of("name"), *piece.of("topic"))}
    return bool(named & (AGAIN | {"results", "medications"})) or "dose" in piece.of("part")
