"""The words of the check are read before anybody waits for them."""

from services.records.concepts.table import concept_table
from services.statements.words_read import read_words


def test_no_first_chart_with_drugs_waits_for_the_concepts() -> None:
    concept_table.cache_clear()

    read_words()

    assert concept_table.cache_info().currsize == 1
