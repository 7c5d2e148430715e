"""Which one of several times is asked for: "the second dose", "her third pregnancy". Pure."""

from collections.abc import Sequence
from itertools import pairwise

from services.language.chart_pieces import Label, Piece
from services.language.chart_words import Lexicon

AGAIN = frozenset({"immunizations", "procedures", "problems", "encounters"})
"""The tools whose rows happen again, each time on a day of its own."""


def with_ordinals(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces`, a word that counts from the first one before what can be counted so."""
    places = {one: at for at, said in words.words.ordinals.items() for one in said}
    found = [
        Piece(piece.words, (Label("place", places[piece.text]), Label("aspect", "first")))
        if piece.text in places and _happens(behind)
        else piece
        for piece, behind in pairwise(pieces)
    ]
    return [*found, *pieces[-1:]]


def _happens(piece: Piece) -> bool:
    named = {one.tool for one in (*piece.of("name"), *piece.of("topic"))}
    return bool(named & (AGAIN | {"results", "medications"})) or "dose" in piece.of("part")
