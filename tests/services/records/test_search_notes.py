from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.records.passages import PASSAGE_LIMIT_CHARS, split
from services.records.views.notes import list_notes, search_notes
from services.records.views.reports import note as one_note
from tests.services.records.charts import note, record, report

CHART = record(
    note("allergy", "2023-01-01", "Dear all.\n\nPenicillin gave her a rash in 2009."),
    note("drive", "2024-01-01", "She was told not to drive.\n\nMÜLLER saw her mother."),
    report("ct", "2024-02-01", "RAD", "CT: pulmonary nodules, stable."),
)


def test_a_passage_points_at_its_words_in_the_document() -> None:
    hit = search_notes(CHART, "penicillin rash").items[0]
    whole = one_note(CHART, hit.source.ref)

    assert hit.source.ref == "DocumentReference/allergy"
    assert hit.source.date == "2023-01-01"
    assert whole is not None
    assert (
        (whole.text or "")[hit.start : hit.end] == hit.text == "Penicillin gave her a rash in 2009."
    )


def test_case_accents_and_plurals_do_not_matter() -> None:
    assert search_notes(CHART, "muller").items[0].source.ref == "DocumentReference/drive"
    assert search_notes(CHART, "Nodule").items[0].source.ref == "DiagnosticReport/ct"


def test_reports_are_searched_too_and_say_what_they_are() -> None:
    assert search_notes(CHART, "pulmonary").items[0].kind == "imaging report"


def test_words_that_are_not_there_find_nothing() -> None:
    for query in ("osimertinib", "", "the of and", "?!", "\x00"):
        assert search_notes(CHART, query).items == ()


def test_the_passage_that_holds_more_of_the_words_comes_first() -> None:
    chart = record(
        note("one", "2024-01-01", "Brain MRI planned."),
        note("both", "2023-01-01", "Brain MRI shows a metastasis."),
    )
    assert search_notes(chart, "brain metastasis").items[0].source.ref == "DocumentReference/both"


def test_among_equals_the_newest_comes_first_and_the_rest_is_counted() -> None:
    chart = record(*(note(f"n{year}", f"{year}-01-01", "Pain.") for year in range(2015, 2025)))
    found = search_notes(chart, "pain", limit=2)

    assert [hit.source.date for hit in found.items] == ["2024-01-01", "2023-01-01"]
    assert found.left_out == 8


def test_the_list_of_notes_is_newest_first() -> None:
    assert [entry.source.ref for entry in list_notes(CHART).items] == [
        "DiagnosticReport/ct", "DocumentReference/drive", "DocumentReference/allergy",
    ]  # fmt: skip


def test_another_patients_note_is_not_there() -> None:
    assert one_note(CHART, "DocumentReference/of-somebody-else") is None


def test_a_long_note_is_cut_and_says_by_how_much() -> None:
    found = one_note(CHART, "DocumentReference/allergy", limit_chars=4)
    assert found is not None
    assert (found.text, found.left_out_chars) == ("Dear", 42)


@given(st.text(alphabet="ab. \n;é\U0001f600", max_size=3_000))
def test_passages_cover_all_but_line_breaks_in_order_and_stay_short(text: str) -> None:
    document = record(note("n", "2024-01-01", text)).documents[0]
    whole = document.text or ""
    passages = list(split(document))

    assert all(0 < p.end - p.start <= PASSAGE_LIMIT_CHARS for p in passages)
    assert all(a.end <= b.start for a, b in pairwise(passages))
    assert "".join(p.text for p in passages).replace("\n", "") == whole.replace("\n", "")


@given(st.text(max_size=500))
def test_no_query_breaks_the_search(query: str) -> None:
    assert search_notes(CHART, query).limit > 0
