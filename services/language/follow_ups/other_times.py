"""Other days, and other times of an event, that a short question goes on to. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date

from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon
from services.language.figures.calendar_days import around, steps_back
from services.language.figures.times import spans_in
from services.language.questions.question_figures import arguments_of_then, hull_of, with_days
from services.language.questions.time_shifts import later_or_earlier
from services.language.utterance import Aspect, ChartQuestion, Relation, TimeShift, TimeSpan
from services.language.words.folding import tokens_of

OF_ONE_VALUE: AbstractSet[Aspect] = frozenset({"latest", "first", "minimum", "maximum"})
ARGUMENTS_OF_DAYS = frozenset({"since", "until", "last"})


def unlimited(question: ChartQuestion) -> ChartQuestion:
    """Return the question for all values, also those within the limit."""
    return replace(question, above=None, below=None, lower_limit=None)


def of_days(question: ChartQuestion, span: TimeSpan, *, is_of_one: bool = False) -> ChartQuestion:
    """Return the question for other days; all values of them where the newest was asked for."""
    free = of_all_days(question)
    aspect = question.aspect if is_of_one else free.aspect
    return with_days(replace(free, aspect=aspect, is_past=True), span)


def of_all_days(question: ChartQuestion) -> ChartQuestion:
    """Return the question without its days; for all values of others where the newest was meant."""
    aspect = "all" if question.aspect == "latest" else question.aspect
    kept = question.arguments.items()
    rest = {name: value for name, value in kept if name not in ARGUMENTS_OF_DAYS}
    return replace(question, arguments=rest, aspect=aspect, span=None, around=(), back=0,
                   at_age=None, month="")  # fmt: skip


def is_of_all_time(folded: str, words: Lexicon) -> bool:
    """Whether it says only that no days limit what was asked: "ever?"."""
    every = has_phrase(folded, words.words.of_all_time)
    return every and names_nothing(words.pieces(folded), words)


def asked_of_all_time(question: ChartQuestion) -> ChartQuestion:
    """Return the question for all that ever was: "a smoker?", "ever?"."""
    aspect: Aspect = "trend" if question.tool == "results" else "all"
    every = of_all_days(question)
    return replace(every, aspect=aspect, is_past=True, arguments=arguments_of_then(every))


def at_the_time_of(
    question: ChartQuestion, last: ChartQuestion, shift: TimeShift | None = None
) -> ChartQuestion:
    """Return the question for the time of what was asked last, or so long after or before it."""
    event = (replace(last, part=None, rate=""),)
    when: Relation = "at"
    around, moved = last.around or event, shift
    if last.around and shift is None:
        when, moved = last.when, last.shift
    is_of_one = shift is not None or question.aspect in ("latest", "first", "whether")
    aspect = "all" if is_of_one else question.aspect
    return replace(
        unlimited(of_all_days(question)),
        aspect=aspect, around=around, when=when, shift=moved, is_past=True, part=None, rate="",
    )  # fmt: skip


def so_long_after(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return what was asked, of the year before that or of so long before or after it."""
    if (days := _days_beside(folded, before[0].span, words)) is not None:
        return tuple(of_days(each, days) for each in before)
    shift, rest = later_or_earlier(folded, words.language)
    if shift is None and before[0].tool == "results":
        said = " ".join(filter(str.isalnum, tokens_of(folded)))
        steps = (
            TimeShift(step, unit)
            for unit, step, every in _steps_named(words)
            if said.endswith(tuple(every))
        )
        shift = next(steps, None)
        rest = rest if shift is None else ""
    if shift is None or not names_nothing(words.pieces(rest), words):
        return ()
    return tuple(at_the_time_of(each, each, shift) for each in before)


def _days_beside(folded: str, last: TimeSpan | None, words: Lexicon) -> TimeSpan | None:
    """Return the days a year, or a month, beside those asked about: "and the year before?"."""
    named = ((unit, -step) for unit, step, said in _steps_named(words) if has_phrase(folded, said))
    unit, back = next(named, ("", 0))
    if not back or last is None or last.since is None or last.until is None:
        return None
    if unit == "month":  # of a day it is all of the month
        month = around(steps_back(last.since, unit, back), unit)
        return TimeSpan(month.first, month.last)
    return TimeSpan(steps_back(last.since, unit, back), steps_back(last.until, unit, back))


def _steps_named(words: Lexicon) -> Iterator[tuple[str, int, Sequence[str]]]:
    """Yield the unit, the step and the words of "the year before", "the month after"."""
    yield from ((unit, -1, said) for unit, said in words.words.unit_before.items())
    yield from ((unit, 1, said) for unit, said in words.words.unit_after.items())


def other_days(folded: str, last: TimeSpan | None, words: Lexicon, today: date) -> TimeSpan | None:
    """Return the days that a question names and nothing else: a month is of the year before it."""
    spans, rest = spans_in(folded, today=today, language=words.language)
    if not spans and last is not None and last.since is not None:
        year = str(last.since.year)
        of_year, rest = spans_in(f"{folded.rstrip(' ?!.')} {year}", today=today,
                                 language=words.language)  # fmt: skip
        idle = {year, *words.words.connectors}  # "what else is he on?" names no month
        spans = tuple(one for one in of_year if {*one.text.split()} - idle)
    is_bare = bool(spans) and names_nothing(words.pieces(rest), words)
    return hull_of(spans) if is_bare else None


def names_nothing(pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether what stands beside the days says nothing else."""
    return all(
        (piece.of("stop") and not piece.of("name"))  # "große", and "Größe"
        or piece.of("people")
        or piece.text in (*words.words.pointers, *words.words.ones)
        for piece in pieces
        if any(map(str.isalnum, piece.text))
    )


def has_phrase(folded: str, phrases: Iterable[str]) -> bool:
    """Whether one of `phrases` stands in folded text."""
    said = f" {' '.join(tokens_of(folded))} "
    return any(f" {one} " in said for one in phrases)
