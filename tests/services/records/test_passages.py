from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.records.search_index import PASSAGE_LIMIT_CHARS, split
from services.records.views.search import search_record
from tests.services.records.charts import note, record, report

CHART = record(
    note("allergy", "2023-01-01", "Dear all.\n\nPenicillin gave her a rash in 2009."),
    note("drive", "2024-01-01", "She was told not to drive.\n\nMÜLLER saw her mother."),
    report("ct", "2024-02-01", "RAD", "CT: pulmonary nodules, stable."),
)


def test_a_passage_is_cited_with_its_words_and_its_document() -> None:
    view = search_record(CHART, "penicillin rash")

    assert view.rows[0].sources == ("DocumentReference/allergy",)
    assert view.rows[0].detail == "Penicillin gave her a rash in 2009."
    assert view.sources[0].quote == "Penicillin gave her a rash in 2009."


def test_case_accents_and_plurals_do_not_matter() -> None:
    assert search_record(CHART, "muller").rows[0].sources == ("DocumentReference/drive",)
    assert search_record(CHART, "Nodule").rows[0].sources == ("DiagnosticReport/ct",)


def test_words_that_are_not_there_find_nothing() -> None:
    for query in ("osimertinib", "the of and", "?!", "\x00"):
        assert search_record(CHART, query).rows == ()


def test_the_passage_that_holds_more_of_the_words_comes_first() -> None:
    chart = record(
        note("one", "2024-01-01", "Brain MRI planned."),
        note("both", "2023-01-01", "Brain MRI shows a metastasis."),
    )
    assert search_record(chart, "brain metastasis").rows[0].sources == ("DocumentReference/both",)


def test_among_equals_the_newest_comes_first_and_the_rest_is_counted() -> None:
    chart = record(*(note(f"n{year}", f"{year}-01-01", "Pain.") for year in range(2015, 2025)))
    found = search_record(chart, "pain", limit=2)

    assert [row.date[:10] for row in found.rows] == ["2024-01-01", "2023-01-01"]
    assert [row.count for row in found.left_out] == [8]


@pytest.mark.slow
@given(st.text(alphabet="ab. \n;é\U0001f600", max_size=3_000))
def test_passages_cover_all_but_line_breaks_in_order_and_stay_short(text: str) -> None:
    document = record(note("n", "2024-01-01", text)).documents[0]
    whole = document.text or ""
    passages = list(split(document))

    assert all(0 < p.end - p.start <= PASSAGE_LIMIT_CHARS for p in passages)
    assert all(a.end <= b.start for a, b in pairwise(passages))
    assert "".join(p.text for p in passages).replace("\n", "") == whole.replace("\n", "")


@pytest.mark.slow
@given(st.text(min_size=1, max_size=500))
def test_no_query_breaks_the_search(query: str) -> None:
    assert search_record(CHART, query).tool == "search_record"
