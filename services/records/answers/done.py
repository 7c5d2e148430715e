"""What procedures tell beside a list of its own kind: doses, ends of pregnancies, coils. Pure."""

from collections.abc import Sequence
from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.question_figures import with_days
from services.language.utterance import Aspect, ChartQuestion
from services.records.answers.row_parts import newest_day
from services.records.concepts.table import words_listed, words_of_removal
from services.records.concepts.words import words_of

_DOSES = ("vaccin", "immuni", "inject", "toxin", "toxoid")
"""Beginnings or ends of words by which a procedure is a vaccination."""
_PREGNANCIES = frozenset({"pregnancy", "obstetric history"})
_ENDS: Final = "end of pregnancy"
_CONTRACEPTION: Final = "contraception"
_CONTRACEPTIVE = "contraceptive"
_OF_ALL: frozenset[Aspect] = frozenset({"all", "count", "trend"})


def done_for(question: ChartQuestion) -> ChartQuestion | None:
    """Return which procedures tell more of what is asked; None where none would."""
    name = _name_of_done(question)
    done = ChartQuestion("procedures", {"name": name}, name=name)
    done = done if question.span is None else with_days(done, question.span)
    return done if name else None


def _name_of_done(question: ChartQuestion) -> str:
    match question.tool:
        case "immunizations":
            return question.name
        case "problems" if question.name in _PREGNANCIES:
            return _ENDS if question.is_past or question.aspect in _OF_ALL else ""
        case "medications" if question.name == _CONTRACEPTIVE:
            return _CONTRACEPTION
        case _:
            return ""


def told_by(done: ChartQuestion, view: ChartView) -> list[ViewRow]:
    """Return the procedures that are what was done: no counselling, no other injection."""
    if done.name == _CONTRACEPTION:
        return list(view.rows)
    if done.name == _ENDS:
        return [
            row for row in view.rows if not words_listed("not_operations") & {*words_of(row.name)}
        ]
    return [row for row in view.rows if any(mark in row.name.casefold() for mark in _DOSES)]


def is_taken_out(name: str, rows: Sequence[ViewRow]) -> bool:
    """Whether the newest of what was done is a removal, and nobody asked for one."""
    newest = max(rows, key=newest_day)
    return bool(words_of_removal() & {*words_of(newest.name)} - {*words_of(name)})
