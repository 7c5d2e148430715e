"""Right and wrong sentences over the samples, and over the public charts where they are."""

from collections import Counter

import pytest

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.verdict import Verdict
from tests.services.statements.corpus import Case, Chart, charts

CHARTS = 10


@pytest.fixture(scope="module")
def judged() -> list[tuple[Chart, Case, Verdict]]:
    found = []
    for chart in charts(CHARTS):
        rows = KnownRows()
        for view in chart.views:
            rows.add_view(view)
        for case in chart.cases:
            check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
            found.append((chart, case, check.check(case.text)))
    return found


@pytest.mark.slow
def test_the_corpus_holds_three_hundred_of_them(
    judged: list[tuple[Chart, Case, Verdict]],
) -> None:
    kinds = Counter(case.is_right for _, case, _ in judged)
    assert sum(kinds.values()) >= 300
    assert min(kinds.values()) >= 100


@pytest.mark.slow
def test_wrong_sentences_are_caught(judged: list[tuple[Chart, Case, Verdict]]) -> None:
    wrong = [(case, found) for _, case, found in judged if not case.is_right]
    missed = [case for case, found in wrong if found.state in ("supported", "unchecked")]
    assert len(missed) <= 0.03 * len(wrong), missed


@pytest.mark.slow
def test_right_sentences_are_not_marked(judged: list[tuple[Chart, Case, Verdict]]) -> None:
    right = [(case, found) for _, case, found in judged if case.is_right]
    marked = [case for case, found in right if found.state in ("unsupported", "contradicted")]
    assert len(marked) <= 0.03 * len(right), marked


@pytest.mark.slow
def test_right_sentences_with_values_are_supported(
    judged: list[tuple[Chart, Case, Verdict]],
) -> None:
    valued = [found for _, case, found in judged if case.is_right and case.kind == "value"]
    assert sum(found.state == "supported" for found in valued) >= 0.97 * len(valued)


def test_a_number_in_another_unit_is_never_supported(
    judged: list[tuple[Chart, Case, Verdict]],
) -> None:
    wrong = [(case, found) for _, case, found in judged if case.kind == "other unit"]
    assert [case for case, found in wrong if found.state == "supported"] == []
