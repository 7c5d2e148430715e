"""What is said once for several questions of one message, or of then and of now. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from services.language.chart_parts import QuestionPart, is_of_values
from services.language.chart_pieces import Piece
from services.language.chart_words import Lexicon
from services.language.question_figures import hull_of
from services.language.tools_named import tool_of
from services.language.utterance import Aspect, Part, TimeSpan

_YEAR_DAYS = 366


_BOTH: frozenset[Part] = frozenset({"range", "treatment"})

_OF_TIME: frozenset[Aspect] = frozenset(
    {"trend", "change", "latest", "first", "minimum", "maximum"}
)


def share(parts: Sequence[QuestionPart]) -> None:
    """Give each part what is said once for several: "sodium and potassium trend"."""
    for earlier, later in pairwise(parts):
        later.aspects = later.aspects or (set() if later.is_asked_anew else earlier.aspects)
        later.unit, earlier.unit = later.unit or earlier.unit, earlier.unit or later.unit
        later.frames = later.frames or earlier.frames - {"size"}
    for later, earlier in pairwise(reversed(parts)):
        if is_of_values(earlier) and is_of_values(later):
            earlier.aspects = earlier.aspects or later.aspects
        is_given = [(one.tool, one.name) for one in later.topics] == [("immunizations", "")]
        if is_given and later.runs and earlier.runs and not earlier.topics:
            earlier.topics = later.topics  # "gegen Hepatitis A und B geimpft?"


def treat_the_same(parts: Sequence[QuestionPart]) -> None:
    """Ask how the illness before is treated: "since when has he gout, and what is the therapy?"."""
    for earlier, later in pairwise(parts):
        known = [tool_of(run, earlier) for run in earlier.runs]
        topics = [(topic.tool, topic.name) for topic in later.topics]
        is_bare = not any(run.known for run in later.runs)
        is_for_it = topics == [("medications", "")] and any(
            piece.of("for_it") for piece in later.pieces
        )
        of_visits = {topic.tool for topic in earlier.topics} == {"encounters"}
        if of_visits and topics == [("procedures", "")] and is_bare:
            earlier.parts, later.topics, later.runs = ["treatment"], [], []
        told_by = ([("current_status", "treatment")], [("procedures", "")])  # "what was done"
        is_treatment = is_for_it or (topics in told_by and not later.aspects)
        if known == ["problems"] and is_bare and is_treatment:
            later.runs, later.topics, later.parts = earlier.runs, [], ["treatment"]


def each_half(part: QuestionPart) -> Iterator[QuestionPart]:
    """Yield a question as two, where other rows answer its halves.

    "BP ok? on what?" asks for the value and for drugs, "how many visits, and whom did she see?" for
    a number and for names, "K: avg, min, max" for what is worked out and for values.
    """
    halves = {*part.parts} >= _BOTH and is_of_values(part)
    of_visits = {topic.tool for topic in part.topics} == {"encounters"}
    is_ranked = is_of_values(part) and "average" in part.aspects
    if is_ranked and (ends := part.aspects & {"minimum", "maximum"}):
        yield replace(part, aspects={"average"})
        yield replace(part, aspects=ends)
    elif "treatment" in part.parts and is_of_values(part) and part.aspects & _OF_TIME:
        yield replace(part, parts=[one for one in part.parts if one != "treatment"])
        yield replace(part, aspects=set())  # "BP over the years, on what?"
    elif halves:
        yield from (replace(part, parts=[one]) for one in sorted(_BOTH))
    elif of_visits and "count" in part.aspects and part.is_latest_too:
        yield replace(part, aspects=part.aspects - {"latest"})
        yield replace(part, aspects=part.aspects - {"count"})
    elif of_visits and "count" in part.aspects and "and_who" in part.frames:
        yield replace(part, parts=[])
        yield replace(part, aspects=part.aspects - {"count"})
    else:
        yield part


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
