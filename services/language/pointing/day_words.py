"""Reads days out of a message: dates, weekdays, weeks, "in two days"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta, weekday

from services.language.figures.calendar_days import around, steps_back
from services.language.pointing.draft_text import DraftText
from services.language.pointing.times import DayChoice, Near, TimeFilter
from services.language.pointing.vocabulary import NUMBER_WORDS, ORDINALS, WORDS

_MONTHS, _WEEKDAYS = WORDS.words("months"), WORDS.words("weekdays")
_LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "wk": relativedelta(weeks=1),
    "fortnight": relativedelta(weeks=2),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}

_OFFSETS = {"tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1}
_OFFSETS |= {"day after tomorrow": 2, "day before yesterday": -2}
_STEPS = {"next": 1, "coming": 1, "following": 1, "last": -1, "week": 2}  # "week after next"
_ISO = re.compile(r"(?i)\b(\d{4})-(\d{2})-(\d{2})(?:T(?=\d))?")
_SLASHES = re.compile(r"\b(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?\b")
_DOTS = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?(?!\d)")

_Reader = Callable[[re.Match[str], datetime], DayChoice | Near | None]


def read_days(text: DraftText, now: datetime, found: TimeFilter) -> None:
    """Take all days out of `text`; `now` is in the user's zone."""
    for pattern, read in _READERS:
        for match in text.take_all(pattern):
            choice = read(match, now)
            if isinstance(choice, Near):
                found.near.append(choice)
            elif choice is not None:
                found.days.append(choice)


def number_of(text: str) -> int:
    """Return the number that a word or digits say."""
    folded = text.casefold()
    return 1 if folded in ("a", "an", "the") else NUMBER_WORDS.get(folded) or int(folded)


def _exactly(days: Sequence[date | None], word: str = "") -> DayChoice:
    # A date that does not exist fits nothing; it must not vanish from the request.
    spans = tuple((day, day) for day in days if day is not None)
    return DayChoice(spans=spans or ((date.max, date.min),), word=word)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _named(match: re.Match[str], _: datetime) -> DayChoice:
    month = _place(match["month"], _MONTHS) + 1
    day, year = int(match["day"]), match["year"]
    if year is not None:
        return _exactly([_date(int(year), month, day)])
    return DayChoice(month=month, day=day)


def _numeric(match: re.Match[str], now: datetime, *, either_order: bool) -> DayChoice:
    first, second = int(match[1]), int(match[2])
    years = _years(match[3], now)
    days = [_date(year, second, first) for year in years]
    if either_order:
        days += [_date(year, first, second) for year in years]
    near = sorted((one for one in days if one), key=lambda one: abs((one - now.date()).days))
    return _exactly(near)


def _years(text: str | None, now: datetime) -> Sequence[int]:
    if text is None:
        return (now.year - 1, now.year, now.year + 1)
    return (int(text) + (2000 if len(text) == 2 else 0),)


def _relative(match: re.Match[str], now: datetime) -> DayChoice:
    word = match[1].casefold()
    offset = _OFFSETS.get(word, 0)
    return _exactly([now.date() + timedelta(days=offset)], word)


def _day_of_a_week(match: re.Match[str], now: datetime) -> DayChoice:
    which = match["which"] or match["which2"]
    monday = around(now.date() + timedelta(weeks=_weeks_on(which)), "week").first
    return _exactly([monday + timedelta(_place(match["name"] or match["name2"], _WEEKDAYS))])


def _week_on(match: re.Match[str], now: datetime) -> DayChoice:
    """Read "Monday week": a week after the Monday that comes."""
    ahead, *_ = _days_of("coming", _place(match["name"] or match["name2"], _WEEKDAYS), now.date())
    return _exactly([ahead and ahead + timedelta(weeks=1)])


def _weeks_on(which: str) -> int:
    return _STEPS.get(which.split(maxsplit=1)[0].casefold(), 0)


def _period(match: re.Match[str], now: datetime) -> DayChoice:
    unit = (match[2] or "week").casefold().removesuffix("end").replace("wk", "week")
    days = around(steps_back(now.date(), unit, -_weeks_on(match[0])), unit)
    is_weekend = (match[2] or "").casefold() == "weekend"
    first = days.last - timedelta(days=1) if is_weekend else days.first
    return DayChoice(spans=((first, days.last),))


