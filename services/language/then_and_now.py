"""How it was on some days and how it is now, where both are asked for. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.language.chart_parts import QuestionPart, is_of_values
from services.language.chart_words import Lexicon, Piece
from services.language.utterance import TimeSpan


def span_to_now(
    span: TimeSpan | None, parts: Sequence[QuestionPart], words: Lexicon, *, today: date
) -> TimeSpan | None:
    """Return the days from those that are compared with now on: "weight now vs 2012".

    Which one of some days was the last is another question: "the last potassium in 2014".
    """
    for part in parts:
        said = {one for piece in part.pieces for one in (piece.text, *piece.words)}
        is_compared = bool(said & {*words.words.now})
        is_beside = bool(said & {*words.words.compared}) or _has_loose_joint(part.pieces, words)
        is_compared |= is_beside and "latest" in part.aspects
        is_over = span is not None and span.until is not None and span.until < today
        if span is None or not (is_compared and is_over):
            continue
        if not is_of_values(part):
            part.aspects -= {"latest"}
            span = replace(span, until=None)
        else:
            part.aspects = {"change"}
            span = replace(span, until=None)
    return span


def _has_loose_joint(pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether what a word joins was days, which are told apart: "the last one and 2012"."""
    telling = [piece.text for piece in pieces if piece.text not in ("?", ",")]
    return bool(telling) and bool({telling[0], telling[-1]} & {*words.words.joints})
