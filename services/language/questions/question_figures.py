"""The days, the limits and the counts of a chart question; like ones as one. Pure."""

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from services.language.charts.chart_parts import REPORTS
from services.language.charts.chart_pieces import Label, Piece
from services.language.charts.chart_words import Lexicon
from services.language.utterance import Aspect, ChartQuestion, TimeSpan
from services.language.words.people_words import of_people

_TAKES_DAYS = frozenset({"results", "procedures", "encounters", "timeline", "documents", "changes"})
_TAKES_LAST_DAY = frozenset({"results", "timeline", "changes"})
_WHOLE = frozenset({"chart_summary", "current_status"})
_STATES = frozenset({"medications", "problems"})
_COUNTED = frozenset(
    {"encounters", "procedures", "immunizations", "documents", "imaging_reports",
     "pathology_reports"}
)  # fmt: skip
_MOST_ROWS = 50
_SHORT_DAYS = 92
OVER_TIME: Final[frozenset[Aspect]] = frozenset(
    {"minimum", "maximum", "extremes", "average", "count", "change", "trend", "first", "when"}
)
"""What is worked out over all values."""
_FROM_THE_END = frozenset({"results", "encounters", "procedures", "immunizations", *REPORTS})
_OF_SOME_VALUES: Final[frozenset[Aspect]] = frozenset({"minimum", "maximum", "extremes", "average"})
"""What is worked out over as many values as are asked for: the mean of the last three."""
_ENDS: Final[frozenset[Aspect]] = frozenset({"minimum", "maximum", "first", "latest"})
_COUNTED_OFF = _FROM_THE_END | {"documents"}
"""Tools of whose rows as many from an end are told as are asked for."""
ALL_VALUES = 1_000
"""As many values as the tool gives, for what is counted or compared over all of them."""


def hull_of(spans: Sequence[TimeSpan]) -> TimeSpan | None:
    """Return the days from the first to the last that are named: "2020 versus 2015"."""
    first, last = [one.since for one in spans], [one.until for one in spans]
    since, until = [one for one in first if one], [one for one in last if one]
    if len(spans) > 1 and len(since) == len(until) == len(spans):
        return TimeSpan(min(since), max(until), " ".join(one.text for one in spans))
    return spans[0] if spans else None


def told_apart(
    questions: Sequence[ChartQuestion], span: TimeSpan | None, spans: Sequence[TimeSpan]
) -> Iterator[tuple[TimeSpan | None, list[ChartQuestion]]]:
    """Yield the days with what is asked of them: of two years each has a mean of its own."""
    is_whole = span != spans[0] if len(spans) > 1 else True
    apart = [
        one
        for one in questions
        if len(spans) > 1
        and one.tool == "results"
        and (not is_whole or one.aspect in _OF_SOME_VALUES | {"count"})
    ]
    ends = tuple(spans) if len(spans) > 1 and is_whole else ()
    yield span, [replace(one, ends=ends) for one in questions if one not in apart]
    yield from ((each, apart) for each in spans if apart)


def over_days(
    aged: Sequence[ChartQuestion],
    asked: Sequence[ChartQuestion],
    spans: Sequence[TimeSpan],
    *,
    span: TimeSpan | None,
    numbers: Sequence[tuple[int, float]],
    pieces: Sequence[Piece],
) -> Iterator[ChartQuestion]:
    """Yield what is asked of an age and of each span of days: both in "in 2019 vs at birth"."""
    for days, each in ((None, aged), *told_apart(asked, span, spans)):
        counted = _COUNTED if days and len(spans) > 1 else ()  # "visits in 2018 vs 2019"
        years = (
            replace(one, rate="per year") if one.aspect == "count" and one.tool in counted else one
            for one in each
        )
        for one in merged(with_figures(one, days, numbers, pieces) for one in years):
            yield from _with_one_before(one)


def _with_one_before(question: ChartQuestion) -> Iterator[ChartQuestion]:
    """Yield the question, of a day and the time before as two: "K on 5/1, and the time before"."""
    day = question.span
    if day is None or day.since is None or day.since != day.until or question.back != 1:
        yield question
        return
    yield (of_day := replace(question, back=0))
    rest = {name: value for name, value in question.arguments.items() if name != "since"}
    earlier = TimeSpan(until=day.since - timedelta(days=1))
    yield with_days(replace(of_day, arguments={**rest, "last": 1}), earlier)


def numbers_in(pieces: Sequence[Piece], words: Lexicon) -> Iterator[tuple[int, float]]:
    """Yield the figures with their places among the pieces."""
    figures = ((at, figure_in(piece, words)) for at, piece in enumerate(pieces))
    yield from ((at, figure) for at, figure in figures if figure is not None)


def figure_in(piece: Piece, words: Lexicon) -> float | None:
    """Return the figure that a piece is; articles count nothing."""
    said = piece.text.removesuffix("%")
    if said.replace(".", "", 1).isdigit():
        return float(said)
    is_article = said in ("one", "a", "an", *of_people("articles"))
    return None if is_article or said not in words.numbers else float(words.numbers[said])


