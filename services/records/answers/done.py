"""What procedures tell beside a list of its own kind: doses, ends of pregnancies. Pure."""

from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.question_figures import with_days
from services.language.utterance import Aspect, ChartQuestion
from services.records.concepts.table import words_of_no_operation
from services.records.concepts.words import words_of

_DOSES = ("vaccin", "immuni", "inject", "toxin", "toxoid")
"""Beginnings or ends of words by which a procedure is a vaccination."""
_PREGNANCIES = frozenset({"pregnancy", "obstetric history"})
_ENDS: Final = "end of pregnancy"
_OF_ALL: frozenset[Aspect] = frozenset({"all", "count", "trend"})


def done_for(question: ChartQuestion) -> ChartQuestion | None:
    """Return which procedures tell more of what is asked; None where none would."""
    is_dose = question.tool == "immunizations" and bool(question.name)
    is_told_whole = question.is_past or question.aspect in _OF_ALL
    is_pregnancy = question.tool == "problems" and question.name in _PREGNANCIES and is_told_whole
    if not is_dose and not is_pregnancy:
        return None
    name = question.name if is_dose else _ENDS
    done = ChartQuestion("procedures", {"name": name}, name=name)
    return done if question.span is None else with_days(done, question.span)


def told_by(done: ChartQuestion, view: ChartView) -> list[ViewRow]:
    """Return the procedures that are what was done: no counselling, no other injection."""
    if done.name == _ENDS:
        return [row for row in view.rows if not words_of_no_operation() & {*words_of(row.name)}]
    return [row for row in view.rows if any(mark in row.name.casefold() for mark in _DOSES)]
