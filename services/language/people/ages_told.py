"""Somebody told apart by age: "the 8-month-old", "der 36-jährige Patient". Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from services.language.charts.chart_entries import chart_nouns
from services.language.people.descriptions import first_parts, things_asked
from services.language.words.folding import words_of
from services.language.words.letters import folded
from services.language.words.people_words import of_people
from services.language.words.vocabulary import LANGUAGES, words_with_number

Unit = Literal["year", "month", "week", "day"]
_UNITS: dict[str, Unit] = {
    "y": "year", "j": "year", "m": "month", "w": "week", "d": "day", "t": "day",
}  # fmt: skip
_AGED = re.compile(
    r"(?<![\w.,])(?:(?P<article>[^\W\d_]+)\s+)?(?P<number>\d{1,3})[ -]?"
    r"(?P<unit>years?|yrs?|y|months?|weeks?|days?|jahre?|monate?|wochen?|tage?)?[ /-]?"
    r"(?:olds?|o|alte[nrs]?|j(?:ä|ae|a)hrige[nrs]?)\b(?P<owner>['’]s)?\s*(?P<behind>[^\W\d_]*)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"\A\W*(?:(?:and|now|next|und|jetzt)\s+)?"
    r"(?:(?P<who>[^\W\d_]+)[,/\s]\s?)?(?P<number>\d{1,3})[ /-]?"
    r"(?:(?P<unit>y/?o|j(?=\W?[,:])|(?:year|yr|month|week|day)s?[ -]old|j(?:ä|ae|a)hrige[nrs]?)\b|"
    r"(?:y\s?|J\.?\s?)?(?P<sex>[MFW])\b"
    r"|(?:y|J\.|Jahre|years)?(?=\s?[,:]))(?=\W*(?P<asked>[^\W\d_]*))",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"(?<![\w-])(?P<number>[^\W\d_]+?(?:-[^\W\d_]+?)?)[- ]?(?=(?:year|month|j(?:ä|ae|a)hrig))",
    re.IGNORECASE,
)
_BEHIND_NAME = re.compile(
    r"\s?[,(]\s?(\d{2,3})\s?(?:[,;:)]|y\b|yo\b|J\.|[mfw]\b|\Z)"
    r"|\s(\d{2,3})(?:[mfw]| ?(?:y/?o|yrs?|years?|jahre?))\b"
)
_BARE = re.compile(r"\s(\d{2,3})(?=\s[^\W\d_])")
_SEXES: dict[Literal["male", "female"], tuple[str, str]] = {
    "male": ("men", "called_male"), "female": ("women", "called_female"),
}  # fmt: skip
_LAST_WEEK = 42  # of a pregnancy
_CALLED = ("people", "men", "women", "titles_of_men", "titles_of_women")


@dataclass(frozen=True, slots=True)
class AgeTold:
    """An age by which one patient is told from others."""

    number: int
    unit: Unit
    sex: Literal["male", "female"] | None = None

    def fits(self, born: date, today: date) -> bool:
        """Whether who was `born` then is of that age `today`; days, weeks and months roughly."""
        days = (today - born).days
        months = (today.year - born.year) * 12 + today.month - born.month
        months -= today.day < born.day
        if self.unit == "year":
            return months // 12 == self.number
        lived = {"month": months, "week": days // 7, "day": days}[self.unit]
        return abs(lived - self.number) <= 1

    def is_near(self, born: date, today: date, *, within: int = 2) -> bool:
        """Whether who was `born` then is of that age, give or take less than so many years."""
        return abs((today - born).days / 365.25 - self.number) < within


def age_behind(
    text: str, end: int, *, born: Iterable[date | None] = (), today: date | None = None
) -> AgeTold | None:
    """Return the age behind a name that ends at `end`: `Koepp, 49, BP?`.

    A bare number is the age, or the year, of one who was `born` then: `koepp 49 bp`.
    """
    if found := _BEHIND_NAME.match(text, end):
        return AgeTold(int(found[1] or found[2]), "year")
    ages = {one: (today - one).days // 365.25 for one in filter(None, born)} if today else {}
    said = int(bare[1]) if (bare := _BARE.match(text, end)) else None
    is_said = (age for one, age in ages.items() if said in (int(age), one.year % 100))
    return next((AgeTold(int(age), "year") for age in is_said), None)


def _in_digits(found: re.Match[str]) -> str:
    """Return "eighty-four-" and "vierundachtzig" before what they count as 84-."""
    numbers = {word: one for each in LANGUAGES for word, one in words_with_number(each).items()}
    said = [numbers.get(word, 0) for word in words_of(found["number"])]
    return f"{sum(said)}-" if all(said) else found[0]


def age_told(text: str) -> AgeTold | None:
    """Return the age that stands for somebody in `text`; None for that of a scan or a wound."""
    text = _IN_WORDS.sub(_in_digits, text)
    if (heading := _HEADING.match(text)) is not None:
        who, sex = folded(heading["who"] or ""), folded(heading["sex"] or "")
        called = who or sex
        is_person = who in of_people(*_CALLED, "called_male", "called_female")
        is_person |= not who and bool(heading["unit"] or sex)
        asked = folded(heading["asked"] or "") in first_parts(chart_nouns())  # not `10m walk`
        years, is_woman = int(heading["number"]), sex in ("f", "w")  # `78w nach Sturz`
        is_asked = (asked and years > 9) or (is_woman and years > _LAST_WEEK)
        is_sex = not sex or heading["sex"].isupper() or is_asked
        if is_person and is_sex:
            told = next((sex for sex, lists in _SEXES.items() if called in of_people(*lists)), None)
            return AgeTold(years, _UNITS[(heading["unit"] or "y")[0].lower()], told)
    people = of_people("people", "titles_of_patients", "men", "women", "babies")
    ends = people | of_people("described_by", "lingers", "does_or_is") | {"", "m", "f"}
    for found in _AGED.finditer(text):
        article, behind = folded(found["article"] or ""), folded(found["behind"])
        is_meant = article in of_people("definite") or behind in of_people("men", "women")
        is_meant |= article in of_people("articles") and behind in of_people("described_by")
        is_value = re.search("hrig|yo\\b", found[0]) and behind in things_asked()
        if is_meant and (found["owner"] or behind in ends or is_value):  # `der 60-jährige Puls`
            unit = _UNITS[(found["unit"] or "y")[0].lower()]
            return AgeTold(int(found["number"]), unit)
    return None
