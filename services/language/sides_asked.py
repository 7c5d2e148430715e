"""Which one of several like parts of the body is asked for: "which knee". Pure."""

from collections.abc import Sequence

from services.language.chart_pieces import Label, Piece
from services.language.chart_words import Lexicon, lexicon

_WHICH = Piece(("which side",), (Label("part", "side"),))


def with_side_asked(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces` with a part of the body behind "which" put to the name that it is of.

    "Which ankle was sprained" asks for the side of a sprain of the ankle, and for no ankle.
    """
    for at, piece in enumerate(pieces[1:], 1):
        if pieces[at - 1].text in words.words.asking and _has_sides(piece):
            before, rest = pieces[: at - 1], pieces[at + 1 :]
            if any(one.of("name") or one.of("topic") for one in before):
                return [*before, _WHICH, *rest]  # "… and in which arm": of what was named
            ends = [end for end, one in enumerate(rest, 1) if one.of("name")]
            end = ends[0] if ends and len(piece.words) == 1 else 0
            return [*before, _WHICH, *rest[:end], piece, *rest[end:]]
    return list(pieces)


def _has_sides(piece: Piece) -> bool:
    names = (one.name for one in piece.of("name"))
    return not {piece.words[0], *names}.isdisjoint(lexicon("en").words.sided)
