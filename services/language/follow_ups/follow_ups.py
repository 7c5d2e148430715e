"""A short question that leans on the one before it: "and in 2015?", "and before that?". Pure.

What was asked is taken over from the question before; without one nothing is guessed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from services.language.charts.chart_parts import RANKED
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.charts.tools_named import GIVEN_FOR, SEARCH
from services.language.figures.times import spans_in
from services.language.follow_ups import leaning_words, other_things, other_times
from services.language.follow_ups.asked_otherwise import (
    NEVER_OVER,
    PARTS_OF,
    asked_of_the_same,
    asked_otherwise,
    for_that,
    is_of_an_end,
    one_before,
)
from services.language.follow_ups.sides_leaned_on import DATED, is_one_value, on_its_side
from services.language.questions.ages_asked import age_at, ages_in, at_ages
from services.language.questions.chart_questions import chart_questions
from services.language.questions.chart_text import LISTS, names_left_out
from services.language.questions.events_asked import asked_around
from services.language.questions.lengths_asked import with_lengths
from services.language.questions.question_figures import numbers_in, with_days, with_figures
from services.language.questions.single_questions import CHANGES
from services.language.questions.time_shifts import later_or_earlier, months_named
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.words.folding import fold, tokens_of
from services.language.words.people_words import of_people
from services.language.words.phrases import says

LONGEST_WORDS = 11
_WITH_DAYS = DATED | {"results", "medications"}
"""Tools of whose rows those of some days may be asked for."""


def leans_in(text: str, *, today: date, languages: Iterable[str]) -> str | None:
    """Return the language in which `text` is short and goes on from a question; None if none."""
    tokens = tokens_of(text)
    if not 0 < sum(map(str.isalnum, tokens)) <= LONGEST_WORDS:
        return None
    leaning = (one for one in languages if asked_of_the_same(text, today, one) is not None)
    named = (one for one in languages if leaning_words.marker_named(text, one))
    if (found := next(leaning, None) or next(named, None)) is not None:
        return found
    is_open = any(
        says(tokens)
        for says in (
            leaning_words.has_limit,
            leaning_words.opens,
            leaning_words.points_back,
            leaning_words.is_then,
            leaning_words.asks_which,
            leaning_words.ends_before,
        )
    )
    folded = fold(text)[0]
    elsewhen = (
        one
        for one in languages
        if later_or_earlier(folded, one)[0] is not None
        or other_times.other_days(folded, TimeSpan(today), lexicon(one), today) is not None
        or _is_of_ages(folded, lexicon(one))
        or other_times.is_of_all_time(folded, lexicon(one))
        or leaning_words.refuses(folded, lexicon(one))
        or leaning_words.may_be_of_that(lexicon(one).pieces(folded))
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
    words = lexicon(language)
    if before and (staged := other_things.of_its_stage(text, about, _thing_of(before))):
        return staged
    if before and says(text, "free_of_cancer") and _thing_of(before).tool != "problems":
        of_cancer = chart_questions(f"cancer: {text}", today=today, language=language)
        return tuple(replace(one, aspect="whether") for one in of_cancer)
    is_whole = bool(about) and leaning_words.points_within(words.pieces(fold(text)[0]), words)
    if not before or is_whole or [one.tool for one in about] == [CHANGES]:
        return about
    if leaning_words.asks_which(tokens_of(text)):
        return tuple(replace(one, aspect="all", part=None, back=0) for one in before)
    if then := other_things.of_that(about, _thing_of(before), words.pieces(fold(text)[0])):
        return then
    marker = leaning_words.marker_named(text, language)
    if marker and before[0].tool == "biomarkers":
        return (replace(before[0], name=marker, arguments={}, aspect="all", unread=""),)
    found = _leaning(text, about, before, words, today)
    is_lost = all(one.tool == SEARCH and one.name for one in found)
    # "What's he on for it?", "which antibiotic did he get for it?", "was he admitted for it?"
    is_for_it = any(piece.of("for_it") for piece in words.pieces(fold(text)[0]))
    is_lost |= is_for_it and {one.tool for one in found} <= GIVEN_FOR
    if is_for_it and (for_it := for_that(about, _thing_of(before))):
        return for_it
    return (is_lost and _with_its_name(text, before, words, today)) or found


def _with_its_name(
    text: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what `text` asks with the name of what it points at: "when was it removed?"."""
    tokens, thing = tokens_of(text), _thing_of(before)
    if thing.tool == "results" and thing.around:  # "temperature then? what was given for it?"
        thing = thing.around[0]
    if thing.tool in NEVER_OVER and is_of_an_end(text, today=today, language=words.language):
        return ()
    points = [n for n, one in enumerate(tokens) if one in words.words.pointers]
    idle = words.words.expletives  # "gab es …" points at nothing
    at = next((n for n in points if " ".join(tokens[max(0, n - 1) : n + 1]) not in idle), None)
    is_other = leaning_words.says_what_for(tokens) or {*tokens} & of_people("articles")
    is_removal = bool({*tokens} & {*words.words.removed})  # "when taken out?"
    is_left_out = is_removal or leaning_words.opens(tokens)  # "and removed?"
    if at is None and is_left_out and not is_other:
        tokens, at = (*tokens, ""), len(tokens)
    if at is None or not thing.name or thing.tool not in {*PARTS_OF, "care"}:
        return ()
    is_for_it = tokens[at] in {fold(one)[0] for one in words.words.for_it}  # "dafür"
    against = words.words.against if is_for_it else ()
    said = " ".join([*tokens[:at], *against, thing.name, *tokens[at + 1 :]])
    found = chart_questions(said, today=today, language=words.language)
    is_measure = thing.tool == "results"  # of "polyp size" no drug was removed
    is_lost = any(one.tool == SEARCH or (is_measure and one.tool in GIVEN_FOR) for one in found)
    return () if is_lost else found


