"""Which rows a question leaves out by name, and whose rows it asks for. Pure."""

from collections.abc import Mapping

from data_models.chart_view import ChartView, ViewRow
from services.language.utterance import ChartQuestion
from services.records.answers.allergens import is_of_allergen
from services.records.answers.said_words import has_words, says_all
from services.records.concepts.table import ConceptKind
from services.records.finding import means


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
        for name in question.without
    )


def leaves_out_any(question: ChartQuestion, view: ChartView) -> bool:
    """Whether a row of `view` is one that a question names to be left out."""
    return any(is_left_out(question, row) for row in view.rows)
