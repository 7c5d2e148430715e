"""The time before, after or since what was asked last: "and after that?", "did LDL fall on it?"."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon
from services.language.charts.tools_named import GIVEN
from services.language.follow_ups import other_times
from services.language.questions.events_asked import relations_of
from services.language.utterance import Aspect, ChartQuestion, Relation, TimeSpan

_VALUE = ("results", (), None)
DATED = frozenset({"problems", "procedures", "encounters", "immunizations", "imaging_reports"})
"""Tools of whose rows each has its day, so that a value of that time may be asked for."""


def on_its_side(
    folded: str, about: Sequence[ChartQuestion], before: Sequence[ChartQuestion], words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return what was asked, or values that are named now, of the time beside what was asked last.

    What came before the value that was asked last is another question: "and before?".
    """
    if (drug := _drug_in(before)) is not None and other_times.has_phrase(folded, words.words.on_it):
        return _values_beside(about, [drug], "since")
    said = [one for one in words.pieces(folded) if any(map(str.isalnum, one.text))]
    said = [one for one in said if one.text not in words.words.pointers]
    side = _side_of(said[-1], words) if said else None
    if side is None:
        return ()
    rest = [one for one in said[:-1] if _side_of(one, words) is None]
    if len(rest) < len(said) - 1 and other_times.names_nothing(
        rest, words
    ):  # "and before and after?"
        return (*_same_beside(before, "before"), *_same_beside(before, "after"))
    if other_times.names_nothing(said[:-1], words):
        return () if side == "before" and not before[0].around else _same_beside(before, side)
    if any("treatment" in one.of("part") for one in said):  # "what did he get after that?"
        about = (GIVEN,)
    is_again = {one.name for one in about} <= {one.name for one in before}
    # "The last, and what was it before?", "the last and the one before".
    is_whole = any(one.aspect == "trend" or "last" in one.arguments or one.back for one in about)
    is_own = side == "before" and (is_again or is_whole)
    return () if is_own else _values_beside(about, before, side)


def beside(question: ChartQuestion, side: Relation) -> ChartQuestion:
    """Return the question for what lies before or after the one value that it asked for."""
    aspect: Aspect = "latest" if side == "before" else "all"
    return replace(other_times.of_all_days(question), aspect=aspect, around=(question,), when=side)


def is_one_value(question: ChartQuestion) -> bool:
    """Whether it was asked for one value, so that there are others before and after."""
    is_of_all = question.span is None and not question.around and "last" not in question.arguments
    is_newest = question.aspect in ("all", "when") and is_of_all
    is_limited = question.above is not None or question.below is not None  # the newest beyond it
    is_one = is_newest or is_limited or question.aspect in other_times.OF_ONE_VALUE
    return question.tool == "results" and is_one


def _side_of(last: Piece, words: Lexicon) -> Relation | None:
    if last.of("before"):
        return "before"
    side = relations_of(words).get(last.text)
    return side if side in ("after", "since", "before", "during") else None


def _same_beside(before: Sequence[ChartQuestion], side: Relation) -> tuple[ChartQuestion, ...]:
    if before[0].around:
        return tuple(replace(each, when=side) for each in before)
    if (days := _days_beside(before[0].span, side)) is not None:
        one = (
            tuple(replace(each, aspect="latest") for each in before) if side == "before" else before
        )
        return tuple(other_times.of_days(each, days, is_of_one=side == "before") for each in one)
    return tuple(beside(each, side) for each in before if is_one_value(each))


def _values_beside(
    about: Sequence[ChartQuestion], before: Sequence[ChartQuestion], side: Relation
) -> tuple[ChartQuestion, ...]:
    """Return the values of `about` beside what was asked last; none where that has no day."""
    last = before[0]
    if not all(one == GIVEN or (one.tool, one.around, one.span) == _VALUE for one in about):
        return ()
    if not last.around and (days := _days_beside(last.span, side)) is not None:
        return tuple(other_times.of_days(one, days) for one in about)
    is_dated = last.tool in DATED | {"medications"} or is_one_value(last)
    same = (replace(one, part=None, rate="") for one in before if one.name == last.name)
    event = last.around or (tuple(same) if is_dated else ())
    aspect = "all" if last.aspect in ("when", "whether", "count") else last.aspect
    event = tuple(replace(one, aspect=aspect) for one in event)
    begun = about == (GIVEN,) and side == "after"
    return tuple(replace(one, around=event, when=side, is_begun=begun) for one in about if event)


def _days_beside(span: TimeSpan | None, side: Relation) -> TimeSpan | None:
    """Return the days behind those of `span`, from the last of them on or before the first."""
    if side == "before":
        first = span.since if span is not None else None
        return None if first is None else TimeSpan(until=first - timedelta(days=1))
    if span is None or span.until is None:
        return None
    return TimeSpan(since=span.until + timedelta(days=side == "after"))


def _drug_in(before: Sequence[ChartQuestion]) -> ChartQuestion | None:
    """Return the question for the drug that was asked about last."""
    every = (one for each in before for one in (*each.around, each))
    return next((one for one in every if one.tool == "medications" and one.name), None)