def _leaning(
    text: str,
    about: tuple[ChartQuestion, ...],
    before: Sequence[ChartQuestion],
    words: Lexicon,
    today: date,
) -> tuple[ChartQuestion, ...]:
    """Return what `text` asks by the questions before it; what it asks by itself where none."""
    folded, language = fold(text)[0], words.language
    before, about = _uncounted(before), _uncounted(about)
    if moved := other_times.so_long_after(folded, before, words) or _shifted(
        folded, before, words, today
    ):
        return moved
    if beside_it := _beside(folded, about, before, words, today):
        return beside_it
    if less := _without_named(folded, before, words):
        return less
    if other_times.has_phrase(folded, words.words.of_all_time):
        before = [other_times.of_all_days(each) for each in before]
    if (asked := asked_of_the_same(text, today, language)) is not None:
        spans, _ = spans_in(folded, today=today, language=language)
        found = [one for each in before if (one := asked_otherwise(each, asked))]
        span, numbers = next(iter(spans), None), list(numbers_in(asked.pieces, words))
        dated = [with_figures(one, span, numbers, asked.pieces) for one in found]
        return with_lengths(dated, asked.pieces, words, today=today) or about
    pointing = _limited(folded, before, words, today)
    if pointing := pointing or _pointing_back(folded, about, _thing_of(before), words):
        return pointing
    if then := _of_other_time(folded, before, words, today):
        return then
    tokens = tokens_of(folded)
    is_open = leaning_words.opens(tokens)
    then = (
        _around(folded, before, words, today)
        if is_open or leaning_words.points_back(tokens)
        else ()
    )
    is_for = leaning_words.says_what_for(tokens)
    return then or (other_things.of_another(about, before, is_for=is_for) if is_open else about)


