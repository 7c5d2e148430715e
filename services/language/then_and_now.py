"""How it was on some days and how it is now, where both are asked for. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.language.chart_parts import QuestionPart, is_of_values
from services.language.chart_pieces import Piece
from services.language.chart_words import Lexicon
from services.language.question_figures import hull_of
from services.language.utterance import TimeSpan

_YEAR_DAYS = 366


def span_to_now(
    spans: Sequence[TimeSpan], parts: Sequence[QuestionPart], words: Lexicon, *, today: date
) -> TimeSpan | None:
    """Return all days of `spans`; from those on that are compared with now: "weight now vs 2012".

    Which one of some days was the last is another question: "the last potassium in 2014".
    """
    span, names = hull_of(spans), sum(len(part.runs) for part in parts)
    is_and_was = names == 1 and _is_of_one_year(spans) and _asks_is_and_was(parts, words)
    for part in parts:
        said = {one for piece in part.pieces for one in (piece.text, *piece.words)}
        is_compared = bool(said & {*words.words.now})
        is_beside = bool(said & {*words.words.compared}) or _has_loose_joint(part.pieces, words)
        is_compared |= is_beside and "latest" in part.aspects
        is_compared |= names == 1 and _is_of_one_year(spans) and _has_bare_limit(part.pieces)
        is_with_now = bool(said & {*words.words.compared}) and names == 1
        is_compared |= is_with_now and _is_of_one_year(spans)  # "weight compared to 2015"
        is_compared |= is_and_was and is_of_values(part)
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


def _asks_is_and_was(parts: Sequence[QuestionPart], words: Lexicon) -> bool:
    """Whether a value and how it was are asked for: "what is the sodium, and what was it …"."""
    said = [word for part in parts for piece in part.pieces for word in piece.words]
    text = f" {' '.join(said)} "
    asks = bool({*said} & {*words.words.is_now})
    return asks and any(f" {one} " in text for one in words.words.was_then)


def _has_bare_limit(pieces: Sequence[Piece]) -> bool:
    """Whether more or less is asked for, and than what is no figure: "higher than in 2019?"."""
    is_limit = any(piece.of("above") or piece.of("below") for piece in pieces)
    return is_limit and not any(piece.text[:1].isdigit() for piece in pieces)


def _is_of_one_year(spans: Sequence[TimeSpan]) -> bool:
    """Whether one time is named, and no two that are told apart: "2019 and 2020 compared"."""
    ends = [(one.since, one.until) for one in spans]
    return len(ends) == 1 and all(
        since is not None and until is not None and (until - since).days <= _YEAR_DAYS
        for since, until in ends
    )


def _has_loose_joint(pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether what a word joins was days, which are told apart: "the last one and 2012"."""
    telling = [piece.text for piece in pieces if piece.text not in ("?", ",")]
    return bool(telling) and bool({telling[0], telling[-1]} & {*words.words.joints})