def counts_last(pieces: Sequence[Piece]) -> bool:
    """Whether so many of the last are asked for: the last 3 appointments."""
    pairs = pairwise(pieces)
    return any("latest" in one.of("aspect") and count.text.isdigit() for one, count in pairs)


def with_figures(
    question: ChartQuestion,
    span: TimeSpan | None,
    numbers: Sequence[tuple[int, float]],
    pieces: Sequence[Piece],
) -> ChartQuestion:
    """Return the question with its days, its limit ("above 5") and its count ("last 3")."""
    found = _whole_status(question) if span is None else with_days(question, span)
    for at, number in numbers:
        behind = pieces[max(0, at - 2) : at]
        before = [label.kind for piece in behind for label in piece.labels]
        # "Dropped more than 1" is no value; "dropped below 10" is one.
        is_of_change = question.aspect == "change" and any(len(one.words) > 1 for one in behind)
        is_counted = any("latest" in one.of("aspect") for one in behind[-1:])  # "over the last 3"
        is_limited = question.tool == "results" and not (is_of_change or is_counted)
        if ("above" in before or "below" in before) and is_limited:
            is_above = "above" in before
            or_equal = any("or_equal" in one.of("frame") for one in behind)
            found = replace(found, or_equal=or_equal, above=number if is_above else found.above)
            found = found if is_above else replace(found, below=number)
            continue
        if question.tool == "results" and (ends := _ends_around(pieces, at, numbers)):
            found = replace(found, above=ends[0], below=ends[1])
            continue
        is_lower = at > 1 and pieces[at - 1].text == "/" and pieces[at - 2].text[:1].isdigit()
        if (found.above or found.below) is not None and is_lower:  # of 140/90 the 90
            found = replace(found, lower_limit=number)
            continue
        around = [each for piece in pieces[max(0, at - 2) : at + 3] for each in piece.of("aspect")]
        if number == int(number) and 1 < number <= _MOST_ROWS:
            found = _of_count(found, int(number), around)
    return found


def _of_count(question: ChartQuestion, count: int, around: Collection[Aspect]) -> ChartQuestion:
    """Return the question for so many rows, `around` being the aspects beside the figure."""
    is_before = bool(question.back) and question.aspect == "latest"  # "the two before that"
    if not is_before and "latest" in around and question.tool in ("results", "encounters"):
        last = {**question.arguments, "last": count}
        aspect = question.aspect if question.aspect in _OF_SOME_VALUES else "all"
        return replace(question, arguments=last, aspect=aspect)
    is_course = question.aspect == "trend" and "first" in around  # "first two values"
    aspect = "first" if is_course else question.aspect
    is_end = question.tool in _COUNTED_OFF and aspect in {*around} & _ENDS
    if is_before or is_end:
        return replace(question, aspect=aspect, most=count)
    is_each = question.aspect == "latest" and question.tool in AGAIN
    # The tool gives them all, the newest first.
    return replace(question, aspect="all") if is_each else question


def _ends_around(
    pieces: Sequence[Piece], at: int, numbers: Sequence[tuple[int, float]]
) -> tuple[float, float] | None:
    """Return two limits of which the figure is one: "between 100 and 120"."""
    figures = dict(numbers)
    pairs = ((n, n + gap) for gap in (1, 2) for n in (at, at - gap))
    both = (
        (figures[low], figures[high])
        for low, high in pairs
        if low > 0 and {low, high} <= figures.keys() and "apart" in pieces[low - 1].of("frame")
    )
    return next(both, None)


def in_place(question: ChartQuestion, said: Piece, *, is_last_too: bool) -> ChartQuestion:
    """Return the question for the one so many before an end, or for all from the newest to it."""
    (place, *_), ends = said.of("place"), said.of("aspect")
    if "first" in ends and "last" not in question.arguments:
        is_again = question.tool in AGAIN and bool(question.name)
        counted = replace(question, back=place - 1)
        # Of a whole list nobody knows from which end it is counted: all of it is told.
        return counted if is_again else replace(question, unread=said.text, aspect="all")
    is_of_both = is_last_too and question.tool not in ("results", "encounters")  # all are told
    if is_of_both or question.tool not in _FROM_THE_END:
        return question
    if question.aspect in _OF_SOME_VALUES and question.aspect not in ends:
        return question  # "the highest and the one before it"
    if is_last_too:
        return replace(question, arguments={**question.arguments, "last": place}, aspect="all")
    aspect = question.aspect if question.aspect in _OF_SOME_VALUES else "latest"
    return replace(question, aspect=aspect, back=place - 1)


def since_last(question: ChartQuestion) -> ChartQuestion:
    """Return the question for how the newest value differs from the one before it."""
    if question.tool != "results":
        return question
    return replace(question, arguments={**question.arguments, "last": 2}, aspect="change")


