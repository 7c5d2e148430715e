"""Short questions of a clinician over one chart: each with those before it, and what is told."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.choosing.said_words import has_words
from services.records.answers.direct import answered
from services.records.concepts.table import names_of_procedure
from services.records.rows.finding import means
from tests.tables import tables_beside, with_cases

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


ROWS = {
    tool: tuple(map(ViewRow.model_validate, rows))
    for tool, rows in tables_beside(Path(__file__))["rows"].items()
}


def _is_called(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether the tool gives the row to who names something."""
    named = [str(question.arguments.get("name") or ""), *question.arguments.get("names", ())]
    names = [name for one in named if one for name in names_of_procedure(one)]
    is_value = row.number is not None
    return not names or any(
        has_words(row, name) or (is_value and means("result", name, label=row.name, codes=()))
        for name in names
    )


def told(*said: str) -> str:
    """Answer the last of `said` with what all before it asked."""
    *before, text = said
    utterance = read(text, Situation(now=NOW, asked_before=tuple(before)))
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(6):
        found = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(found, str):
            return found
        rows = tuple(row for row in ROWS.get(found.tool, ()) if _is_called(row, found))
        given.append((found, ChartView(tool=found.tool, kind="table", title="", rows=rows)))
    raise AssertionError(given)


@pytest.mark.slow
@with_cases("said", "has", "has_not")
def test_it_is_told_so(said: list[str], has: list[str], has_not: list[str]) -> None:
    answer = told(*said)
    assert [one for one in has if one not in answer] == [], answer
    assert [one for one in has_not if one in answer] == [], answer
