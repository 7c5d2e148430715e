"""Which rows a question leaves out by name, whose it asks for, and what was never done. Pure."""

from collections.abc import Mapping, Sequence

from data_models.chart_view import ViewRow
from services.language.utterance import ChartQuestion
from services.records.answers.allergens import is_of_allergen
from services.records.answers.said_words import has_words, says_all
from services.records.concepts.table import ConceptKind, concept_table
from services.records.finding import means
from services.records.standing import NEVER

NOT_DONE = NEVER | {"preparation"}
"""Statuses of what was not done, or not yet."""
PLANNED = "planned care"
_DONE_ONCE = frozenset({"procedure", "immunization", "order"})


def was_never(row: ViewRow) -> bool:
    """Whether a row tells of a deed that it was not done."""
    return row.kind in _DONE_ONCE and row.status in NOT_DONE


def is_by(who: str, row: ViewRow) -> bool:
    """Whether a row says that `who` did or ordered it."""
    deeds = (said for said in row.detail.split("; ") if said.startswith("by "))
    return any(says_all(said, who) for said in deeds)


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
        or any(means("problem", name, label=one, codes=()) for one in _reasons(row))
        for name in question.without
    )


def _reasons(row: ViewRow) -> list[str]:
    parts = row.detail.split("; ")
    return [one.removeprefix("for ") for one in parts if one.startswith("for ")]


def may_hold_what_is_left_out(question: ChartQuestion, rows: Sequence[ViewRow]) -> bool:
    """Whether no row tells what is to be left out, and one may be it: why, a visit rarely says."""
    table = concept_table()
    is_by_reason = question.tool in ("encounters", "procedures") or (
        question.tool == "medications"
        and not any(table.named("drug", name) for name in question.without)
    )
    is_told = any(is_left_out(question, row) for row in rows)
    return bool(question.without and rows) and is_by_reason and not is_told
