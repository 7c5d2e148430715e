"""Sentences and small tables over measured values, one template for each aspect. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from data_models.chart_view import ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.utterance import Aspect, ChartQuestion, Rate
from services.records.answers.choosing.asked_rows import concept_of
from services.records.answers.choosing.row_line import (
    ROWS_SHOWN,
    row_line,
    value_sentence,
    value_table,
)
from services.records.answers.choosing.row_parts import (
    by_year,
    day_of,
    figure,
    in_unit,
    is_convertible,
    is_limited,
    moment_of,
    nearest,
    number_of,
    sources_of,
    value_of,
)
from services.records.answers.limits import bounds_in, has_open_end, ranked, told_limited
from services.records.concepts.table import words_listed
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day
from services.records.resources.values import change_text

_YEAR_DAYS = 365.25
_COURSES_SHOWN = 6
_FEWEST_SHOWN = 3
"""Values of one thing, however many things are shown."""


def told_values(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> list[str]:
    """Return what is told of each thing that was measured."""
    every = _by_name(in_unit(row, question.unit) for row in rows)
    if question.near is not None:
        around = [row for series in every for row in nearest(series, question.near)]
        return [value_sentence(row, words) for row in around]
    if question.part == "range" and not question.name:
        return _out_of_range([series[0] for series in every], words)
    if is_limited(question) and not question.unit and (units := _units_of_one(every)):
        # Whether 7.2 mmol/L is above 120 nobody can say who does not know the limit's unit.
        note = words.say("not_converted", recorded=units[0], unit=units[1])
        return [note, *(f"**{each[0].name}**\n{value_table(each, words)}" for each in every)]
    if not question.name and len(every) > _COURSES_SHOWN:  # a whole laboratory
        if question.span is not None and question.aspect in ("trend", "all"):
            return [_newest_of(series, words) for series in every]
        if question.aspect == "trend":
            question = replace(question, aspect="latest")
    most = max(_FEWEST_SHOWN, ROWS_SHOWN // len(every))
    told = [_of_series(question, series, words, most=most) for series in every]
    odd = [series[0] for series in every if not is_convertible(question, series[0])]
    notes = (
        words.say("not_converted", recorded=row.unit, unit=question.unit) for row in odd if row.unit
    )
    return [*dict.fromkeys(notes), *told]


def _newest_of(series: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return the newest value in a line with how many there are, and how far they go."""
    said, count = value_sentence(series[0], words), len(series)
    if count == 1:
        return said
    ordered = sorted((row for row in series if row.number is not None), key=number_of)
    told = f"{said}; {count} {words.things_of['results']}"
    if not ordered:
        return told
    return f"{told}, {words.say('between', first=ordered[0].value, last=ordered[-1].value)}"


def _units_of_one(every: Sequence[Sequence[ViewRow]]) -> list[str]:
    """Return the units of one thing that was measured in several; nothing for other things."""
    things = {concept_of("result", each[0]) or each[0].name for each in every}
    figures = (any(row.number is not None for row in each) or bounds_in(each) for each in every)
    told = zip(every, figures, strict=True)
    units = [each[0].unit for each, is_figure in told if each[0].unit or is_figure]
    return units if len(things) == 1 < len(units) else []


def _out_of_range(newest: Sequence[ViewRow], words: AnswerWords) -> list[str]:
    """Return what is flagged of all newest values, and how many are not or have no range."""
    flagged = [row for row in newest if row.flag]
    rest = [row for row in newest if row not in flagged]
    bare = [row for row in rest if not row.range]
    of = words.things_of["results"]
    said = [value_sentence(row, words) for row in flagged]
    counts = ((len(rest) - len(bare), words.say("unflagged")), (len(bare), words.say("no_range")))
    return [*said, *(f"{count} {of}: {why}." for count, why in counts if count)]


def _ever_out_of_range(
    rows: list[ViewRow], numbers: list[ViewRow], words: AnswerWords, *, most: int
) -> str:
    """Return what was flagged at any time; if nothing was, the newest and how far values went."""
    flagged = [row for row in rows if row.flag]
    if flagged:
        return f"**{rows[0].name}**\n{value_table(flagged, words, most=most)}"
    newest = value_sentence(rows[0], words, with_range=True)
    return "\n".join([newest, *([_extremes(numbers, words)] if numbers[1:] else [])])


def _by_name(rows: Iterable[ViewRow]) -> list[list[ViewRow]]:
    """Return the rows of each thing that was measured, the newest first.

    Of a pressure its two parts are told by it. What gave no result has no unit: it stands among
    the values of its thing, but for the newest.
    """
    every = list(rows)
    whole = {row.sources for row in every if row.number is None and "/" in row.value}
    series: dict[tuple[str, str], list[ViewRow]] = {}
    for row in every:
        if not (row.sources in whole and row.detail.startswith("of ")):
            key = (concept_of("result", row) or row.name, row.unit)
            series.setdefault(key, []).append(row)
    for name, unit in [*series]:
        others = [
            each for (one, other), each in series.items() if one == name and other and not unit
        ]
        newest = max((moment_of(row) for each in others for row in each), default=None)
        if newest is not None and all(
            row.number is None and moment_of(row) < newest for row in series[name, unit]
        ):
            others[0] += series.pop((name, unit))
    return [sorted(each, key=moment_of, reverse=True) for each in series.values()]


