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


@pytest.mark.parametrize(
    ("name", "label", "is_meant"),
    [
        ("augmentin", "Amoxicillin 250 MG / Clavulanate 125 MG Oral Tablet", True),
        ("augmentin", "Amoxicillin 250 MG Oral Capsule", False),
        ("percocet", "Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet", True),
        ("vicodin", "Acetaminophen 325 MG Oral Tablet", False),
        ("nexplanon", "Etonogestrel 68 MG Drug Implant", True),
        ("contraceptive", "Mirena 52 MG Intrauterine System", True),
        ("statin", "Pravachol 10 MG Oral Tablet", True),
    ],
)
def test_a_brand_is_its_ingredients_all_of_them(name: str, label: str, is_meant: bool) -> None:
    assert means("drug", name, label=label, codes=()) is is_meant