def with_rate(question: ChartQuestion, frames: AbstractSet[str]) -> ChartQuestion:
    """Return the question with what its change is told in, or each year's count: "per year"."""
    is_counted = "a_year" in frames and question.aspect == "count"
    if question.tool == "results" and "percent" in frames:
        return replace(question, rate="percent")
    if not is_counted and "per_year" not in frames:
        return question
    if question.tool in _COUNTED:
        return replace(question, rate="per year", aspect="count")
    if question.tool == "results":
        is_one = question.aspect in ("all", "latest")
        return replace(question, rate="per year", aspect="trend" if is_one else question.aspect)
    return question


def arguments_of(question: ChartQuestion) -> dict[str, object]:
    """Return what the tool is called with; all values where fewer would give a wrong answer.

    The highest of twelve values is not the highest on record.
    """
    arguments = dict(question.arguments)
    if question.tool == "encounters" and question.name:
        arguments.pop("last", None)  # the last of its kind are not among the last of all
    has_limit = question.above is not None or question.below is not None
    is_of_days = question.span is not None or question.near is not None
    is_of_days |= bool(question.month)
    over_all = question.aspect in OVER_TIME or question.back or has_limit or is_of_days
    if question.tool == "results" and over_all:
        arguments.setdefault("last", ALL_VALUES)
    return arguments


def arguments_of_then(question: ChartQuestion) -> dict[str, Any]:
    """Return the arguments for days that are past: what was taken then may have ended since."""
    of_all = {"status": "all"} if question.tool in _STATES else {}
    return {**of_all, **question.arguments}


def with_days(question: ChartQuestion, span: TimeSpan | None) -> ChartQuestion:
    """Return the question for the days of `span`, also told to its tool where it takes them."""
    if span is None:
        return question
    if question.tool in _WHOLE and not question.name:
        question = replace(question, tool="timeline", arguments={})  # a summary of some days
    arguments = arguments_of_then(question)
    if question.tool in _TAKES_DAYS and span.since is not None:
        arguments["since"] = span.since.isoformat()
    if question.tool in _TAKES_LAST_DAY and span.until is not None:
        arguments["until"] = span.until.isoformat()
    is_short = span.since and span.until and (span.until - span.since).days <= _SHORT_DAYS
    if question.tool == "timeline" and is_short:
        arguments.setdefault("kinds", ["all"])  # of a month all that happened is told
    return replace(question, arguments=arguments, span=span)


def _whole_status(question: ChartQuestion) -> ChartQuestion:
    """Return the question for all of a status whose newest is asked for: it is no list of rows."""
    is_newest = (question.tool, question.name, question.aspect) == ("current_status", "", "latest")
    return replace(question, aspect="all") if is_newest else question


def merged(questions: Iterator[ChartQuestion]) -> Iterator[ChartQuestion]:
    """Yield results that are asked for alike as one question, and nothing twice."""
    kept: list[ChartQuestion] = []
    for question in questions:
        alike = next((each for each in kept if _is_like(each, question)), None)
        if alike is None:
            kept.append(question)
        elif "names" in alike.arguments and "names" in question.arguments:
            names = dict.fromkeys([*alike.arguments["names"], *question.arguments["names"]])
            merged = replace(
                alike,
                arguments={**alike.arguments, "names": list(names)},
                name=", ".join(names),
                said="",
                part=alike.part or question.part,
            )
            kept[kept.index(alike)] = merged
    yield from kept


def _is_like(one: ChartQuestion, other: ChartQuestion) -> bool:
    if one.tool != other.tool or (one.at_age, one.head) != (other.at_age, other.head):
        return False
    if "treatment" in {one.part, other.part} and one.part != other.part:
        return False  # "since when has she gout, and how is it treated?"
    if "count" in {one.aspect, other.aspect} and one.aspect != other.aspect:
        return False  # "how many visits, and whom did she see?"
    is_told_alike = (one.aspect, one.unit) == (other.aspect, other.unit)
    if not is_told_alike and "names" in one.arguments:
        return False  # "the highest hemoglobin and the lowest platelets"
    both_named = "names" in one.arguments and "names" in other.arguments
    # Two illnesses are read off the same list of problems.
    return both_named or (one.arguments == other.arguments and one.name == other.name)


AGAIN = frozenset({"immunizations", "procedures", "problems", "encounters"})
"""The tools whose rows happen again, each time on a day of its own."""


def with_ordinals(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces`, a word that counts from the first one beside what can be counted so.

    Where nothing is named it counts what was told before: "when was the second?".
    """
    places = {one: at for at, said in words.words.ordinals.items() for one in said}
    # What names something, or nobody knows what it is.
    named = (one for one in pieces if not one.labels or one.of("name") or one.of("topic"))
    is_of_told = not any(one.text not in places and one.text[-1:].isalnum() for one in named)
    return [
        Piece(piece.words, (Label("place", places[piece.text]), Label("aspect", "first")))
        if piece.text in places
        and (is_of_told or any(map(_happens, (*pieces[at + 1 : at + 2], *pieces[:at][-1:]))))
        else piece
        for at, piece in enumerate(pieces)
    ]


def _happens(piece: Piece) -> bool:
    named = {one.tool for one in (*piece.of("name"), *piece.of("topic"))}
    return bool(named & (AGAIN | {"results", "medications"})) or "dose" in piece.of("part")
