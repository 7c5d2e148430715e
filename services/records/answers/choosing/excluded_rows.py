"""Which rows a question leaves out, what was never done, and what procedures tell beside. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import with_days
from services.language.utterance import Aspect, ChartQuestion
from services.records.answers.choosing.allergens import is_of_allergen
from services.records.answers.choosing.row_parts import newest_day
from services.records.answers.choosing.said_words import has_words, says_all
from services.records.concepts.table import (
    ConceptKind,
    concept_table,
    words_listed,
    words_of_removal,
)
from services.records.concepts.words import words_of
from services.records.resources.standing import NEVER
from services.records.rows.finding import means

NOT_DONE = NEVER | {"preparation"}
"""Statuses of what was not done, or not yet."""
PLANNED = "planned care"
TO_COME = frozenset({"planned", "booked", "proposed", "pending", "waitlist"})
"""Statuses of visits that are still to be."""
_DONE_ONCE = frozenset({"procedure", "immunization", "order"})


def was_never(row: ViewRow) -> bool:
    """Whether a row tells of a deed that it was not done."""
    return row.kind in _DONE_ONCE and row.status in NOT_DONE


def is_by(who: str, row: ViewRow) -> bool:
    """Whether a row says that `who` did or ordered it."""
    deeds = (said for said in row.detail.split("; ") if said.startswith("by "))
    return any(says_all(said, who) for said in deeds)


def as_meant(question: ChartQuestion, rows: Sequence[ViewRow]) -> Sequence[ViewRow]:
    """Return the rows: of what is due what is to come, of a panel none measured with another.

    "When was the IUD taken out?": the removals, where there are some.
    """
    if question.part == "due":
        return [one for one in rows if one.status in TO_COME] or rows
    if question.tool == SEARCH and question.part == "end":  # "clavicle healed when?"
        return [one for one in rows if one.kind == "problem"] or rows
    if (question.tool, question.part) == ("procedures", "treatment"):
        return [one for one in rows if words_of_removal() & {*words_of(one.name)}] or rows
    group = concept_table().named("result", question.name) if question.tool == "results" else None
    called = [question.name, *map(" ".join, group.words)] if group and group.members else []
    each = ({row.sources for row in rows if has_words(row, name)} for name in called)
    if (own := next(filter(None, each), None)) is None:
        return rows
    return [one for one in rows if one.sources in own or "panel" not in words_of(one.detail)]


_CONCEPTS: Mapping[str, ConceptKind] = {
    "medications": "drug", "problems": "problem", "immunizations": "vaccine", "results": "result",
}  # fmt: skip


def is_left_out(question: ChartQuestion, row: ViewRow) -> bool:
    """Whether a row is what a question names to be left out: insulin of "other than insulin"."""
    kind = _CONCEPTS.get(question.tool)
    return any(
        has_words(row, name)
        or (kind is not None and means(kind, name, label=row.name, codes=row.code))
        or (question.tool == "allergies" and is_of_allergen(name, row))
        or any(
            means("problem", name, label=one, codes=())
            for one in row.detail.split("; ")
            if one.startswith("for ")
        )
        for name in question.without
    )


def may_be_among(question: ChartQuestion, rows: Sequence[ViewRow]) -> bool:
    """Whether no row tells what is to be left out, and one may be it: why, a visit rarely says."""
    table = concept_table()
    is_by_reason = question.tool in ("encounters", "procedures") or (
        question.tool == "medications"
        and not any(table.named("drug", name) for name in question.without)
    )
    is_told = any(is_left_out(question, row) for row in rows)
    return bool(question.without and rows) and is_by_reason and not is_told


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
    return with_days(done, question.span) if name else None


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