def _weekday(match: re.Match[str], now: datetime) -> DayChoice:
    name = match["name"].casefold()
    number = _place(name, _WEEKDAYS)
    which = (match["which"] or "").casefold()
    chosen = _exactly(_days_of(which, number, now.date()), name)
    if which:
        return chosen
    since = (now.date().weekday() - number) % 7 or 7
    return replace(chosen, behind=now.date() - timedelta(days=since))


def _days_of(which: str, number: int, today: date) -> list[date | None]:
    """Return every day that somebody may mean: people differ on "next Friday"."""
    ahead = today + timedelta(days=(number - today.weekday()) % 7)
    in_week = today + timedelta(days=number - today.weekday())
    strictly_ahead = ahead + timedelta(days=7) if ahead == today else ahead
    if which in ("next", "following"):
        return [strictly_ahead, in_week + timedelta(days=7)]
    if which in ("last", "past"):
        before = ahead - timedelta(days=7)
        return [before, in_week - timedelta(days=7)]
    if which:
        return [ahead, in_week] if which == "this" else [ahead]
    return [ahead, strictly_ahead]


def _place(name: str, names: Sequence[str]) -> int:
    return next(at for at, one in enumerate(names) if one.startswith(name[:3].casefold()))


def _of_month(match: re.Match[str], now: datetime) -> DayChoice:
    """Read "first Monday in January", of the year that is said or else of the month to come."""
    nth = ORDINALS.get(match["nth"].casefold()) or int(match["nth"][0].replace("l", "0")) or -1
    first = now.date() + relativedelta(day=1, month=_place(match["month"], _MONTHS) + 1)
    behind = first < now.date() + relativedelta(day=1)
    first += relativedelta(year=int(match["year"] or first.year + behind))
    of_week = weekday(_place(match["name"], _WEEKDAYS), nth)
    return _exactly([first + relativedelta(day=31 if nth < 0 else 1, weekday=of_week)])


def _in(match: re.Match[str], now: datetime) -> DayChoice | Near:
    half, ago = match["half"], match["n3"]
    number = number_of(match["n"] or match["n2"] or ago or ("6" if half == "year" else "30"))
    unit = match["unit"] or match["unit2"] or match["unit3"]
    unit = (unit or ("month" if half == "year" else "min")).casefold()
    if unit in _LENGTHS:
        day = now.date() + (-number if ago else number) * _LENGTHS[unit]
        name = (match["name"] or f"{day:%A}")[:3].casefold()  # of "Monday in 2 weeks" the nearest
        near = (day + timedelta(days=one) for one in range(-3, 4))
        return _exactly([one for one in near if _WEEKDAYS[one.weekday()].startswith(name)])
    return Near(now + timedelta(minutes=number * (60 if unit.startswith("h") else 1)))


_READERS: Sequence[tuple[re.Pattern[str], _Reader]] = (
    (_ISO, lambda it, _: _exactly([_date(int(it[1]), int(it[2]), int(it[3]))])),
    (WORDS.compiled("weekday_of_month"), _of_month),
    (WORDS.compiled("day_month"), _named),
    (WORDS.compiled("month_day"), _named),
    (_SLASHES, lambda match, now: _numeric(match, now, either_order=True)),
    (_DOTS, lambda match, now: _numeric(match, now, either_order=False)),
    (WORDS.compiled("day_of_a_week"), _day_of_a_week),
    (WORDS.compiled("week_on"), _week_on),
    (WORDS.compiled("in_a_length"), _in),
    (WORDS.compiled("relative"), _relative),
    (WORDS.compiled("period"), _period),
    (WORDS.compiled("risky_weekday"), _weekday),
    (WORDS.compiled("risky_last"), _weekday),
    (WORDS.compiled("weekday"), _weekday),
    (
        WORDS.compiled("month_alone"),
        lambda it, _: DayChoice(month=_place(it[1], _MONTHS) + 1, word=it[1].casefold()),
    ),
    (WORDS.compiled("day_alone"), lambda it, _: DayChoice(day=int(it["day"]))),
)
STARTS_A_TIME = WORDS.compiled("starts_a_time")
