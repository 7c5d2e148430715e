"""Days and spans of days that a message names: "since 2019", "in March 2018". Pure.

Made for what lies in the past, as charts do; the words of each language stand in `times.yaml`.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import TypeAlias

from services.language.figures.calendar_days import Days, around, days_of, steps_back, whole_year
from services.language.figures.lengths import any_of, length_pattern, sign_of
from services.language.figures.time_words import TimeWords, month_names, time_words
from services.language.figures.year_parts import SEASON_MONTHS, YearParts
from services.language.utterance import TimeSpan
from services.language.words.folding import fold
from services.language.words.vocabulary import words_with_number

_YEAR = r"(?:19|20)\d\d"
_WEEK = rf"(?P<week>[1-4]?\d|5[0-3])(?:[ /]?(?P<year>{_YEAR}))?"
_NTH = r"(?P<nth>[12]?\d|3[01])(?:st|nd|rd|th)"
_UNITS = ("day", "week", "month", "year", "decade")


@lru_cache(maxsize=64)  # all rules that read a message
def spans_in(text: str, *, today: date, language: str = "en") -> tuple[tuple[TimeSpan, ...], str]:
    """Return the spans of days that folded `text` names, and the text without them.

    A date that does not exist is no span; it stays in the text.
    """
    reader = _reader(language)
    found, text = reader.year_parts.spans_in(reader.with_years(reader.counted(text)), today=today)
    for pattern, read in reader.readers if reader.sign.search(text) else ():

        def take(match: re.Match[str], read: _Read = read) -> str:
            if (span := read(match, today)) is None:
                return match[0]
            found.append(TimeSpan(span.since, span.until, match[0].strip()))
            return " "

        text = pattern.sub(take, text)
    return tuple(found), text


def length_left(text: str, language: str) -> str:
    """Return a time that folded `text`, without its spans, still names: "in 3 months"."""
    found = _reader(language).length.search(text)
    return "" if found is None else found[0].strip()


_Read: TypeAlias = Callable[[re.Match[str], date], TimeSpan | None]


@cache
def _reader(language: str) -> "_TimeReader":
    return _TimeReader(language=language)


class _TimeReader:
    """The expressions of one language; each is tried on the whole text, the longest forms first."""

    def __init__(self, *, language: str) -> None:
        words, numbers = time_words(language), words_with_number(language)
        self._words, self._numbers, self._months = words, numbers, month_names(language)
        self._same_as = [(re.compile(said), counted) for said, counted in words.same_as.items()]
        self._weekdays = {one: at for at, names in enumerate(words.weekdays) for one in names}
        count = rf"(?:(?P<n>\d{{1,3}}|{any_of(numbers)})|(?P<some>{any_of(words.several)}))"
        one = r"(?:an?|eine[mnr]?|une?|una?)"
        unit = "|".join(rf"(?P<{name}>{any_of(words.units[name])})" for name in _UNITS)
        within, last = rf"(?:(?:{any_of(words.in_)}) )*", any_of(words.last)
        ago, first = any_of(words.ago), any_of(words.ago_first)
        self.length = _length(words, rf"(?:\d{{1,3}}|{any_of(numbers)}|{one})", self._months)
        self.year_parts = self._year_parts(words, within)
        a, b, after = self._point("a"), self._point("b"), any_of(words.after)
        opens, joint = any_of((*words.between, *words.from_)), any_of((*words.and_, *words.to))
        between = rf"(?:(?:(?P<between>{any_of(words.between)})|{any_of(words.from_)}) )?"
        # "2012 and 2016" are two years, and none between them.
        to = rf"(?:{any_of(words.to)}|(?(between)(?:{any_of(words.and_)})|(?!)))"
        months, from_ = any_of(self._months), any_of(words.since)
        since = rf"(?:(?P<since>{from_}) )?"
        shared = rf"(?<!\w)((?:{opens}) )?((?:{months})\.?) ({any_of(words.and_)}) "
        self._shared = re.compile(rf"{shared}(?=(?:{months})\.? ({_YEAR})(?!\w))")
        forms: tuple[tuple[str, _Read], ...] = (
            (rf"{within}{between}{a} ?{to} ?{b}", self._between),
            (rf"(?:{opens}) (?P<month>{months}) (?:{joint}) {b}", self._from_month),
            (r"(?:(?:in|the) )*(?P<tens>(?:19|20)\d0)s", _decade),
            (rf"(?:{any_of(words.onward[0])}) {a} (?:{any_of(words.onward[1])})", self._on),
            # "Before and after 2016": of all days.
            (rf"(?:{any_of(words.before)}) (?:{joint}) (?:{after}) {a}", lambda *_: TimeSpan()),
            (rf"(?:{_relation(words)}) (?:the )?{a}", self._related),
            (rf"{since}(?:{count}|{one}) (?:{unit}) (?:{ago})", self._ago),
            (rf"(?:{first}) (?:{count}|{one}) (?:{unit})", self._ago),
            (rf"{since}{within}{count} (?P<which>{last}) (?:{unit})", self._last),
            (rf"{since}{within}{count} (?:{unit}) (?P<which>{last})", self._last),
            (rf"{since}{within}(?P<which>{last}) (?:{count} )?(?:{unit})", self._last),
            (rf"{since}{within}(?:{unit}) (?P<which>{last})", self._last),
            (rf"(?:{from_}) {count} (?:{unit})", self._rolling),
            (rf"(?:{any_of(words.lasting)}) {count} (?:{unit})", self._rolling),
            (rf"{since}{within}(?:{any_of(words.this)}) (?:{unit})", self._this),
            (rf"{since}{within}(?:{any_of(words.calendar_week)}) ?{_WEEK}", _calendar_week),
            (rf"{since}(?P<word>{any_of(words.days)})", self._day_word),
            (self._weekday(within), self._last_weekday),
            (rf"(?:{from_}) (?:the |dem |den |le |el )?{self._day()}", self._since_day),
            (rf"(?:{any_of(words.in_)}) the {_NTH}(?= ?(?:$|[?,]))", _last_such_day),
            (rf"{within}{a}", self._plain),
        )
        units = (one for every in words.units.values() for one in every)
        self.sign = sign_of((*self._months, *self._weekdays, *words.days, *words.seasons, *units))
        self.readers = tuple((re.compile(rf"(?<!\w){form}(?!\w)"), read) for form, read in forms)

    def counted(self, text: str) -> str:
        """Return `text` with lengths that have words of their own as they are counted."""
        for said, counted in self._same_as:
            text = said.sub(counted, text)
        return text

    def with_years(self, text: str) -> str:
        """Return `text` with the year beside each of two months that share it: Jan and Mar 2025."""
        return self._shared.sub(lambda at: at[0] if at[1] else f"{at[2]} {at[4]} {at[3]} ", text)

    def _year_parts(self, words: TimeWords, within: str) -> YearParts:
        seasons = {one: (month, SEASON_MONTHS) for one, month in words.seasons.items()}
        parts = {**seasons, **words.year_parts}
        return YearParts(
            parts={self.counted(fold(one)[0]): each for one, each in parts.items()},
            months=self._months,
            since=any_of(words.since),
            within=within,
            last=any_of(words.last),
            this=any_of(words.this),
        )

    def _point(self, mark: str) -> str:
        """Return an expression for a day, a month or a year, its groups named with `mark`."""
        month = rf"(?:{any_of(self._months)})\.?"
        return (
            rf"(?:(?P<iso_{mark}>{_YEAR}-\d\d(?:-\d\d)?(?!\d))"
            rf"|(?P<dots_{mark}>\d{{1,2}}\.\s?\d{{1,2}}\.\s?(?:{_YEAR}|\d\d(?!\d)))"
            rf"|(?P<slash_{mark}>\d{{1,2}}/\d{{1,2}}/(?:{_YEAR}|\d\d))"
            rf"|(?P<dmy_{mark}>\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?: of| de)? {month}"
            rf"(?: de| del)?,? {_YEAR})"
            rf"|(?P<mdy_{mark}>{month} \d{{1,2}}(?:st|nd|rd|th)?,? {_YEAR})"
            rf"|(?P<my_{mark}>{month}(?: of| de| del)?,? {_YEAR})"
            rf"|(?P<year_{mark}>{_YEAR})(?!-\d\d(?!\d)|[/.]\d))"
        )

    def _weekday(self, within: str) -> str:
        """Return an expression for a weekday that has been: "on Friday" may be one to come."""
        named, words = any_of(self._weekdays) if self._weekdays else r"(?!)", self._words
        begun, of_past = any_of(words.since), any_of(words.last)
        told = rf"(?P<since>{begun}) {within}(?:(?:{of_past}) )?|{within}(?:{of_past}) "
        return rf"(?:{told})(?P<weekday>{named})"

    def _last_weekday(self, match: re.Match[str], today: date) -> TimeSpan:
        back = (today.weekday() - self._weekdays[match["weekday"]] - 1) % 7 + 1
        day = today - timedelta(days=back)
        return _open_if_since(match, Days(day, day))

    def _day(self) -> str:
        """Return an expression for a day of a month, a month or a season, without its year."""
        month = rf"(?:{any_of(self._months)})\.?"
        figure = r"\d{1,2}(?:st|nd|rd|th|\.|er)?"
        season = any_of(self._words.seasons) if self._words.seasons else r"(?!)"
        return (
            rf"(?:{figure}(?: of| de)? (?P<m1>{month})|(?P<m2>{month})(?: {figure})?"
            rf"|(?P<season>{season}))"
        )

    def _since_day(self, match: re.Match[str], today: date) -> TimeSpan | None:
        """Read a day or a season without its year as the last one that has come."""
        if match["season"]:
            month = self._words.seasons[match["season"]]
            return TimeSpan(since=date(today.year - (month > today.month), month, 1))
        figures = [int(each) for each in re.findall(r"\d+", match[0])]
        month = self._month_in(match["m1"] or match["m2"])
        days = (days_of(year, month, figures[0] if figures else 1)
                for year in (today.year, today.year - 1))  # fmt: skip
        return next((TimeSpan(since=at.first) for at in days if at and at.first <= today), None)

    def _at(self, match: re.Match[str], mark: str) -> Days | None:
        kind = next(
            one
            for one in ("iso", "dots", "slash", "dmy", "mdy", "my", "year")
            if match[f"{one}_{mark}"]
        )
        said = match[f"{kind}_{mark}"]
        month: int | None
        day: int | None
        figures = [int(each) for each in re.findall(r"\d+", said)]
        match kind:
            case "iso":
                year, month = figures[:2]
                day = figures[2] if len(figures) > 2 else None
            case "dots":
                day, month, year = figures[0], figures[1], whole_year(figures[2])
            case "slash":
                month, day, year = self._slashed(figures)
            case "dmy" | "mdy":
                day, year = figures
                month = self._month_in(said)
            case "my":
                (year,), month, day = figures, self._month_in(said), None
            case _:
                (year,), month, day = figures, None, None
        return days_of(year, month, day)

    def _slashed(self, figures: list[int]) -> tuple[int, int, int]:
        """Return month, day and year of 3/4/2015; the other order where only that is a date."""
        first, second, year = figures[0], figures[1], whole_year(figures[2])
        is_month_first = self._words.slashes == "month_first"
        month, day = (first, second) if is_month_first else (second, first)
        return (day, month, year) if month > 12 >= day else (month, day, year)

    def _month_in(self, said: str) -> int:
        words = re.findall(r"[^\W\d_]+", said)
        return next(self._months[word] for word in words if word in self._months)

    def _between(self, match: re.Match[str], _: date) -> TimeSpan | None:
        first, second = self._at(match, "a"), self._at(match, "b")
        if first is None or second is None:
            return None
        return TimeSpan(min(first.first, second.first), max(first.last, second.last))

    def _from_month(self, match: re.Match[str], _: date) -> TimeSpan | None:
        """Read "between May and October 2018", and "from December to March 2018"."""
        last, month = self._at(match, "b"), self._months[match["month"]]
        if last is None:
            return None
        first = days_of(last.first.year - (month > last.last.month), month, None)
        return None if first is None else TimeSpan(first.first, last.last)

    def _related(self, match: re.Match[str], _: date) -> TimeSpan | None:
        if (at := self._at(match, "a")) is None:
            return None
        if match["since"]:
            return TimeSpan(since=at.first)
        if match["after"]:
            return TimeSpan(since=at.last + timedelta(days=1))
        return TimeSpan(until=at.last if match["until"] else at.first - timedelta(days=1))

    def _on(self, match: re.Match[str], _: date) -> TimeSpan | None:
        at = self._at(match, "a")
        return None if at is None else TimeSpan(since=at.first)

    def _plain(self, match: re.Match[str], _: date) -> TimeSpan | None:
        at = self._at(match, "a")
        return None if at is None else TimeSpan(at.first, at.last)

    def _last(self, match: re.Match[str], today: date) -> TimeSpan | None:
        unit = _unit_of(match)
        counts = {"n", "some"} & {name for name, said in match.groupdict().items() if said}
        one = fold(self._words.units[unit][0])[0]
        is_several = match[unit] != one and match[unit].startswith(one)
        is_ahead = "n" in counts and match.start("n") < match.start("which")
        if (is_several and not counts) or (match[unit] == one and is_ahead):
            return None  # "over the last years" says not how many, "below 10 last year" of one
        if counts or match["which"] in self._words.rolling or unit == "decade":
            return self._rolling(match, today)
        return _open_if_since(match, around(steps_back(today, unit, 1), unit))

    def _rolling(self, match: re.Match[str], today: date) -> TimeSpan:
        return TimeSpan(since=steps_back(today, _unit_of(match), self._number(match)))

    def _this(self, match: re.Match[str], today: date) -> TimeSpan:
        return _open_if_since(match, around(today, _unit_of(match)))

    def _ago(self, match: re.Match[str], today: date) -> TimeSpan:
        unit = _unit_of(match)
        day = steps_back(today, unit, self._number(match))
        return _open_if_since(match, around(day, "year" if unit == "decade" else unit))

    def _day_word(self, match: re.Match[str], today: date) -> TimeSpan:
        day = today + timedelta(days=self._words.days[match["word"]])
        return _open_if_since(match, Days(day, day))

    def _number(self, match: re.Match[str]) -> int:
        if some := match.groupdict().get("some"):
            return self._words.several[some]
        said = match.groupdict().get("n") or "1"
        return int(said) if said.isdigit() else self._numbers[said]


def _last_such_day(match: re.Match[str], today: date) -> TimeSpan | None:
    """Read "on the 24th" as the last one that has come."""
    months = (steps_back(today, "month", count) for count in range(3))
    days = (days_of(one.year, one.month, int(match["nth"])) for one in months)
    return next((TimeSpan(at.first, at.last) for at in days if at and at.first <= today), None)


def _open_if_since(match: re.Match[str], days: Days) -> TimeSpan:
    return TimeSpan(days.first, None if match.groupdict().get("since") else days.last)


def _calendar_week(match: re.Match[str], today: date) -> TimeSpan | None:
    """Return the days of a week as calendars count them; of no year, the last that has begun."""
    year, week = int(match["year"] or today.year), max(1, int(match["week"]))
    if not match["year"] and (year, week) > today.isocalendar()[:2]:
        year -= 1
    first = date.fromisocalendar(year, min(week, date(year, 12, 28).isocalendar()[1]), 1)
    return _open_if_since(match, Days(first, first + timedelta(days=6)))


def _decade(match: re.Match[str], _: date) -> TimeSpan:
    first = int(match["tens"])
    return TimeSpan(date(first, 1, 1), date(first + 9, 12, 31))


def _unit_of(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return next(unit for unit in _UNITS if groups[unit])


def _length(words: TimeWords, number: str, months: Iterable[str]) -> re.Pattern[str]:
    related = (words.before, words.after, words.since, words.until)
    return length_pattern(
        number, units=words.units, several=words.several, within=words.in_,
        relations=related, age=words.age, months=months,
    )  # fmt: skip


def _relation(words: TimeWords) -> str:
    related = {"since": words.since, "after": words.after, "until": words.until}
    related["before"] = words.before
    return "|".join(rf"(?P<{name}>{any_of(phrases)})" for name, phrases in related.items())
