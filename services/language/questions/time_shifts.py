"""A length of time beside an event, "2 years before the stroke", and a month of any year. Pure."""

import re
from dataclasses import dataclass
from functools import cache

from services.language.charts.chart_file import chart_file
from services.language.figures.lengths import any_of
from services.language.figures.time_words import month_names, time_words
from services.language.utterance import TimeShift
from services.language.words.folding import fold
from services.language.words.vocabulary import words_with_number

_SIDES = ("before", "after")
_ONE = r"(?:an?|eine[mnr]?|une?|una?)"


def shift_in(text: str, language: str) -> tuple[TimeShift | None, str]:
    """Return the length that stands before an event in folded `text`, and the text without it."""
    if (found := _pattern(language).search(text)) is None:
        return None, text
    rest = text[found.end() :]
    pause = "" if rest.strip()[:1].isdigit() else " ,"  # else "before the last one" is one phrase
    said = f"{text[: found.start()]}{found['side']}{pause}{rest}"
    side = "before" if found["before"] else "after"
    return _shift(found, language, side=side), said


def later_or_earlier(text: str, language: str) -> tuple[TimeShift | None, str]:
    """Return the length by which folded `text` goes on: "two years later?"; the text without it."""
    for side, pattern in _onward(language):
        if (found := pattern.search(text)) is not None:
            rest = f"{text[: found.start()]} {text[found.end() :]}"
            return _shift(found, language, side=side), rest
    return None, text


def _shift(found: re.Match[str], language: str, *, side: str) -> TimeShift:
    words, said = time_words(language), found["count"]
    numbers = words_with_number(language)
    count = int(said) if said.isdigit() else numbers.get(said, words.several.get(said, 1))
    unit = next(one for one in words.units if found[one])
    return TimeShift(
        count=-count if side == "before" else count,
        unit=unit,
        is_within=bool(found["within"]),
        text=found[0].strip(),
    )


@cache
def time_units(language: str) -> frozenset[str]:
    """Return the words for days, months and the like, folded."""
    units = time_words(language).units
    return frozenset(fold(one)[0] for every in units.values() for one in every)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    relations = chart_file(language).relations
    before, after = (any_of(relations.get(side, ())) for side in ("before", "after"))
    sides = rf"(?P<side>(?P<before>{before})|(?:{after}))"
    return re.compile(rf"(?<!\w){_length(language)} {sides}(?= \S)")


@cache
def _onward(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    words = time_words(language)
    phrases = (words.earlier, words.later)
    return tuple(
        (side, re.compile(rf"(?<!\w){_length(language)} (?:{any_of(said)})(?!\w)"))
        for side, said in zip(_SIDES, phrases, strict=True)
    )


def _length(language: str) -> str:
    words = time_words(language)
    numbers = (*words_with_number(language), *words.several)
    within = any_of((*words.lasting, *words.at_first))
    units = "|".join(rf"(?P<{name}>{any_of(said)})" for name, said in words.units.items())
    count = rf"(?P<count>\d{{1,3}}|{any_of(numbers)}|{_ONE})"
    return rf"(?:(?P<within>{within}) )?{count} (?:{units})"


@dataclass(frozen=True, slots=True)
class BareMonths:
    """Months, or a day of one, of a year that nobody named: what is asked is told of each.

    Attributes:
        dates: What the dates of each hold behind the year: "-05", "-05-19".
        text: The words that say so.
    """

    dates: tuple[str, ...] = ()
    text: str = ""


def months_named(text: str, language: str) -> tuple[BareMonths, str]:
    """Return the months, or the day of one, that folded `text` names, and the text without them."""
    found = next(filter(None, (form.search(text) for form in _forms(language))), None)
    if found is None:
        return BareMonths(), text
    said, months = found.groupdict(), month_names(language)
    named = [one for one in (said["month"], said.get("other")) if one]
    numbers = dict.fromkeys(int(one) if one.isdigit() else months[one] for one in named)
    day = f"-{int(said['day']):02}" if said.get("day") else ""
    dates = tuple(f"-{number:02}{day}" for number in numbers)
    rest = text.replace(found[0], f" {said.get('joint', '')} ", 1)  # "nodule … vs …" compares
    return BareMonths(dates, found[0].strip()), rest


@cache
def _forms(language: str) -> tuple[re.Pattern[str], ...]:
    """Return how a day and months are named: 17 June, 17.06., vom 3.4., in June, June vs July."""
    words = time_words(language)
    within, month = any_of(words.in_), any_of(month_names(language))
    joints = chart_file(language).joints
    related = (*words.between, *words.before, *words.after, *words.until, *words.since)
    apart = (*related, *joints, *words.from_, *words.and_, *words.to)  # no "and June"
    alone = "".join(rf"(?<!\b{re.escape(fold(one)[0])} )" for one in apart)
    day = r"(?P<day>0?[1-9]|[12]\d|3[01])"
    # "Nov 24"; where the day stands first it is of a year.
    ahead = rf"(?P<month>{month})" if words.slashes == "month_first" else r"(?P<month>(?!))"
    begin, end = rf"(?<![\w.,])(?:(?:{within}) )?", r"(?!\w|,? ?\d)"
    return (
        re.compile(
            rf"{begin}{day}(?:st|nd|rd|th)?\.? (?:(?:{within}) )?(?P<month>{month})\.?{end}"
        ),
        re.compile(rf"(?<![\w.,]){alone}(?:(?:{within}) )?{ahead}\.? {day}(?:st|nd|rd|th)?{end}"),
        re.compile(rf"{begin}{day}\.(?P<month>0[1-9]|1[0-2])\.{end}"),
        re.compile(rf"(?<!\w)(?:{within}) {day}\.(?P<month>0?[1-9]|1[0-2])\.{end}"),
        re.compile(
            rf"(?<!\w)(?<!\d )(?<!\d\. ){alone}(?:(?:{within}) )?(?P<month>{month})\.?"
            rf" (?P<joint>{any_of(joints)}) (?:(?:{within}) )?(?P<other>{month})\.?(?!\w| ?\d)"
        ),
        re.compile(rf"(?<!\w)(?<!\d )(?<!\d\. )(?:{within}) (?P<month>{month})\.?(?!\w| ?\d)"),
        re.compile(rf"(?<=\w ){alone}(?P<month>{month})\.?(?=[ ?]*$)"),
        re.compile(rf"^(?!(?:{any_of(words.no_months)}) )(?P<month>{month})\.? (?=[^\W\d])"),
    )
