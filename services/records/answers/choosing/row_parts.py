"""The parts of which a line about a row of the chart is made. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from operator import itemgetter

from data_models.chart_view import ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.figures.unit_sizes import converted
from services.language.utterance import ChartQuestion, Part, TimeSpan
from services.language.words.vocabulary import concept_rows
from services.records.concepts.table import words_listed, words_of_removal
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day
from services.records.resources.entry import instant
from services.records.resources.values import ucum_of
from services.records.rows.measurements import MEASURED

# How details of rows tell what may be asked of them.
MARKS: Mapping[Part, tuple[str, ...]] = {
    "reason": ("for ", "because of ", "note: "),
    "people": ("by ", "with ", "ordered by ", "given by "),
    "place": ("at ", "handed out "),
    "end": ("ended",),
    "dose": ("other doses: ",),
    "destination": ("discharged to ",),
    "number": ("model ", "serial ", "lot ", "UDI "),
    "end reason": ("ended because", "because of ", "Stopped ", "Discontinued ", "Paused "),
}
BROKEN_OFF = "broken off"
"""Asks for what says why it was stopped."""
_UNREPORTED = ("imaging study", "procedure")
"""Kinds that tell no result, the second of them where it has no value."""
_DUE_AGAIN = MEASURED | {"immunization", "procedure", "imaging study", "fact"}
_WITH_STATE = frozenset({"medication", "problem", "coverage"})
_WITH_PARTS = frozenset(
    {"encounter", "procedure", "medication", "problem", "immunization", "care plan", "device",
     "imaging study"}
)  # fmt: skip
_WITH_REACTION = frozenset({"allergy", "immunization", "medication"})
_ALSO_OF_VALUES: frozenset[Part] = frozenset({"reason", "end reason", "people"})

_RECORDED = "recorded "
_FOOT = "[ft_i]"
_INCHES = 12
_CALLED = {
    "[lb_av]": "lb", "[stone_av]": "st", "[in_i]": "in", "Cel": "°C", "[degF]": "°F"
}  # fmt: skip
_SOURCES_SHOWN = 1
_OF_BODY = ("/m2", "/m²", "/kg")
_DIGITS = 4


def value_of(row: ViewRow) -> str:
    """Return the value with its unit, once."""
    value = row.value
    if row.unit and not value.endswith(row.unit):
        value = f"{value} {row.unit}"
    return value.strip()


def in_unit(row: ViewRow, unit: str) -> ViewRow:
    """Return a row that tells its value in the UCUM `unit`, too, where there is a way to it."""
    if not unit or row.number is None or unit == row.unit:
        return row
    found = converted(row.number, ucum_of(row.unit), unit)
    if found is None:
        return row
    told = f"{figure(Decimal(str(found)))} {_CALLED.get(unit, unit)}"
    if unit == _FOOT:
        feet, inches = divmod(round(found * _INCHES), _INCHES)
        told = f"{feet} ft {inches} in"
    return row.model_copy(update={"value": f"{told} = {value_of(row)}"})


def flag_of(row: ViewRow, words: AnswerWords) -> str:
    """Return the reference range and the flag, as they stand behind a value; "" without both."""
    flag = f", {words.word(row.flag)}" if row.flag else ""
    return f" ({row.range}){flag}" if row.range else flag


def day_of(row: ViewRow) -> str:
    """Return the day of a row, as exact as the record has it."""
    return row.date[:10]


def times_told(row: ViewRow) -> list[str]:
    """Return the first day, and behind a dash the last, of each time that a row is told for."""
    told = next((one for one in row.detail.split("; ") if one.startswith(_RECORDED)), "")
    return [word for word in told.replace(",", "").split() if first_day(word[:10])]


def days_recorded(row: ViewRow) -> list[date]:
    """Return the days on which a problem was recorded that is told once for several times."""
    return [day for word in times_told(row) if (day := first_day(word[:10]))]


def by_year(rows: Sequence[ViewRow]) -> list[tuple[str, list[ViewRow]]]:
    """Return the dated rows of each year, the newest year first."""
    years: dict[str, list[ViewRow]] = {}
    for row in sorted(rows, key=moment_of, reverse=True):
        if row.date:
            years.setdefault(row.date[:4], []).append(row)
    return [*years.items()]


def counts_of_years(question: ChartQuestion, rows: Sequence[ViewRow]) -> list[str]:
    """Return a line with the count of each year, where that is asked for."""
    years = by_year(rows) if question.rate == "per year" else []
    return [f"- {year}: {len(own)}" for year, own in years]


def last_visits(question: ChartQuestion, rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows; of visits of a kind as many of the newest as are asked for."""
    if question.tool != "encounters" or "last" not in question.arguments:
        return [*rows]
    newest = sorted(rows, key=moment_of, reverse=True)
    return newest[: int(question.arguments["last"])]


