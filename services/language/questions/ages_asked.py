"""The year of life that a question about the chart is meant of: "at age 10". Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from services.language.charts.chart_file import chart_file
from services.language.charts.chart_parts import EDGES, QuestionPart
from services.language.charts.tools_named import SEARCH
from services.language.questions.single_questions import named
from services.language.utterance import Aspect, ChartQuestion
from services.language.words.folding import fold
from services.language.words.vocabulary import words_with_number

OLDEST_YEARS = 120
Side: TypeAlias = Literal["", "since", "before"]
_SIDES: tuple[Side, ...] = ("since", "before", "")


class Age(NamedTuple):
    """So many completed years, or months, of life: the first of `years`, 0 of days of birth."""

    number: int
    is_months: bool = False
    is_birth: bool = False
    side: Side = ""
    years: int = 1


def ages_in(text: str, language: str) -> tuple[list[Age], str]:
    """Return the ages that folded `text` names, and the text without them.

    "When she was 10 weeks pregnant" names none: behind the number the question goes on.
    """
    ages = list[Age]()
    for said, phrase, rest, age in _of_life(language):
        if said not in text:
            continue
        without = phrase.sub(rest, text)
        ages += [age] if without != text else []
        text = without
    for side in _SIDES:
        for found in _pattern(language, side=side).finditer(text):
            said = found["years"]
            number = int(said) if said.isdigit() else words_with_number(language).get(said, 1)
            if number <= OLDEST_YEARS:
                ages.append(Age(number, is_months=found["months"] is not None, side=side))
                text = text.replace(found[0], " ", 1)
    if ages:  # "at birth, 6 months and 2 years"
        for found in _pattern(language, is_further=True).finditer(text):
            ages.append(Age(int(found["years"]), is_months=found["months"] is not None))
            text = text.replace(found[0], " ", 1)
    return ages, text


def at_ages(questions: Sequence[ChartQuestion], ages: Sequence[Age]) -> list[ChartQuestion]:
    """Return the questions of each age; of the day of birth the first value.

    Of two ages between which something changed the values of both are told.
    """
    if len(ages) > 1:
        questions = [
            replace(one, aspect="all") if one.aspect == "change" else one for one in questions
        ]
    return [
        replace(
            one,
            at_age=age.number,
            is_age_in_months=age.is_months,
            age_side=age.side,
            age_years=age.years,
            aspect="first" if age.is_birth else "all" if one.at_age == 0 else one.aspect,
        )
        for age in ages
        for one in questions
    ]


def age_at(
    about: Sequence[ChartQuestion], last: ChartQuestion, *, of_then: bool
) -> tuple[ChartQuestion, ...]:
    """Return how old the patient was at what was asked before, or at the first or last of it."""
    *visits, age = about or (last,)
    is_of_each = bool(visits) and (visits[0].tool, visits[0].name) == ("problems", "")
    if age.name != "age" or len(visits) > 1 or (is_of_each and last.tool != "problems"):
        return ()
    age = replace(age, is_past=age.is_past or of_then)
    if visits and not is_of_each:  # of each diagnosis only where none was spoken of
        at = replace(last, aspect=visits[0].aspect, part=None, around=(), back=0)
        return (age, at) if (visits[0].tool, visits[0].name) == ("encounters", "") else ()
    last = last.around[0] if last.around else last
    aspect = last.aspect if last.tool == "results" or last.aspect in EDGES else "when"
    return (age, replace(last, aspect=aspect, part=None))


@cache
def _of_life(language: str) -> Sequence[tuple[str, re.Pattern[str], str, Age]]:
    """Return what names birth or a time of life, what stays in its place, and the age."""
    words = chart_file(language)
    named = [(one, rest, Age(0, is_birth=True, years=0)) for one, rest in words.at_birth.items()]
    stages = words.stages_of_life.items()
    named += [(one, "", Age(first, years=years)) for one, (first, years) in stages]
    return [
        (said, re.compile(rf"(?<!\w){re.escape(said)}(?!\w)"), fold(rest)[0], age)
        for phrase, rest, age in named
        for said in (fold(phrase)[0],)
    ]


@cache
def _pattern(language: str, *, side: Side = "", is_further: bool = False) -> re.Pattern[str]:
    """Return the pattern of an age; of one that stands in a list behind another its unit is said.

    Args:
        is_further: One behind another.
    """
    words = chart_file(language)
    begins = {"since": words.since_age, "before": words.before_age, "": words.at_age}[side]
    before, years, months = (
        "|".join(re.escape(fold(each)[0]) for each in phrases) or r"\b\B"
        for phrases in (begins, words.years_of_age, words.months_of_age)
    )
    joints = "|".join(map(re.escape, words.joints))
    numbers = "|".join(map(re.escape, words_with_number(language))) or r"\b\B"
    ends = rf"(?= *[?!,;]| *\.(?! ?\w)| *\Z| (?:{joints})(?!\w))"
    if is_further:
        unit = rf"(?:(?:{years})|(?P<months>(?:{months})))"
        joint = rf"(?:, *|(?<!\w)(?:{joints}) )(?:(?:{before}) )?"
        return re.compile(rf"{joint}(?P<years>\d{{1,2}})(?: {unit})?{ends}")
    unit = rf"(?: (?:{years}))?|(?P<months> (?:{months}))"
    one = rf"an?(?= (?:{years}|{months}))|eine[mnr]?(?= (?:{years}|{months}))"
    number = rf"(?P<years>\d{{1,3}}|{numbers}|{one})(?:(?:st|nd|rd|th|\.)(?= ))?"
    return re.compile(rf"(?<!\w)(?:{before}) {number}(?:{unit}){ends}")


def of_what_age(part: QuestionPart) -> Iterator[ChartQuestion]:
    """Yield what the age is asked at that is no row of a list: at menarche, at the last visit."""
    yield from (named(SEARCH, run.text, "all", None) for run in part.runs if not run.known)
    if any(run.known for run in part.runs):
        return  # "at her first tetanus shot": at no visit
    if "at_diagnosis" in part.frames:  # of which is not said, so of each
        yield ChartQuestion("problems", {"status": "all"}, "when")
        return
    at: tuple[Aspect, ...] = ("latest", "first")
    yield from (ChartQuestion("encounters", {}, one) for one in at if one in part.aspects)
