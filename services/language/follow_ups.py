"""A short question that leans on the one before it: "and in 2015?", "and before that?". Pure.

What was asked is taken over from the question before; without one nothing is guessed.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, timedelta

from services.language.ages_asked import age_at, ages_in, at_ages
from services.language.carried_over import of_another, of_those
from services.language.chart_parts import RANKED, QuestionPart, aspect_of, read_part
from services.language.chart_questions import chart_questions
from services.language.chart_words import Lexicon, lexicon, tokens_of
from services.language.events_asked import asked_around
from services.language.folding import fold
from services.language.leaning_words import ends_before, has_limit, is_then, opens, points_back
from services.language.lengths_asked import with_lengths
from services.language.other_times import (
    ARGUMENTS_OF_DAYS,
    at_the_time_of,
    has_phrase,
    names_nothing,
    of_all_days,
    of_days,
    other_days,
    so_long_after,
    unlimited,
)
from services.language.question_figures import (
    in_place,
    numbers_in,
    with_days,
    with_figures,
    with_rate,
)
from services.language.sides_leaned_on import DATED, beside, is_one_value, on_its_side
from services.language.time_shifts import later_or_earlier
from services.language.times import spans_in
from services.language.unread_words import figure_in
from services.language.utterance import Aspect, ChartQuestion, Part, TimeSpan
from services.language.value_questions import measured_over_time

LONGEST_WORDS = 11
_YEAR_CHARS = len(" 2026")
_RATES = frozenset({"percent", "per_year"})
_SAYS_NO_NAME = frozenset({"aspect", "part", "frame", "stop", "before", "then", "unit", "place"})
_OF_EVENTS: AbstractSet[Aspect] = frozenset({"latest", "first", "when", "count"})
_OF_VALUES: AbstractSet[Aspect] = _OF_EVENTS | {
    "trend", "change", "average", "minimum", "maximum", "extremes",
}  # fmt: skip
# What may be asked of the rows of a tool in words that name nothing: "since when?", "who?".
_PARTS_OF: Mapping[str, AbstractSet[Part]] = {
    "results": frozenset({"range", "unit"}),
    "imaging_reports": frozenset({"site"}),
    "medications": frozenset({"dose", "reason", "people", "place", "status", "end", "end reason"}),
    "procedures": frozenset({"reason", "people", "place", "site"}),
    "encounters": frozenset({"reason", "people", "place"}),
    "allergies": frozenset({"reaction", "severity"}),
    "immunizations": frozenset({"people", "place"}),
    "problems": frozenset({"status", "severity", "treatment", "site"}),
}
_OWNED: AbstractSet[Part] = frozenset({"treatment", "reaction", "dose"})
"""What is told of one kind of thing alone: it is asked of the last one that was named."""
_WITH_DAYS = DATED | {"results", "medications"}
"""Tools of whose rows those of some days may be asked for."""
_IN_ORDER = frozenset(
    {"results", "encounters", "procedures", "immunizations", "documents", "imaging_reports",
     "pathology_reports"}
)  # fmt: skip


def leans_in(text: str, *, today: date, languages: Iterable[str]) -> str | None:
    """Return the language in which `text` is short and goes on from a question; None if none."""
    tokens = tokens_of(fold(text)[0])
    if not 0 < sum(map(str.isalnum, tokens)) <= LONGEST_WORDS:
        return None
    leaning = (one for one in languages if _asked_of_the_same(text, today, one) is not None)
    if (found := next(leaning, None)) is not None:
        return found
    is_open = any(says(tokens) for says in (has_limit, opens, points_back, is_then, ends_before))
    folded = fold(text)[0]
    elsewhen = (
        one
        for one in languages
        if later_or_earlier(folded, one)[0] is not None
        or other_days(folded, TimeSpan(today), lexicon(one), today) is not None
        or _is_of_ages(folded, lexicon(one))
    )
    return next(iter(languages), None) if is_open else next(elsewhen, None)


def followed_up(
    text: str,
    about: tuple[ChartQuestion, ...],
    before: Sequence[ChartQuestion],
    *,
    today: date,
    language: str,
) -> tuple[ChartQuestion, ...]:
    """Return what `text`, which leans on them, asks when the questions `before` it were asked.

    Args:
        about: What it asks by itself.
    """
    if not before:
        return about
    words, folded = lexicon(language), fold(text)[0]
    before, about = _uncounted(before), _uncounted(about)
    if moved := so_long_after(folded, before, words) or _shifted(folded, before, words, today):
        return moved
    if beside_it := on_its_side(folded, about, before, words):
        return beside_it
    if has_phrase(folded, words.words.of_all_time):
        before = [of_all_days(each) for each in before]
    asked = _asked_of_the_same(text, today, language)
    if asked is not None:
        spans, _ = spans_in(folded, today=today, language=language)
        found = [one for each in before if (one := _asked_otherwise(each, asked))]
        span, numbers = next(iter(spans), None), list(numbers_in(asked.pieces, words))
        dated = [with_figures(one, span, numbers, asked.pieces) for one in found]
        return with_lengths(dated, asked.pieces, words, today=today) or about
    pointing = _limited(folded, before, words, today)
    if pointing := pointing or _pointing_back(folded, about, _thing_of(before), words):
        return pointing
    if then := _of_other_time(folded, before, words, today):
        return then
    tokens = tokens_of(folded)
    is_open = opens(tokens)
    then = _around(folded, before, words, today) if is_open or points_back(tokens) else ()
    return then or (of_another(about, before) if is_open else about)


def _uncounted(asked: Sequence[ChartQuestion]) -> tuple[ChartQuestion, ...]:
    """Return questions that are accounted for anew, by what they come to together."""
    return tuple(replace(one, unread="") for one in asked)


def _shifted(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return the values that are named so long after what was asked: "pressure 2 weeks later"."""
    shift, rest = later_or_earlier(folded, words.language)
    if shift is None:
        return ()
    found = chart_questions(rest, today=today, language=words.language, is_side=True)
    is_of_values = all(one.tool == "results" and not (one.around or one.span) for one in found)
    return tuple(at_the_time_of(one, before[0], shift) for one in found if is_of_values)


