"""What a question leaves out by name, and whose it is: "other than insulin", "by Dr. Fay". Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from services.language.chart_parts import may_name
from services.language.chart_pieces import NameIs, Piece
from services.language.chart_words import Lexicon
from services.language.people_words import people_words
from services.language.utterance import ChartQuestion

_LISTS = frozenset({"medications", "allergies", "immunizations", "problems"})


def without_excluded(
    pieces: Sequence[Piece], words: Lexicon
) -> tuple[list[Piece], tuple[NameIs, ...]]:
    """Return `pieces` without what is left out, and its names; all of them where it has none."""
    at = next((place for place, one in enumerate(pieces) if one.of("excluding")), len(pieces))

    def stands_in_it(piece: Piece) -> bool:
        is_between = piece.text in words.connectors or (piece.of("stop") and not piece.of("aspect"))
        return bool(is_between) or may_name(piece, words)

    behind = list(takewhile(stands_in_it, pieces[at + 1 :]))
    named = [piece for piece in behind if may_name(piece, words)]
    names = tuple(one for piece in named for one in piece.of("name"))
    names += tuple(NameIs("", piece.text) for piece in named if not piece.labels)
    left = [*pieces[:at], *pieces[at + 1 + len(behind) :]]
    return (left, names) if names else ([*pieces], ())


def limited(
    asked: Iterable[ChartQuestion], pieces: Sequence[Piece], left_out: Sequence[NameIs]
) -> tuple[ChartQuestion, ...]:
    """Return the questions without what is left out; a drug that is somebody is who ordered it.

    "Anything besides naproxen?" asks for all other drugs.
    """
    without = tuple(one.name for one in left_out)
    lists = [ChartQuestion(one.tool) for one in left_out if one.tool in _LISTS][:1]
    titled = {
        behind.text for title, behind in pairwise(pieces) if title.text in people_words().staff
    }
    return tuple(
        replace(one, arguments={"status": "all"}, name="", by=one.name, aspect="all")
        if one.tool == "medications" and one.name in titled
        else replace(one, without=without)
        for one in [*asked] or lists
    )
