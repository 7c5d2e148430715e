"""How long something lasted, how far two things are apart, and how it was and is now. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.language.charts.chart_parts import QuestionPart, is_of_values
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon
from services.language.charts.tools_named import OVER, SEARCH
from services.language.questions.events_asked import relations_of
from services.language.questions.question_figures import hull_of
from services.language.questions.single_questions import GROWTH
from services.language.utterance import ChartQuestion, TimeSpan

_DATED = frozenset(
    {"problems", "procedures", "immunizations", "medications", "encounters", "imaging_reports",
     "pathology_reports", "documents"}
)  # fmt: skip


def with_lengths(
    asked: Sequence[ChartQuestion], pieces: Sequence[Piece], words: Lexicon, *, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what is asked, with that its length is; of a value only since when it is known."""
    said = next((piece for piece in pieces if "lasting" in piece.of("frame")), None)
    if said is None:
        return tuple(asked)
    behind = [*pieces][[*pieces].index(said) :]
    ends = [at for at, one in enumerate(behind) if one.text in (*words.words.joints, ",")]
    sides = {relations_of(words).get(one.text) for one in behind[: min(ends, default=None)]}
    is_apart = any("apart" in piece.of("frame") or piece.text == "&" for piece in pieces)
    is_apart |= not sides.isdisjoint({"before", "after"})
    is_apart &= [one.part for one in asked] != ["end"]  # "how long until it healed"
    if [one.part for one in asked] == ["effect"]:  # "how long did it work"
        asked = (*asked, ChartQuestion(SEARCH, GROWTH))
    is_apart |= any(one.arguments == GROWTH for one in asked)
    if "latest" in pieces[-1].of("aspect"):  # "how long did it last": no last one
        asked = [replace(one, aspect="when") if one.aspect == "latest" else one for one in asked]
    return tuple(_with_length(one, today, is_apart=is_apart) for one in asked)


def with_both_ends(pieces: list[Piece], words: Lexicon) -> list[Piece]:
    """Return two ends as two things: "how many days from the stroke to the operation"."""
    if not any("lasting" in piece.of("frame") for piece in pieces):
        return pieces
    return [Piece(("&",)) if piece.text in words.words.ends else piece for piece in pieces]


def _with_length(question: ChartQuestion, today: date, *, is_apart: bool) -> ChartQuestion:
    is_of_visits = question.tool == "encounters" and not question.name and not is_apart
    if is_of_visits and question.aspect == "when":
        return replace(question, aspect="first", asked_on=today)  # since when somebody comes
    if question.tool in _DATED:
        aspect = "when" if question.aspect == "count" else question.aspect
        is_ranked = question.tool in OVER and aspect in ("minimum", "maximum")
        every = {"status": "all", **question.arguments} if is_ranked else question.arguments
        return replace(question, arguments=every, aspect=aspect, asked_on=today, is_apart=is_apart)
    is_one = question.tool == "results" and (is_apart or question.aspect in ("latest", "first"))
    if is_one or question.arguments == GROWTH:
        return replace(question, asked_on=today, is_apart=is_apart)
    return question  # how long it was high is not worked out


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
        free = (one for one in part.pieces if not one.of("name"))  # "… of current medications"
        said = {one for piece in free for one in (piece.text, *piece.words)}
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
        part.aspects = {"change"} if is_of_values(part) else part.aspects - {"latest"}
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
