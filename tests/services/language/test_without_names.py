"""The name of the patient whom a message is about asks for nothing."""

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
    kept = without_names("potassium on 21 July 1968?", ("Tunde Adeyemi",), born="1957-03-14")
    assert kept == "potassium on 21 July 1968?"


def test_a_number_of_the_subject_is_no_term_that_is_asked_for() -> None:
    asked = without_names("MRN t1006 potassium", ("Jan van der Meer",), numbers=("T1006",))
    assert asked == "MRN patient potassium"
