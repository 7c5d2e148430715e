"""What was given or done about an illness, as far as the record says so. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.asked_rows import asked_rows
from services.records.answers.row_parts import MARKS
from services.records.answers.sentences import answer_of
from services.records.concepts.table import class_taken_for
from services.records.dates import first_day
from services.records.finding import means

LOOKED_AT: Final = (
    ChartQuestion("medications", {"status": "all"}),
    ChartQuestion("procedures"),
    ChartQuestion("care"),
)
"""The lists in which treatments stand."""
_SHORT_DAYS = 183
"""What began in the course of a longer illness may be for anything."""
_TREATMENTS = frozenset({"medication", "procedure", "care plan"})


def asks_for_treatment(question: ChartQuestion, problems: ChartView) -> bool:
    """Whether it is asked what was done about an illness that is in `problems`."""
    is_of_illness = question.tool == "problems" and bool(question.name)
    return (
        is_of_illness and question.part == "treatment" and bool(asked_rows(question, problems).rows)
    )


def told_treatments(
    question: ChartQuestion,
    problems: ChartView,
    lists: Sequence[tuple[ChartQuestion, ChartView]],
    words: AnswerWords,
) -> str:
    """Return what is recorded for the illness, and drugs begun while it lasted without a reason.

    Args:
        lists: What each of `LOOKED_AT` gave, if it gave rows.
    """
    illnesses = asked_rows(question, problems).rows
    said: list[str] = []
    kind = class_taken_for(question.name)
    ways: tuple[tuple[str, Callable[[ViewRow], bool]], ...] = (
        (words.treated_by, lambda row: _is_for(row, illnesses)),
        (words.usual_for, lambda row: _is_of_kind(row, kind)),
        (words.meanwhile, lambda row: _is_meanwhile(row, illnesses) and not _is_of_kind(row, kind)),
    )
    for lead, is_meant in ways:
        told = [
            answer_of(asked, view.model_copy(update={"rows": rows}), words)
            for asked, view in lists
            if (rows := [row for row in _treatments(view) if is_meant(row)])
        ]
        said += [lead, *told] if told else []
    return "\n".join(said) or words.no_part.format(part=words.parts["treatment"])


def _treatments(view: ChartView) -> Iterator[ViewRow]:
    yield from (row for row in view.rows if row.kind in _TREATMENTS)


def _reason(row: ViewRow) -> str:
    parts = (each for each in row.detail.split("; ") if each.startswith(MARKS["reason"]))
    return next(parts, "")


def _is_for(row: ViewRow, illnesses: Sequence[ViewRow]) -> bool:
    return any(one.name in _reason(row) for one in illnesses)


def _is_of_kind(row: ViewRow, kind: str) -> bool:
    """Whether a drug without a reason is of the class that is usually taken for an illness."""
    is_drug = row.kind == "medication" and bool(kind) and not _reason(row)
    return is_drug and means("drug", kind, label=row.name, codes=row.code)


def _is_meanwhile(row: ViewRow, illnesses: Sequence[ViewRow]) -> bool:
    begun = first_day(row.date[:10]) if row.date else None
    if row.kind != "medication" or begun is None or _reason(row):
        return False
    for one in illnesses:
        first = first_day(one.date[:10]) if one.date else None
        last = first_day(one.end[:10]) if one.end else None
        if first and last and first <= begun <= last and (last - first).days <= _SHORT_DAYS:
            return True
    return False