def asked_first(question: ChartQuestion, rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows, their details from the part on that is asked for: no line cuts it off."""
    if not (marks := MARKS.get(question.part or "status")):
        return [*rows]
    each = ((row, row.detail.split("; ")) for row in rows)
    told = ((row, sorted(said, key=lambda one: not one.startswith(marks))) for row, said in each)
    return [row.model_copy(update={"detail": "; ".join(said)}) for row, said in told]


def nearest(rows: Sequence[ViewRow], days: TimeSpan) -> list[ViewRow]:
    """Return the first of `rows` after some days, and the last before them."""
    since, until = days.since or days.until or date.min, days.until or days.since or date.max
    dated = sorted(((day, row) for row in rows if (day := first_day(row.date))), key=itemgetter(0))
    after = [row for day, row in dated if day > until]
    before = [row for day, row in dated if day < since]
    return [*after[:1], *before[-1:]]


def moment_of(row: ViewRow) -> str:
    """Return a key by which rows sort in time, whatever the offsets of their dates."""
    return instant(row.date)


def newest_day(row: ViewRow) -> str:
    """Return the last day of what is told once for several times: a drug's last prescription."""
    said = row.detail.replace(",", "").replace(";", "").split()
    last = [day for mark, day in pairwise(said) if mark == "last" and first_day(day)]
    return max([row.date[:10], *last])


def sources_of(row: ViewRow) -> str:
    """Return the source that is cited for a row, in brackets."""
    return "".join(f"[{ref}]" for ref in row.sources[:_SOURCES_SHOWN])


def number_of(row: ViewRow) -> float:
    """Return the number of a row, of a pressure the upper one; 0 where it has none."""
    upper, slash, _ = row.value.partition("/")
    is_pair = bool(slash) and upper.strip().replace(".", "", 1).isdigit()
    return row.number if row.number is not None else float(upper) if is_pair else 0.0


def is_limited(question: ChartQuestion) -> bool:
    """Whether only values beyond a limit are asked for: above 9."""
    return question.above is not None or question.below is not None


def limit_of(question: ChartQuestion, rows: Sequence[ViewRow]) -> float:
    """Return the limit in the unit of `rows`, as asked where there is no way to that."""
    limit = question.above if question.above is not None else question.below or 0.0
    own = ucum_of(rows[0].unit) if question.unit and rows else ""
    same = converted(limit, question.unit, own) if own else None
    return limit if same is None else same


def limits_of(question: ChartQuestion, rows: Sequence[ViewRow]) -> tuple[float, float]:
    """Return both limits of a question in the unit of `rows`, the lower one first."""
    upper = replace(question, above=None)
    low, high = sorted((limit_of(question, rows), limit_of(upper, rows)))
    return low, high


def is_convertible(question: ChartQuestion, row: ViewRow) -> bool:
    """Whether a value can be told in the unit that is asked for."""
    return not question.unit or converted(1.0, ucum_of(row.unit), question.unit) is not None


def beyond(question: ChartQuestion, rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows whose number is above, or below, the limit of a question."""
    if question.above is not None and question.below is not None:
        low, high = limits_of(question, rows)
        return [row for row in rows if row.number is not None and low <= row.number <= high]
    is_above = question.above is not None
    limit = limit_of(question, rows)
    lower = question.lower_limit
    together = any if is_above else all  # above 140/90 is either of both figures
    limits = (limit,) if lower is None else (limit, lower)
    return [
        row
        for row in rows
        if (figures := _figures(row))
        and together(
            question.or_equal if value == least else (value > least) == is_above
            for value, least in zip(figures, limits, strict=False)
        )
    ]


def _figures(row: ViewRow) -> list[float]:
    """Return the number of a row, and behind it the lower figure where it is a pressure."""
    lower = row.value.partition("/")[2].strip()
    numbers = [] if row.number is None else [row.number]
    return [*numbers, *([float(lower)] if lower.replace(".", "", 1).isdigit() else [])]


def figure(number: Decimal) -> str:
    """Return a number that was worked out, with at most four significant digits."""
    rounded = Decimal(f"{number:.{_DIGITS}g}")
    return f"{rounded:f}" if rounded else "0"


def _is_reaction_untold(rows: Sequence[ViewRow]) -> bool:
    told = (row.value or "(" in row.name for row in rows if row.kind == "allergy")
    is_said = any(told) or any(_tells(row, ["reaction: "]) for row in rows)
    return any(row.kind in _WITH_REACTION for row in rows) and not is_said


_UNTOLD: Mapping[Part, Callable[[Sequence[ViewRow]], bool]] = {
    "due": lambda rows: any(row.kind in _DUE_AGAIN for row in rows),
    "reaction": _is_reaction_untold,
    "side": lambda rows: words_listed("sides").isdisjoint(
        words_of(" ".join(f"{row.name} {row.value} {row.detail}" for row in rows))
    ),
    # Its name may tell it, too: "Docetaxel 75 mg/m2"; a strength is none.
    "dose": lambda rows: (
        not any(
            row.kind != "medication" or row.value or any(map(row.name.__contains__, _OF_BODY))
            for row in rows
        )
    ),
    "effect": lambda _: True,
    "result": lambda rows: all(row.kind in _UNREPORTED[: 2 - bool(row.value)] for row in rows),
    "code": lambda rows: not any(row.code for row in rows),
    "end people": lambda rows: any(row.kind == "medication" for row in rows),
    "found": lambda rows: any(row.kind == "problem" for row in rows),
    "pause": lambda rows: any(r.status == "on-hold" and not says_why_over(r) for r in rows),
}
"""Whether no row tells a part that stands in no detail."""


def part_missing(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> list[str]:
    """Say that no row tells the part that was asked for; codes are told, as they are in no line."""
    is_of_pause = question.aspect == "when" and question.part is None
    is_of_pause |= question.part == "end" and {row.status for row in rows} == {"on-hold"}
    part = "pause" if is_of_pause else question.part  # the day of what is paused is of its order
    if part == "code" and (told := [*_codes_told(rows, words)]):
        return told
    if part is not None and part in _UNTOLD:
        is_untold = _UNTOLD[part](rows)
        return [words.say("no_part", part=words.parts[part])] if is_untold else []
    if question.part == "treatment" and question.tool == "procedures":  # "was the coil removed?"
        is_out = any(words_of_removal() & {*words_of(row.name)} for row in rows)
        return [] if is_out else [words.say("no_part", part=words.parts["end"])]
    is_open = all(row.status == "active" and not row.end for row in rows)
    if question.part in ("end", "end reason") and is_open:
        return [words.say("goes_on")] if any(row.kind in _WITH_STATE for row in rows) else []
    marks = MARKS.get(question.part) if question.part else None
    newest = sorted(rows, key=moment_of, reverse=True)
    shown = newest[:1] if question.aspect == "latest" else rows
    is_of_values = question.part in _ALSO_OF_VALUES and question.tool in ("results", "biomarkers")
    shown = [row for row in shown if is_of_values or row.kind in _WITH_PARTS]
    is_read = question.tool == "search_record" and len(shown) < len(rows)  # texts may tell it
    if marks is None or not shown or is_read or any(_tells(row, marks) for row in shown):
        return []
    is_told = question.part == "end" and any(row.end for row in shown)
    # An illness, or what was done, may tell where behind no mark, "Sacrum, L3", or by its name.
    sites = [r.detail for r in shown if r.detail and r.kind in ("problem", "procedure")]
    sites += [r.name for r in shown if r.kind == "problem" and " of " in r.name]
    is_of_site = question.part == "place" and not question.is_begun  # no clinic of a diagnosis
    is_told |= is_of_site and not all(one.startswith("for ") for one in sites)
    is_told |= is_of_site and any(", site " in one.value for one in shown)
    # "Why no warfarin?" is told by why it ended.
    if question.part == "reason" and question.aspect != "whether":
        is_told = any(says_why_over(row) for row in shown)
        causes, ills = words_listed("of_cause"), [one for one in shown if one.kind == "problem"]
        is_told |= not all(causes.isdisjoint(words_of(one.name)) for one in ills)
        is_told |= any("as needed for " in one.value for one in shown)
    if is_told:
        return []
    return [words.say("no_part", part=words.parts[question.part])] if question.part else []


def _codes_told(rows: Sequence[ViewRow], words: AnswerWords) -> Iterator[str]:
    """Yield the codes that things are recorded with, each with what its system is called."""
    systems = concept_rows()["code_systems"]
    for name, codes in dict.fromkeys((one.name, one.code) for one in rows):
        pairs = (code.partition("|") for code in codes)
        if told := ", ".join(f"{systems.get(system, system)} {code}" for system, _, code in pairs):
            yield words.say("coded", name=name, codes=told)


def says_why_over(row: ViewRow) -> bool:
    """Whether a row says why something ended, or was stopped for a while."""
    return _tells(row, MARKS["end reason"])


def _tells(row: ViewRow, marks: Sequence[str]) -> bool:
    return any(each.startswith(tuple(marks)) for each in row.detail.split("; "))


def times_recorded(row: ViewRow, span: TimeSpan | None) -> int:
    """Return how often a problem was recorded, in the days of `span` where the row tells them."""
    days = days_recorded(row)
    if span is None or len(days) != len(row.sources):
        return len(row.sources)
    since, until = span.since or date.min, span.until or date.max
    return sum(since <= day <= until for day in days)


def once_each(rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return a course with what was done again and again told once, at its last time."""
    last = {(row.kind, row.name): row for row in rows}
    times = Counter((row.kind, row.name) for row in rows)
    return [
        row if times[row.kind, row.name] == 1
        else row.model_copy(update={"value": f"{times[row.kind, row.name]} times, the last"})
        for row in rows
        if last[row.kind, row.name] is row
    ]  # fmt: skip