def _of_series(
    question: ChartQuestion, rows: list[ViewRow], words: AnswerWords, *, most: int
) -> str:
    has_limit = is_limited(question) and is_convertible(question, rows[0])
    is_ranked = has_limit or question.aspect in ("minimum", "maximum", "extremes")
    figures = ranked(rows) if is_ranked else rows
    numbers = [row for row in figures if row.number is not None] or next(
        iter(_halves(rows)), []
    ) * is_ranked
    if has_limit:
        return told_limited(question, numbers, words) if numbers else value_table(rows, words)
    aspect: Aspect = question.aspect
    if question.rate == "per year" and aspect in _OF_EACH_YEAR:
        once = replace(question, rate="")
        lines = [
            f"- {year}: {_of_series(once, own, words, most=most)}" for year, own in by_year(rows)
        ]
        return "\n".join([f"**{rows[0].name}**", *lines])
    if aspect == "average" and (both := _halves(rows)):
        return _told_average(both[0], "/".join(map(_mean, both)), words)
    is_open = aspect == "change" and has_open_end(rows)
    if aspect in _WITH_NUMBERS and (is_open or not numbers):
        aspect = "trend"
    if aspect == "change":
        told = _change(numbers, words, name=f"**{rows[0].name}**", rate=question.rate)
        return "\n".join([told, *_beyond(numbers, words)])
    if aspect in _OF_NUMBERS:
        told = _in_place(question, numbers, words) or _OF_NUMBERS[aspect](numbers, words)
        is_of_some = question.span is not None and aspect != "average"
        bare = bounds_in(rows) if aspect == "average" else []
        more = [value_table(bare, words)] if bare else []
        return "\n".join([told, *([_counted_values(numbers, words)] if is_of_some else more)])
    if question.part == "range" and question.is_past:
        return _ever_out_of_range(rows, numbers, words, most=most)
    return _of_rows(question, aspect, rows, words, most=most)


def _of_rows(
    question: ChartQuestion, aspect: Aspect, rows: list[ViewRow], words: AnswerWords, *, most: int
) -> str:
    if aspect == "count":
        return _counted_values(rows, words)
    if question.back:
        return _before(question, rows, words)
    is_first = aspect == "first"
    if is_first and question.most:
        return value_table(rows[-question.most :], words)
    is_many = aspect in ("trend", "when") or "last" in question.arguments
    is_many |= (question.span is not None or bool(question.month)) and aspect != "latest"
    is_many |= aspect == "all" and bool(words_listed("cultures") & {*words_of(rows[0].name)})
    if is_many and not is_first and len(rows) > 1:
        numbers = [row for row in rows if row.number is not None]
        lines = [f"**{rows[0].name}**", value_table(rows, words, most=most)]
        if len(numbers) > 1 and not has_open_end(rows):
            # Else Markdown hangs it on the last row of the list.
            lines += ["", _change(numbers, words, name=words.say("overall"), rate=question.rate)]
        return "\n".join(lines)
    # Which of two of one moment is right, nobody knows: both are told.
    end = next((row for row in (rows[::-1] if is_first else rows) if row.date), rows[0])
    told = {row.value: row for row in reversed(rows) if row.date == end.date}
    with_range = question.part == "range"
    lines = [value_sentence(row, words, with_range=with_range) for row in told.values()]
    if question.part == "side":  # which arm stands in the details
        lines = [row_line(row, words) for row in told.values()]
    if is_first:  # "at diagnosis", too, of which the record may hold none
        lines.append(words.say("earliest"))
    return "\n".join([*lines, *_no_course(aspect, rows, words)])


def _no_course(aspect: Aspect, rows: list[ViewRow], words: AnswerWords) -> list[str]:
    """Return that one value goes neither up nor down, where that is what was asked."""
    is_asked = aspect in ("trend", "change") and len(rows) == 1 and rows[0].number is not None
    return [words.say("only_value")] if is_asked else []


def _halves(rows: list[ViewRow]) -> list[list[ViewRow]]:
    """Return pressures as their upper and their lower figures; nothing for other values."""
    upper, lower = list[ViewRow](), list[ViewRow]()
    for row in rows:
        sides = row.value.partition("/")[::2]
        first, second = (
            float(one) if one.strip().replace(".", "", 1).isdigit() else None for one in sides
        )
        if first is not None and second is not None:
            upper.append(row.model_copy(update={"number": first}))
            lower.append(row.model_copy(update={"number": second}))
    return [upper, lower] if upper else []


