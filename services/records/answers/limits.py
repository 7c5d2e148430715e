"""Values that are only bounds, and whether any value is above or below a limit. Pure."""

from collections.abc import Sequence
from typing import Final

from data_models.chart_view import ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.choosing.row_line import value_sentence, value_table
from services.records.answers.choosing.row_parts import beyond, limit_of, limits_of, number_of

_SLIGHTLY: Final = 1e-9
"""Of a bound: above 100 is more than 100."""


def bounds_in(rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows whose value is only a bound: `<5`, `>=100`."""
    return [row for row in rows if _bound_of(row) is not None]


def has_open_end(rows: Sequence[ViewRow]) -> bool:
    """Whether no difference can be told: an end is a bound, of no day, or one of two values."""
    first, last = rows[-1].date, rows[0].date
    days = [day for day, _ in {(row.date, row.value) for row in rows}]
    is_single = bool(first) and days.count(first) == 1 == days.count(last)
    return not is_single or bool(bounds_in([rows[0], rows[-1]]))


def ranked(rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows, bounds with the number next to which they stand."""
    return [
        row if (bound := _bound_of(row)) is None else row.model_copy(update={"number": bound})
        for row in rows
    ]


def _bound_of(row: ViewRow) -> float | None:
    said = row.value.lstrip("<>= ")
    if row.number is not None or not row.value.startswith(("<", ">")):
        return None
    first = said.split(" ")[0]
    if not first.replace(".", "", 1).isdigit():
        return None
    side = 1 if row.value[0] == ">" else -1
    return float(first) * (1 if "=" in row.value[:2] else 1 + side * _SLIGHTLY)


def told_limited(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Say whether any value is above or below the limit, and which; of a bound only if sure."""
    is_above = question.above is not None
    surely = ">" if is_above else "<"
    met = beyond(question, rows)
    # A bound on the side of the limit is met for sure or open, one on the other the reverse.
    unsure = [
        row
        for row in rows
        if row.value.startswith(("<", ">")) and row.value.startswith(surely) != (row in met)
    ]
    met = [row for row in met if row not in unsure]
    if unsure and not met:
        return f"{words.say('unclear')}:\n{value_table(unsure, words)}"
    if is_above and question.below is not None:
        low, high = limits_of(question, rows)
        of = words.say("values", count=len(met), name=rows[0].name, span="")
        told = f"{of}: {low:g} ≤ … ≤ {high:g} {rows[0].unit} ({len(met)}/{len(rows)})"
        return f"{told}:\n{value_table(met, words)}" if met else f"{words.say('no')}. {told}."
    limit = limit_of(question, rows)
    shown = f"{limit:g}" + (f"/{question.lower_limit:g}" if question.lower_limit else "")
    shown += f" ({'≥' if is_above else '≤'})" * question.or_equal
    lead = f"{words.say('yes') if met else words.say('no')}. "
    if question.aspect in ("first", "count"):  # what others are is no yes to "was the first …?"
        lead = ""
    elif question.aspect == "latest" or (question.aspect == "whether" and not question.is_past):
        lead = f"{value_sentence(rows[0], words)}\n"
    if not met:
        edge = max(rows, key=number_of) if is_above else min(rows, key=number_of)
        none = words.say("none_above") if is_above else words.say("none_below")
        return f"{lead}{none.format(total=len(rows), limit=shown, row=value_sentence(edge, words))}"
    some = words.say("above") if is_above else words.say("below")
    count = some.format(count=len(met), total=len(rows), limit=shown)
    if question.aspect == "latest":
        last = "" if met[0] is rows[0] else f"\n{value_sentence(met[0], words)}"
        return f"{lead}{count}.{last}"
    return f"{lead}{count}:\n{value_table(met, words)}"
