"""Sentences made of the rows of every chart: the right ones are not marked, the wrong ones are."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.language.sentences.sentences import sentences_of
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from tests.services.statements.fresh import all_charts, grounds_of, rows_of

pytestmark = pytest.mark.slow

FORMS = read_yaml(Path(__file__).with_suffix("").with_name("made_of_rows.yaml").read_text("utf-8"))
_MARKED = ("unsupported", "contradicted")
_EACH = 6
"""Rows of one list of a chart."""
_SAID = ("", "active", "resolved", "stopped", "completed", "inactive", "final")
_CODED = re.compile(r"\s*(?:\[.*|\([a-z ]+\)$)")


def _made(chart: str) -> Iterator[tuple[str, str, Grounds]]:
    """Yield `right` or `wrong`, the text and what the chart says."""
    grounds = grounds_of(chart)
    for tool, forms in FORMS.items():
        rows = [row for row in rows_of(chart, tool) if _is_plain(row, tool)]
        years = {row.date[:4] for row in rows_of(chart, tool)}
        for row in rows[:: max(1, len(rows) // _EACH)][:_EACH]:
            for kind, texts in forms.items():
                yield from ((kind, one.format(**_fields(row, years)), grounds) for one in texts)


def _is_plain(row: ViewRow, tool: str) -> bool:
    """Whether a row says that something was so on a whole day; of a value, the number."""
    if row.status not in _SAID or "unconfirmed" in row.detail:
        return False
    is_value = row.number is not None and row.value.replace(".", "").isdigit() and bool(row.unit)
    return len(row.date) >= len("2026-01-02") and (is_value or tool != "results")


def _fields(row: ViewRow, years: set[str]) -> dict[str, str]:
    day, other = date.fromisoformat(row.date[:10]), f"{(row.number or 0) * 1.37 + 1.7:.1f}"
    no_year = next(one for one in range(day.year - 2, 1900, -1) if str(one) not in years)
    return {
        "name": _CODED.sub("", row.name),
        "value": row.value, "value_de": row.value.replace(".", ","),
        "other": other, "other_de": other.replace(".", ","),
        "unit": row.unit, "status": row.status or "recorded", "source": row.sources[0],
        "iso": row.date[:10], "day": f"{day:%B} {day.day}, {day.year}",
        "day_de": f"{day.day}.{day.month}.{day.year}", "no_year": str(no_year),
    }  # fmt: skip


def _is_marked(text: str, grounds: Grounds) -> bool:
    """Whether the last sentence of a text is marked; the heads of a table stand before it."""
    check = MessageCheck(grounds=grounds, speaker=Speaker())
    told = [check.check(one).state for one in sentences_of(text) if any(map(str.isalnum, one))]
    return told[-1] in _MARKED


def test_right_sentences_are_not_marked_and_wrong_ones_are() -> None:
    found: dict[str, list[tuple[str, str, bool]]] = {"right": [], "wrong": []}
    for chart in all_charts():
        for kind, text, grounds in _made(chart):
            found[kind].append((chart, text, _is_marked(text, grounds)))
    marked = [(chart, text) for chart, text, is_marked in found["right"] if is_marked]
    passed = [(chart, text) for chart, text, is_marked in found["wrong"] if not is_marked]
    assert len(marked) <= 0.03 * len(found["right"]), marked
    assert len(passed) <= 0.03 * len(found["wrong"]), passed