def _limited(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return which values asked about are beyond a limit, where nothing else is said."""
    spans, folded = spans_in(folded, today=today, language=words.language)
    pieces = words.pieces(folded)
    numbers = list(numbers_in(pieces, words))
    figures = {at for at, _ in numbers}
    rest = [one for at, one in enumerate(pieces) if at not in figures and not one.of("unit")]
    is_limit = any(one.of("above") or one.of("below") for one in rest)
    rest = [one for one in rest if not one.of("above") and not one.of("below")]
    is_bare = all(one.of("aspect") or names_nothing([one], words) for one in rest)
    is_of_values = {one.tool for one in before} == {"results"}
    if not (is_limit and is_bare and is_of_values and numbers):
        return ()
    every = (replace(unlimited(of_all_days(each)), part=None) for each in before)
    span = next(iter(spans), None)
    return tuple(with_figures(each, span, numbers, pieces) for each in every)


def _of_other_time(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of other days or another age, where nothing else is said."""
    if (days := other_days(folded, before[0].span, words, today)) is not None:
        return tuple(of_days(each, days) for each in before)
    if (days := other_days(folded, TimeSpan(today), words, today)) is not None:
        # Of which year a month is, nobody knows: all values are told.
        free = (replace(of_all_days(each), unread=days.text[:-_YEAR_CHARS]) for each in before)
        return tuple(replace(one, aspect="trend") if one.tool == "results" else one for one in free)
    ages, _ = ages_in(folded, words.language)
    return tuple(at_ages(before, ages)) if _is_of_ages(folded, words) else ()


def _is_of_ages(folded: str, words: Lexicon) -> bool:
    """Whether ages are named and nothing else."""
    ages, rest = ages_in(folded, words.language)
    return bool(ages) and names_nothing(words.pieces(rest), words)


def _around(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what was asked before, of the time around an event: "before the stroke?"."""

    def ask(text: str) -> tuple[ChartQuestion, ...]:
        if names_nothing(words.pieces(text), words):
            return tuple(replace(of_all_days(each), aspect="all") for each in before)
        return chart_questions(text, today=today, language=words.language, is_side=True)

    pieces = words.pieces(folded)
    return asked_around(pieces, words, ask)


def _thing_of(before: Sequence[ChartQuestion]) -> ChartQuestion:
    """Return the first question that is not for how old somebody was at the thing of another."""
    return next((one for one in before if one.name != "age"), before[0])


def _pointing_back(
    folded: str, about: tuple[ChartQuestion, ...], last: ChartQuestion, words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of what was named before; nothing where no word points at it."""
    points, of_then = points_back(tokens_of(folded)), is_then(tokens_of(folded))
    if (points or of_then) and (aged := age_at(about, last, of_then=of_then)):
        return aged
    is_before = any(piece.text in words.words.before for piece in words.pieces(folded))
    is_before &= not any(one.back or one.span or "last" in one.arguments for one in about)
    if is_before and [(one.tool, one.name or last.name) for one in about] == [
        (last.tool, last.name)
    ]:
        return tuple(filter(None, [_one_before(last)]))
    if points and _is_of_the_same(about, last):
        return (replace(last, aspect=about[0].aspect, part=about[0].part, back=0),)
    if of_then and len(about) == 1:
        is_free = about[0].span is None and not about[0].around
        is_of_days = last.span is not None and not last.around
        if is_free and is_of_days and last.span is not None:
            return (with_days(about[0], last.span),)
        is_dated = bool(last.around) or last.tool in DATED or is_one_value(last)
        if is_free and about[0].tool in _WITH_DAYS and is_dated:
            return (at_the_time_of(about[0], last),)
        return about
    is_last = [one for one in tokens_of(folded) if one.isalnum()][-1:]
    if points_back(is_last) or has_phrase(folded, words.words.among):
        return of_those(about, last, is_among=has_phrase(folded, words.words.among))
    return ()


def is_of_its_kind(text: str, *, today: date, language: str) -> bool:
    """Whether the question itself tells of what kind it is: "how was it treated?" of an illness."""
    asked = _asked_of_the_same(text, today, language)
    return asked is not None and bool(_OWNED & {*asked.parts[:1]})


def _is_of_the_same(about: Sequence[ChartQuestion], last: ChartQuestion) -> bool:
    """Whether one list is asked again, where the question before named something of it."""
    one = about[0] if len(about) == 1 else None
    is_bare = one is not None and not one.name and one.span is None
    return is_bare and one is not None and one.tool == last.tool and bool(last.name)


def _asked_of_the_same(text: str, today: date, language: str) -> QuestionPart | None:
    """Return what is asked in words that name nothing themselves: "is it rising?", "before?"."""
    words, folded = lexicon(language), fold(text)[0]
    spans, folded = spans_in(folded, today=today, language=language)
    if len(spans) > 1:
        return None
    pieces = words.pieces(folded)
    said = [piece for piece in pieces if piece.labels or any(map(str.isalnum, piece.text))]
    names = any(
        {label.kind for label in piece.labels} - _SAYS_NO_NAME or not piece.labels
        for piece in said
        if figure_in(piece, words) is None
    )
    part = read_part(list(said), words) if said and not names else None
    asks = part is not None and (
        part.is_before
        or part.unit
        or part.parts
        or part.aspects - {"whether"}
        or part.frames & _RATES
    )
    return part if asks else None


def _asked_otherwise(question: ChartQuestion, asked: QuestionPart) -> ChartQuestion | None:
    """Return the question before with what is asked now; None where its rows tell no such thing."""
    if asked.is_before:
        return _one_before(question)
    if asked.frames & _RATES:
        return with_rate(replace(question, aspect="change"), asked.frames)
    if asked.unit and not asked.aspects:
        return replace(question, unit=asked.unit) if question.tool == "results" else None
    is_told = asked.parts[:1] and asked.parts[0] in _PARTS_OF.get(question.tool, ())
    if asked.parts and (is_told or not asked.aspects):
        return replace(question, part=asked.parts[0], back=0) if is_told else None
    aspect = aspect_of(asked)
    is_told = aspect == "when" and is_one_value(question)  # its day stands with it
    is_since = question.span is not None and question.span.until is None
    if is_told or (aspect == "change" and (is_since or question.aspect == "change")):
        return question
    over_time = measured_over_time(question)
    if aspect not in (_OF_VALUES if over_time.tool == "results" else _OF_EVENTS):
        return None
    if aspect in ("change", "latest"):
        # What is now, and whether it is rising, is asked of now whatever days were before.
        kept = over_time.arguments.items()
        # How much they changed is asked of as many as were told.
        freed = ARGUMENTS_OF_DAYS - ({"last"} if aspect == "change" else frozenset())
        rest = {name: value for name, value in kept if name not in freed}
        over_time = replace(over_time, arguments=rest, span=None, around=())
        # A course tells "is it rising?" better than the first value beside the last.
        aspect = "trend" if aspect == "change" else aspect
    # "The heaviest?" is asked of no year of life, nor of what is beyond a limit.
    is_free = aspect in RANKED or aspect == "trend"
    over_time = replace(unlimited(over_time), at_age=None) if is_free else over_time
    found = replace(over_time, aspect=aspect, part=None, back=0, rate="")
    return found if asked.place is None else in_place(found, asked.place, is_last_too=False)


def _one_before(question: ChartQuestion) -> ChartQuestion | None:
    """Return the question for what came before that which `question` asks for."""
    if question.tool == "medications" and not question.name:
        return replace(question, arguments={"status": "stopped"}, is_past=True)
    if question.tool == "results" and question.aspect in ("minimum", "maximum", "first"):
        return beside(question, "before")
    found = measured_over_time(question)
    if found.tool == "current_status" and found.name not in ("", "status"):
        return replace(found, aspect="trend")  # its row tells of earlier ones
    if found.tool not in _IN_ORDER:
        return None
    if found.span is not None and found.span.since is not None:
        earlier = TimeSpan(until=found.span.since - timedelta(days=1))
        return of_days(replace(found, aspect="latest", back=0), earlier, is_of_one=True)
    rest = {name: value for name, value in found.arguments.items() if name != "last"}
    return replace(
        unlimited(found),
        around=(),
        arguments=rest,
        aspect="latest",
        part=None,
        back=found.back + 1,
    )