def _beside(
    folded: str,
    about: Sequence[ChartQuestion],
    before: Sequence[ChartQuestion],
    words: Lexicon,
    today: date,
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of the time beside it, also where "after that" is one word: "danach"."""
    tokens, apart = tokens_of(folded), words.words.apart
    if about and not apart.keys().isdisjoint(tokens):
        two = " ".join(apart.get(one, one) for one in tokens)
        if behind := _around(two, before, words, today):
            return behind
    return on_its_side(folded, about, before, words)


def _without_named(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return the lists that were asked for, without what is refused: "no sinusitis please"."""
    pieces = words.pieces(folded)
    names = tuple(one.name for each in pieces[1:] for one in names_left_out(each))
    is_list = all(one.tool in LISTS and not one.name for one in before)
    if not (names and is_list and leaning_words.refuses(folded, words)):
        return ()
    return tuple(replace(one, without=(*one.without, *names)) for one in before)


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
    return tuple(other_times.at_the_time_of(one, before[0], shift) for one in found if is_of_values)


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
    is_bare = all(one.of("aspect") or other_times.names_nothing([one], words) for one in rest)
    is_of_values = {one.tool for one in before} == {"results"}
    if not (is_limit and is_bare and is_of_values and numbers):
        return ()
    every = (
        replace(other_times.unlimited(other_times.of_all_days(each)), part=None) for each in before
    )
    span = next(iter(spans), None)
    return tuple(with_figures(each, span, numbers, pieces) for each in every)


def _of_other_time(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of other days or another age, where nothing else is said."""
    if (days := other_times.other_days(folded, before[0].span, words, today)) is not None:
        return tuple(other_times.of_days(each, days) for each in before)
    if other_times.is_of_all_time(folded, words):
        return tuple(other_times.asked_of_all_time(each) for each in before)
    months, rest = months_named(folded, words.language)
    if months.dates and other_times.names_nothing(words.pieces(rest), words):
        every = [other_times.of_all_days(each) for each in before]
        return tuple(replace(each, month=month) for each in every for month in months.dates)
    ages, _ = ages_in(folded, words.language)
    return tuple(at_ages(before, ages)) if _is_of_ages(folded, words) else ()


def _is_of_ages(folded: str, words: Lexicon) -> bool:
    """Whether ages are named and nothing else."""
    ages, rest = ages_in(folded, words.language)
    return bool(ages) and other_times.names_nothing(words.pieces(rest), words)


def _around(
    folded: str, before: Sequence[ChartQuestion], words: Lexicon, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what was asked before, of the time around an event: "before the stroke?"."""

    def ask(text: str) -> tuple[ChartQuestion, ...]:
        if other_times.names_nothing(words.pieces(text), words):
            return tuple(replace(other_times.of_all_days(each), aspect="all") for each in before)
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
    points, of_then = (
        leaning_words.points_back(tokens_of(folded)),
        leaning_words.is_then(tokens_of(folded)),
    )
    if (points or of_then) and (aged := age_at(about, last, of_then=of_then)):
        return aged
    is_before = any(piece.text in words.words.before for piece in words.pieces(folded))
    is_of_one = all(one.aspect not in ("trend", "change") for one in about)  # "than before"
    is_before &= is_of_one and not any(o.back or o.span or "last" in o.arguments for o in about)
    if is_before and [(one.tool, one.name or last.name) for one in about] == [
        (last.tool, last.name)
    ]:
        pieces, earlier = words.pieces(folded), [one_before(last)]
        numbers = list(numbers_in(pieces, words))
        return tuple(with_figures(one, None, numbers, pieces) for one in earlier if one)
    if points and other_things.is_of_the_same(about, last):
        one = about[0]
        return (replace(last, aspect=one.aspect, part=one.part, back=0, asked_on=one.asked_on),)
    if of_then and len(about) == 1:
        is_free = about[0].span is None and not about[0].around
        is_free &= (about[0].tool, about[0].aspect) != ("encounters", "latest")  # "zuletzt da?"
        is_of_days = last.span is not None and not last.around
        if is_free and is_of_days and last.span is not None:
            return (with_days(about[0], last.span),)
        if is_free and about[0].tool in _WITH_DAYS and _has_a_day(last, about[0]):
            return (other_times.at_the_time_of(about[0], last),)
        return about
    is_last = [one for one in tokens_of(folded) if one.isalnum()][-1:]
    is_among = other_times.has_phrase(folded, words.words.among)
    if leaning_words.points_back(is_last) or is_among:
        return other_things.of_those(about, last, is_among=is_among)
    return ()


def _has_a_day(last: ChartQuestion, one: ChartQuestion) -> bool:
    """Whether what was asked last is of a day on which `one` may be asked for."""
    if last.tool == "results" and not last.around and one.aspect in RANKED:
        return False  # "the highest ALT, and AST the same day" is of no other day
    return bool(last.around) or last.tool in DATED or is_one_value(last)
