"""A thing of the record is found by its words in another order and in the plural."""

from services.records.concepts.words import words_of
from services.records.rows.finding import means
from tests.tables import with_cases


@with_cases("name", "label", "is_meant")
def test_words_may_stand_in_another_order(name: str, label: str, is_meant: bool) -> None:
    assert means("problem", name, label=label, codes=()) is is_meant


def test_diseases_are_no_diseasis() -> None:
    assert words_of("diseases doses nurses") == ("disease", "dose", "nurse")


@with_cases("name", "label", "is_meant")
def test_a_brand_is_its_ingredients_all_of_them(name: str, label: str, is_meant: bool) -> None:
    assert means("drug", name, label=label, codes=()) is is_meant
