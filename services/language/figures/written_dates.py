"""Dates as people write them, perhaps partial: `2 March 2026`, `03.2026`, `May 12th`, `2025`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from services.language.figures.calendar_days import days_of, steps_back, whole_year
from services.language.words.statement_words import statement_words

FIRST_YEAR, LAST_YEAR = 1900, 2100
_AND = r"(?:to|until|through|and|or|bis|und|oder|,|–|-)"
_FIRST_DAY = re.compile(
    rf"(?<![\w.,/-])(?P<day>\d{{1,2}})\.?(?:(?P<month>\d{{1,2}})\.)?\s?{_AND}\s?\Z"
)
_LISTED = re.compile(rf"(?:\s*{_AND}\s*)+\Z")
_JOINED = re.compile(r"(?i)\b(?:and|then|und|dann)\b")
_NEAR_CHARS = 40
_BESIDE = re.compile(r"\s?[,(–-]\s?(?:[a-z.]+\s)?")
_TIME_OFF = re.compile(
    r"(?i)\b(?:(?:(?P<count>\d{1,2})|an?|one|the|eine?[mn]?) "
    r"(?:(?P<month>months?|monate?n?)|years?|jahre?n?) "
    r"(?:(?:before|prior)(?=\s*(?:[.,;)(]|\Z|and))|earlier|previously|zuvor|davor|fr\u00fcher"
    r"|(?P<later>later|afterwards|sp\u00e4ter|danach))"
    r"|(?:the )?previous year|im (?:vorjahr|jahr (?:zu|da)vor))\b(?! than| als)"
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """What is written of a date; None for what is not."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, known: "WrittenDate") -> bool:
        """Whether `known` says at least as much, and the same."""
        if self.year is not None and self.year != known.year:
            return False
        if self.month is not None and self.month != known.month:
            return False
        return self.day is None or self.day == known.day


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text.

    Attributes:
        readings: What it may mean: `03/04/2026` has two.
    """

    start: int
    end: int
    readings: tuple[WrittenDate, ...]


def dates_in(text: str) -> list[FoundDate]:
    """Return the dates in `text` from the left; they do not overlap.

    "Two months before" is the month so long before the last one that is told.
    """
    pattern = _pattern()
    hits = [(one, hit["l3"]) for hit in pattern.finditer(text) if (one := _found(hit))]
    found = [each for one, last in hits if _is_date(one) for each in _until(one, last)]
    begun = [each for one in found for each in _begun(text, one)]
    begun = [b for b in begun if not any(b.start < one.end and one.start < b.end for one in found)]
    dates = _with_year_of_next(text, sorted((*begun, *found), key=_place))
    return sorted((*dates, *_off(text, dates)), key=_place)


def _with_year_of_next(text: str, dates: list[FoundDate]) -> list[FoundDate]:
    """Return dates, those of "June 11, August 13 and October 17, 2024" all with the year."""
    told: list[FoundDate] = []
    for one in reversed(dates):
        behind = told[-1] if told else one
        between = text[one.end : behind.start]
        is_near = len(between) < _NEAR_CHARS and _JOINED.search(between)
        is_open = one.readings[0].year is None and (_LISTED.match(between) or is_near)
        year = behind.readings[0].year if is_open else None
        dated = tuple(replace(day, year=year) for day in one.readings) if year else one.readings
        told.append(replace(one, readings=dated) if year else one)
    return told[::-1]


def _until(first: FoundDate, last: str | None) -> Iterator[FoundDate]:
    """Yield both days of "November 5 to 8, 2022", and any other date."""
    yield first
    if last is not None:
        day = replace(first.readings[0], day=int(last))
        yield replace(first, start=first.end - 1, readings=(day,))


def _place(found: FoundDate) -> int:
    return found.start


def _off(text: str, dates: list[FoundDate]) -> Iterator[FoundDate]:
    """Yield the months and years that are told by how far they are from the last date.

    "On 1 December, two months later" is of that day.
    """
    for hit in _TIME_OFF.finditer(text) if dates else ():
        told = [one for one in dates if one.start < hit.start()]
        if not told or _BESIDE.fullmatch(text, told[-1].end, hit.start()):
            continue
        if (day := _counted_from(told[-1].readings[0], hit)) is not None:
            yield FoundDate(hit.start(), hit.end(), (day,))


def _counted_from(told: WrittenDate, hit: re.Match[str]) -> WrittenDate | None:
    """Return when something was "two months later"; None where what is told is no such date."""
    unit = "month" if hit["month"] else "year"
    days = days_of(told.year, told.month, told.day) if told.year is not None else None
    if days is None or (hit["month"] and told.month is None):
        return None
    count = int(hit["count"] or 1)
    then = steps_back(days.first, unit, -count if hit["later"] else count)
    return WrittenDate(then.year, then.month if hit["month"] else None)


def _begun(text: str, end: FoundDate) -> Iterator[FoundDate]:
    """Yield the first day of "28 to 30 March 2017", or the first month of "June and July 2017"."""
    last = end.readings[0]
    near = max(0, end.start - _NEAR_CHARS)  # of a long list not all is looked through for each
    first = _FIRST_DAY.search(text, near, end.start) if last.day is not None else None
    begun = (int(first["month"] or last.month or 0), int(first["day"])) if first else (0, 0)
    if first is not None and (0, 1) <= begun < (last.month or 0, last.day or 0):
        day = WrittenDate(last.year, *begun)
        yield FoundDate(first.start("day"), max(first.end("day"), first.end("month")), (day,))
        return
    before = end.start
    while last.month and last.year and (month := _first_month().search(text, near, before)):
        number = int(month["day"]) if month["day"] else None
        day = WrittenDate(last.year, _month(month["month"]), number)
        before, near = month.start("month"), max(0, month.start("month") - _NEAR_CHARS)
        yield FoundDate(before, month.end("told"), (day,))


@lru_cache(maxsize=1)
def _first_month() -> re.Pattern[str]:
    """Return what stands before the last day of "November 5 to December 8, 2022"."""
    names = "|".join(_months())
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    return re.compile(rf"\b(?P<told>(?P<month>{names})\b\.?(?:\s{day})?)\s?{_AND}\s?(?:i[nm] )?\Z")


def _months() -> tuple[str, ...]:
    """Return the months with a capital: "may" is a word too."""
    names = sorted(statement_words().months, key=len, reverse=True)
    return tuple(form for one in names for form in (re.escape(one.capitalize()), one.upper()))


@lru_cache(maxsize=4_000)
def recorded_date(text: str) -> WrittenDate | None:
    """Return a FHIR date or dateTime as its day, month or year; None where it is none."""
    parts = text[:10].split("-")
    if not all(part.isdigit() for part in parts) or len(parts[0]) != 4:
        return None
    return WrittenDate(*(int(part) for part in parts))


def _found(one: re.Match[str]) -> FoundDate | None:
    got = {name: value for name, value in one.groupdict().items() if value is not None}
    readings = tuple(_readings(got))
    return FoundDate(one.start(), one.end(), readings) if readings else None


def _readings(got: dict[str, str]) -> Iterator[WrittenDate]:
    """Yield what the groups of the form that fitted mean."""
    number = {name: int(text) for name, text in got.items() if text.isdigit()}
    month = _month(next((got[key] for key in ("m2", "m3", "m3c", "m4") if key in got), ""))
    year = next(
        (number[key] for key in ("y1", "y2", "y3", "y3b", "y6", "y7", "y8") if key in got), None
    )
    day = next((number[key] for key in ("d1", "d2", "d3", "d3c") if key in got), None)
    if "a5" in got:
        first, second, year = number["a5"], number["b5"], whole_year(int(got["y5"]))
        yield WrittenDate(year, second, first)
        if got["s5"] == "/" and first != second:
            yield WrittenDate(year, first, second)
    elif "part" in got:
        months = statement_words().parts_of_year[got["part"].lower()]
        yield from (WrittenDate(year, month) for month in months)
    else:
        yield WrittenDate(year, number.get("mo1") or number.get("mo6") or month, day)


def _is_date(found: FoundDate) -> bool:
    return any(
        (one.year is None or FIRST_YEAR <= one.year <= LAST_YEAR)
        and (one.month is None or 1 <= one.month <= 12)
        and (one.day is None or 1 <= one.day <= 31)
        for one in found.readings
    )


def _month(name: str) -> int | None:
    return statement_words().months.get(name.lower())


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    # Tried at each word: what it begins with is cheaper to look at than sixty names.
    first = "".join(sorted({one[0].upper() for one in statement_words().months}))
    month = f"(?=[{first}])(?:{'|'.join(_months())})"
    year = r"(?:19|20)\d\d"
    ordinal = "(?:st|nd|rd|th)"
    until = r"(?:\s?(?:to|until|through|and|–|-)\s?(?P<l3>\d{1,2}))?"
    time = r"(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?"
    part = "|".join(map(re.escape, statement_words().parts_of_year))
    begins = "".join(sorted({one[0] + one[0].upper() for one in statement_words().parts_of_year}))
    forms = (
        rf"(?<![\w.])(?P<y1>{year})-(?P<mo1>\d\d)(?:-(?P<d1>\d\d){time})?(?!\w)",
        rf"(?<![\w.,])(?P<d2>\d{{1,2}})(?:{ordinal}|\.)?\s+(?:of\s+)?(?P<m2>{month})\b\.?"
        rf"(?:,?\s+(?P<y2>{year})\b)?",
        rf"\b(?P<m3>{month})\b\.?(?:\s+(?P<d3>\d{{1,2}}){ordinal}?(?![\w.]\d|\d){until}"
        rf"(?:,?\s+(?P<y3>{year})\b)|,?\s+(?P<y3b>{year})\b)",
        rf"\b(?P<m3c>{month})\.?\s+(?P<d3c>\d{{1,2}})(?:{ordinal}\b|(?=\s*(?:[.,;)(]?\Z|[,;)(]\s|and\b|for\b|to\b)))",
        rf"(?<=\b[Ii]n )(?P<m4>{month})\b",
        rf"(?<![\w.,/])(?P<a5>\d{{1,2}})(?P<s5>[./])(?P<b5>\d{{1,2}})(?P=s5)"
        rf"(?P<y5>{year}|\d\d)(?![\w/]|\.\d)",
        rf"(?<![\w.,/])(?P<mo6>0?[1-9]|1[0-2])[/.](?P<y6>{year})(?![\w/])",
        rf"\b(?i:(?P<part>{part}))(?:[ -](?:of )?|\s)(?P<y8>{year})(?![\w/%-]|[.,]\d)",
        rf"(?<![\w.,/$€-])(?P<y7>{year})(?![\w/%-]|[.,]\d)"
        r"(?!\s*(?:mg|g|kg|ml|mL|IU|U|IE|units|kcal|steps)\b)",
    )
    return re.compile(rf"\b(?=[\d{first}{begins}])(?:{'|'.join(forms)})")
