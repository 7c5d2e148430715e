"""The name of the patient whom a message is about asks for nothing."""

import pytest

from services.language.people.without_names import without_names
from tests.tables import with_cases


@with_cases("text", "name", "asked")
def test_a_name_is_replaced_where_it_stands_as_one(text: str, name: str, asked: str) -> None:
    assert without_names(text, (name,)) == asked


def test_the_birth_date_of_the_subject_is_no_time_that_is_asked_for() -> None:
    asked = without_names(
        "Tunde Adeyemi, 21 July 1968: stage?", ("Tunde Adeyemi",), born="1968-07-21"
    )
    assert asked == "patient: stage?"
    told = without_names("Doyle, geb. 3.2.1951 – Medis", ("Doyle",), born="1951-02-03")
    assert told == "patient – Medis"
    kept = without_names("potassium on 21 July 1968?", ("Tunde Adeyemi",), born="1957-03-14")
    assert kept == "potassium on 21 July 1968?"
    assert without_names("born on 21 July 1968: hb", (), born="1968-07-21") == "born on: hb"


@pytest.mark.parametrize(
    "text",
    [
        "größe am 27.5.2019",
        "height on 2019-05-27",
        "care since 2019-05-27",
        "weight 27/5/2019",
        "first visit after 2019-05-27",
    ],
)
def test_the_day_of_birth_is_a_time_where_it_stands_as_one(text: str) -> None:
    assert without_names(text, (), born="2019-05-27") == text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("what did the board decide for 15", "what did the board decide for patient"),
        ("patient 15 meanwhile: egfr", "patient meanwhile: egfr"),
        ("15 is febrile again", "patient is febrile again"),
        ("15 mg of morphine", "15 mg of morphine"),
        ("egfr in 15 days", "egfr in 15 days"),
    ],
)
def test_the_digits_of_the_subjects_id_are_its_name_where_a_name_stands(
    text: str, asked: str
) -> None:
    assert without_names(text, ("Zoë Çelik",), numbers=("patient_15",)) == asked


def test_a_number_of_the_subject_is_no_term_that_is_asked_for() -> None:
    asked = without_names("MRN t1006 potassium", ("Jan van der Meer",), numbers=("T1006",))
    assert asked == "MRN patient potassium"
