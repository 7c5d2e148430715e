"""Words that limit what is asked: they are kept to, or it is said that they are not."""

import pytest

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

DRUGS = {
    "medications": (
        row("medication", "Insulin human", "2004-09-09", status="active", detail="by Dr. Ann Fay"),
        row("medication", "Metformin 500 MG", "1991-04-18", status="active",
            detail="9 prescriptions since 1991-04-18, last 2019-04-18; by Dr. Bo Kern"),
    )
}  # fmt: skip
ALLERGIES = {
    "allergies": (
        row("allergy", "Latex allergy", status="active"),
        row("allergy", "Allergy to mould", status="inactive"),
    )
}


@with_cases("text", "kept", "gone")
def test_only_what_is_not_left_out_is_told(text: str, kept: str, gone: str) -> None:
    told = said(text, DRUGS)
    assert kept in told
    assert gone not in told


def test_an_allergy_is_left_out_by_its_substance() -> None:
    told = said("allergies apart from latex", ALLERGIES)
    assert "mould" in told
    assert "Latex" not in told


def test_nothing_but_what_is_left_out_is_no_empty_list() -> None:
    only = {"medications": DRUGS["medications"][:1]}
    assert said("meds other than insulin?", only) == "Nothing else of it is recorded as current."
    assert (
        said("Medikamente außer Insulin?", only) == "Sonst ist dazu nichts Aktuelles verzeichnet."
    )


def test_who_ordered_nothing_is_said_to_be_in_no_row() -> None:
    assert said("what did dr xanthos prescribe", DRUGS).startswith("“xanthos”: not in the record")


def test_what_was_ordered_again_has_not_begun() -> None:
    assert "Nothing of that time" in said("meds started in 2019", DRUGS)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("any surgery under general", "under"),
        ("Medikamente seit mehr als 20 Jahren?", "mehr als"),
        ("more than one c-section?", "more than"),
        ("oral antidiabetics?", "oral"),
    ],
)
def test_a_limit_by_which_no_list_goes_is_named(text: str, unread: str) -> None:
    assert unread in said(text, DRUGS).splitlines()[0]


def test_one_of_two_is_no_yes() -> None:
    rows = {"problems": (row("problem", "Type 2 diabetes mellitus", status="active"),)}
    assert "Yes" not in said("is his diabetes type 2 or 1?", rows)


def test_what_is_taken_for_a_part_of_the_body_is_looked_for_among_the_drugs() -> None:
    scan = row("procedure", "Scan of bones")
    told = said("does she take anything for the bones", {"search_record": (scan,)})
    assert told.startswith("“bones”: not in the record.")


@pytest.mark.parametrize(
    "text", ["anything besides insulin?", "bekommt er außer Insulin noch was?"]
)
def test_all_but_one_drug_is_a_question_for_the_others(text: str) -> None:
    told = said(text, DRUGS)
    assert "Metformin" in told
    assert "Insulin" not in told


def test_a_drugs_name_is_not_the_beginning_of_a_longer_word() -> None:
    pill = row("medication", "Jolivette", status="stopped")
    assert "Jolivette" in said("welche Verhütung zuletzt?", {"medications contraceptive": (pill,)})


def test_the_last_three_are_three() -> None:
    shots = tuple(row("immunization", "Influenza", f"20{year}-10-01") for year in (18, 19, 20))
    told = said("last 3 flu shots", {"immunizations": shots})
    assert all(f"20{year}" in told for year in (18, 19, 20))
