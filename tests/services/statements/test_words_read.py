"""The words of the check are read before anybody waits for them."""

from group_chat.drafts.statement_checking import read_words
from services.records.concepts.table import concept_table


def test_no_first_chart_with_drugs_waits_for_the_concepts() -> None:
    concept_table.cache_clear()

    read_words()

    assert concept_table.cache_info().currsize == 1
