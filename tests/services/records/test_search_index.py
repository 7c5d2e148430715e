"""What a search through a record costs, in calls, and what it still finds."""

from data_models.chart_view import ViewRow
from services.records.concepts.words import words_of
from services.records.ranking import ranking_of
from services.records.search_index import Hit, SearchIndex
from tests.work import counted_calls

WORDS = 2_000


def _index(*words: str) -> SearchIndex:
    hits = tuple(Hit("2024-05-01", (one,), lambda: ViewRow(kind="note", name="")) for one in words)
    return SearchIndex(hits, ranking_of([hit.words for hit in hits]))


def test_a_word_that_is_nowhere_looks_closely_only_at_words_like_it() -> None:
    index = _index("drive", *(f"other{number}" for number in range(WORDS)))
    index.search("driving")
    with counted_calls() as calls:
        found = index.search("driving")
    assert [hit.words for hit in found] == [("drive",)]
    assert calls.count < WORDS


def test_other_forms_of_a_word_that_is_nowhere_are_found() -> None:
    index = _index("driving", "driver", "handrive", "overdriven", "dry", "hit")
    assert {hit.words[0] for hit in index.search("drive")} == {"driving", "driver", "handrive"}


def test_a_short_word_that_is_nowhere_is_the_first_letters_of_a_name() -> None:
    names = (
        "Donor-specific antibody",
        "Amputation of left leg",
        "Retinopathy of prematurity screening",
    )
    hits = [Hit("", words_of(one), lambda: ViewRow(kind="note", name=""), one) for one in names]
    index = SearchIndex(tuple(hits), ranking_of([hit.words for hit in hits]))
    found = [[hit.name for hit in index.search(one)] for one in ("DSA", "all", "rop")]
    assert found == [[names[0]], [], [names[2]]]


def test_what_is_no_noun_and_short_begins_no_longer_word() -> None:
    index = _index("wachstum", "herzinsuffizienz")
    assert index.search("wach") == []
    assert [hit.words[0] for hit in index.search("herz")] == ["herzinsuffizienz"]


def test_a_compound_of_another_name_is_found_and_no_word_that_begins_as_a_short_one() -> None:
    index = _index("kataraktoperation", "cholesterol", "sky")
    assert [hit.words[0] for hit in index.search("cataract")] == ["kataraktoperation"]
    assert index.search("cholecystectomy") == []


def test_a_code_is_found_as_it_stands_and_by_no_part_of_it() -> None:
    index = _index("4548-4", "4548", "4")
    assert [hit.words[0] for hit in index.search("4548-4")] == ["4548-4"]


def test_what_is_written_as_one_word_is_found_where_it_is_two() -> None:
    said = (("bi", "rad"), ("bi", "lobar", "rad"), ("rad",))
    hits = tuple(Hit("2024-05-01", one, lambda: ViewRow(kind="note", name="")) for one in said)
    index = SearchIndex(hits, ranking_of([hit.words for hit in hits]))
    assert index.search("birads")[0].words == ("bi", "rad")
    assert index.search("lobarbi") == []


def test_a_long_word_is_found_within_a_longer_one() -> None:
    index = _index("hypothyroidism", "intolerance")
    assert [hit.words[0] for hit in index.search("thyroid")] == ["hypothyroidism"]
    assert index.search("toleranc") == []
