"""The name of the patient whom a message is about asks for nothing."""

import pytest

from services.language.without_names import without_names


@pytest.mark.parametrize(
    ("text", "name", "asked"),
    [
        ("what is Elvis Moen's potassium?", "Elvis Moen", "what is patient's potassium?"),
        ("does Twyla Moen smoke?", "Twyla Moen", "does patient smoke?"),
        ("Mrs. Whitfield's stage?", "Margaret Anne Whitfield", "patient's stage?"),
        ("Whitfield, Margaret: stage", "Margaret Anne Whitfield", "patient: stage"),
        ("Hartmanns letzter PSA-Wert?", "Georg Hartmann", "patient letzter PSA-Wert?"),
        ("HARTMANN PSA PLEASE", "Georg Hartmann", "patient PSA PLEASE"),
        ("Sra. Florez potassium", "Estela Flórez", "patient potassium"),
        ("weight in May 2018?", "Robert May", "weight in May 2018?"),
        ("grant me access", "Aundrea Grant", "grant me access"),
        ("what is the stage?", "Margaret Anne Whitfield", "what is the stage?"),
        ("hans mueller potassium", "Hans Peter Müller", "patient potassium"),
        ("Müller H.P. potassium", "Hans Peter Müller", "patient. potassium"),
        ("Moen E bp", "Elvis Moen", "patient bp"),
        ("Mary OBrien potassium", "Mary O'Brien", "patient potassium"),
        ("hepatitis C Grimes", "Constance Grimes", "hepatitis C patient"),
        ("", "Margaret Anne Whitfield", ""),
    ],
)
def test_a_name_is_replaced_where_it_stands_as_one(text: str, name: str, asked: str) -> None:
    assert without_names(text, (name,)) == asked


def test_the_birth_date_of_the_subject_is_no_time_that_is_asked_for() -> None:
    asked = without_names(
        "Tunde Adeyemi, 21 July 1968: stage?", ("Tunde Adeyemi",), born="1968-07-21"
    )
    assert asked == "patient: stage?"
    kept = without_names("potassium on 21 July 1968?", ("Tunde Adeyemi",), born="1957-03-14")
    assert kept == "potassium on 21 July 1968?"


def test_a_number_of_the_subject_is_no_term_that_is_asked_for() -> None:
    asked = without_names("MRN t1006 potassium", ("Jan van der Meer",), numbers=("T1006",))
    assert asked == "MRN patient potassium"
