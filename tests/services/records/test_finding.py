"""A thing of the record is found by its words in another order and in the plural."""

import pytest

from services.records.concepts.words import words_of
from services.records.finding import means


@pytest.mark.parametrize(
    ("name", "label", "is_meant"),
    [
        ("brain metastases", "Metastasis to brain", True),
        ("brain metastasis", "Metastasis to brain", True),
        ("liver metastases", "Metastasis to brain", False),
        ("brain", "Metastasis to brain", True),
        ("vein thromboses", "Thrombosis of deep vein", True),
    ],
)
def test_words_may_stand_in_another_order(name: str, label: str, is_meant: bool) -> None:
    assert means("problem", name, label=label, codes=()) is is_meant


def test_diseases_are_no_diseasis() -> None:
    assert words_of("diseases doses nurses") == ("disease", "dose", "nurse")
