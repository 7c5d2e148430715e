"""The words of days and spans of days of each language, as `times.yaml` has them."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from data_models.values import ClosedValue
from services.language.words.vocabulary import read_words


class TimeWords(ClosedValue):
    """The words of one language; lists are phrases, folded.

    Attributes:
        onward: What stands before and behind a day from which on something counts.
        in_: What stands before a date and changes nothing.
        same_as: Lengths of time that have words of their own, as they are counted.
        lasting: Before a length that ends today, "over 5 years"; `rolling` before its unit.
        age: Before a number of years: "before age 12", which no span is made of.
        at_first: Before a length that an event begins: "in the first 3 months after".
        later: Behind a length that goes on from what was told; `earlier` likewise.
        ago: Behind a length ("5 years ago"); `ago_first` before it ("vor 5 Jahren").
        calendar_week: Before the number of a week: "KW 20".
        slashes: How 3/4/2015 is written where this language is.
        months: The names and short names of each, as CLDR has them, without their dots.
        weekdays: The names of each day of the week, from Monday on; the last one gone is meant.
        seasons: The month in which each begins; "since spring" is since that month.
        no_months: Names of months that are other words where a question begins: "may she eat".
        year_parts: Other parts of a year: the month in which each begins, and how many it has.
    """

    since: tuple[str, ...]
    after: tuple[str, ...]
    until: tuple[str, ...]
    before: tuple[str, ...]
    onward: tuple[tuple[str, ...], tuple[str, ...]]
    between: tuple[str, ...]
    from_: tuple[str, ...]
    and_: tuple[str, ...]
    to: tuple[str, ...]
    in_: tuple[str, ...]
    last: tuple[str, ...]
    rolling: tuple[str, ...]
    this: tuple[str, ...]
    ago: tuple[str, ...]
    ago_first: tuple[str, ...]
    several: Mapping[str, int]
    lasting: tuple[str, ...] = ()
    age: tuple[str, ...] = ()
    at_first: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    units: Mapping[str, tuple[str, ...]]
    days: Mapping[str, int]
    weekdays: tuple[tuple[str, ...], ...] = ((),) * 7
    seasons: Mapping[str, int] = Field(default_factory=dict)
    no_months: tuple[str, ...] = ()
    year_parts: Mapping[str, tuple[int, int]] = Field(default_factory=dict)
    same_as: Mapping[str, str] = Field(default_factory=dict)
    calendar_week: tuple[str, ...] = ()
    slashes: Literal["month_first", "day_first"]
    months: tuple[tuple[str, ...], ...]


@cache
def time_words(language: str) -> TimeWords:
    """Return the words of days of one language."""
    return read_words(language, "times", TimeWords)


@cache
def month_names(language: str) -> Mapping[str, int]:
    """Return each month's names and short names, those of English too, folded."""
    months = {"sept": 9}
    for each in (language, "en"):
        for number, names in enumerate(time_words(each).months, 1):
            months = {**dict.fromkeys(names, number), **months}
    return months