def _before(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Return the value so many before the newest; that there is none before the first."""
    moments = list(dict.fromkeys(row.date for row in rows))  # two of one moment are one time
    if earlier := moments[question.back :][: question.most or 1]:
        return "\n".join(value_sentence(row, words) for row in rows if row.date in earlier)
    return f"{words.say('no_earlier')} {value_sentence(rows[-1], words)}"


def _in_place(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Return the second highest and its like, or as many from there as are asked for.

    Each value counts once for each time that it was there.
    """
    ranked = sorted(rows, key=number_of, reverse=question.aspect == "maximum")
    if question.most and question.aspect in ("minimum", "maximum"):
        return "\n".join([f"**{rows[0].name}**", value_table(ranked[: question.most], words)])
    if not question.back:
        return ""
    if question.back >= len(ranked):
        return _counted_values(rows, words)
    told = words.say("highest") if question.aspect == "maximum" else words.say("lowest")
    return f"{question.back + 1}. {told.format(row=value_sentence(ranked[question.back], words))}"


def _lowest(rows: list[ViewRow], words: AnswerWords) -> str:
    return words.say("lowest", row=value_sentence(min(rows, key=number_of), words))


def _highest(rows: list[ViewRow], words: AnswerWords) -> str:
    return words.say("highest", row=value_sentence(max(rows, key=number_of), words))


def _extremes(rows: list[ViewRow], words: AnswerWords) -> str:
    return f"{_lowest(rows, words)}\n{_highest(rows, words)}"


def _mean(rows: list[ViewRow]) -> str:
    total = sum((Decimal(str(number_of(row))) for row in rows), Decimal())
    return figure(total / len(rows))


def _told_average(rows: list[ViewRow], mean: str, words: AnswerWords) -> str:
    return words.say(
        "average",
        name=rows[0].name,
        value=f"{mean} {rows[0].unit}".strip(),
        count=len(rows),
        first=day_of(rows[-1]),
        last=day_of(rows[0]),
    )


def _change(rows: list[ViewRow], words: AnswerWords, *, name: str, rate: Rate = "") -> str:
    first, last = rows[-1], rows[0]
    if first is last:
        return "\n".join([value_sentence(last, words), *_no_course("change", rows, words)])
    difference = _difference(first, last)
    told = ", ".join(
        [_step(first, last, words, name=name), *_at_rate(rate, difference, first, last, words)]
    )
    if difference * _difference(rows[1], last) >= 0:
        return told
    # A marker that fell from 148 to 4.7 and stands at 21.3 now is rising.
    return f"{told}\n{_step(rows[1], last, words, name=words.say('last_step'))}"


def _difference(first: ViewRow, last: ViewRow) -> Decimal:
    return Decimal(str(number_of(last))) - Decimal(str(number_of(first)))


def _step(first: ViewRow, last: ViewRow, words: AnswerWords, *, name: str) -> str:
    difference = _difference(first, last)
    return words.say(
        "change",
        name=name,
        first=f"{value_of(first)} ({day_of(first)}) {sources_of(first)}",
        last=f"{value_of(last)} ({day_of(last)}) {sources_of(last)}",
        difference=f"{change_text(difference, first.value, last.value)} {last.unit}".strip(),
    )


def _beyond(rows: list[ViewRow], words: AnswerWords) -> list[str]:
    """Return the highest and the lowest value where they are neither the first nor the last.

    A marker that went from 6.2 over 22.5 to 4.0 fell, and that is not all to be known of it.
    """
    lower, upper = sorted((number_of(rows[0]), number_of(rows[-1])))
    numbers = list(map(number_of, rows))
    highest = [_highest(rows, words)] if max(numbers) > upper else []
    return [*highest, *([_lowest(rows, words)] if min(numbers) < lower else [])]


def _signed(number: Decimal) -> str:
    return f"{'+' if number > 0 else ''}{figure(number)}"


def _at_rate(
    rate: Rate, difference: Decimal, first: ViewRow, last: ViewRow, words: AnswerWords
) -> Iterator[str]:
    """Yield what a difference is of the first value, or in one year on average."""
    days = [first_day(row.date) for row in (first, last)]
    lasted = (days[1] - days[0]).days if days[0] and days[1] else 0
    if rate == "percent" and number_of(first):
        percent = difference / Decimal(str(number_of(first))) * 100
        yield words.say("of_first", percent=_signed(percent))
    if rate == "per year" and lasted >= _YEAR_DAYS:
        a_year = difference / lasted * Decimal(str(_YEAR_DAYS))
        yield words.say("per_year", rate=f"{_signed(a_year)} {last.unit}".strip())


_OF_NUMBERS: Mapping[Aspect, Callable[[list[ViewRow], AnswerWords], str]] = {
    "minimum": _lowest,
    "maximum": _highest,
    "extremes": _extremes,
    "average": lambda rows, words: _told_average(rows, _mean(rows), words),
}
_OF_EACH_YEAR: frozenset[Aspect] = frozenset({"count", *_OF_NUMBERS})
_WITH_NUMBERS: frozenset[Aspect] = frozenset({"change", *_OF_NUMBERS})


def _counted_values(rows: list[ViewRow], words: AnswerWords) -> str:
    span = f" ({day_of(rows[-1])} – {day_of(rows[0])})"
    return words.say("values", count=len(rows), name=rows[0].name, span=span)
