"""What is said of a part that is asked for and that no row tells."""

import pytest

from data_models.chart_view import ViewRow
from tests.services.records.test_said_otherwise import row, said


@pytest.mark.parametrize(
    ("text", "tool", "found", "missing"),
    [
        ("which ankle was sprained?", "problems", row("problem", "Sprain of ankle"), "which side"),
        ("why did she stop smoking?", "results",
         row("social history", "Tobacco smoking status NHIS", value="Former smoker"), "the reason"),
        ("why is she anemic?", "problems", row("problem", "Anemia", status="active"), "the reason"),
        ("any vaccine reactions?", "immunizations", row("immunization", "MMR"), "the reaction"),
        ("was the coil removed?", "procedures",
         row("procedure", "Insertion of intrauterine contraceptive device"), "when it ended"),
        ("how much naproxen does he take?", "medications", row("medication", "Naproxen"),
         "how much of it is taken"),
        ("what did the colonoscopy show", "procedures", row("procedure", "Colonoscopy"),
         "what it showed"),
        ("how was his last colonoscopy", "procedures", row("procedure", "Colonoscopy"),
         "what it showed"),
        ("Ergebnis der Koloskopie?", "procedures", row("procedure", "Colonoscopy"), "das Ergebnis"),
        ("whats the im injection for", "procedures", row("procedure", "Intramuscular injection"),
         "the reason"),
    ],
)  # fmt: skip
def test_a_part_that_no_row_tells_is_said_to_be_missing(
    text: str, tool: str, found: ViewRow, missing: str
) -> None:
    assert missing in said(text, {tool: (found,)}).splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "tool", "found"),
    [
        ("which ankle was sprained?", "problems", row("problem", "Sprain of left ankle")),
        ("was the coil removed?", "procedures", row("procedure", "Removal of coil")),
        (
            "what did the colonoscopy show",
            "procedures",
            row("procedure", "Colonoscopy", value="no polyps"),
        ),
    ],
)
def test_what_a_row_tells_is_not(text: str, tool: str, found: ViewRow) -> None:
    assert "does not say" not in said(text, {tool: (found,)})


def test_a_care_plan_is_the_one_for_what_is_named() -> None:
    plans = (
        row("care plan", "Self care", detail="for Prediabetes; activities: Diabetic diet"),
        row("care plan", "Wound care", detail="for Laceration of foot"),
    )
    told = said("what is the care plan for his prediabetes?", {"care": plans})
    assert "Self care" in told
    assert "Wound care" not in told


def test_care_plans_that_are_open_are_those_that_are_not_over() -> None:
    plans = (
        row("care plan", "Self care", status="active"),
        row("care plan", "Wound care", status="completed"),
    )
    told = said("which care plans are still open?", {"care": plans})
    assert "Self care" in told
    assert "Wound care" not in told


def test_a_check_up_is_no_yes_to_a_stay() -> None:
    visit = row("encounter", "Check-up", value="ambulatory", detail="for Fracture of clavicle")
    told = said("was he hospitalised for the fracture?", {"encounters": (visit,)})
    assert "Yes" not in told
    assert "not in the record" in told


def test_an_entry_on_the_neck_is_no_image_of_it() -> None:
    neck = row("problem", "Whiplash injury to neck")
    told = said("any imaging of the neck?", {"search_record": (neck,)})
    assert "may speak of it" in told


@pytest.mark.parametrize("text", ["on nephrotoxics?", "nephrotoxics given?"])
def test_a_name_that_nobody_knows_is_not_only_called_absent(text: str) -> None:
    assert "no word that is known here" in said(text, {})


@pytest.mark.parametrize(
    "text", ["what was done for the cut on his foot?", "was wurde gegen die Schnittwunde gemacht?"]
)
def test_what_was_done_about_an_illness_is_how_it_was_treated(text: str) -> None:
    cut = row("problem", "Laceration of foot", "2018-01-17", status="resolved", end="2018-02-07")
    sutured = row("procedure", "Suture open wound", "2018-01-17", detail="for Laceration of foot")
    assert "Suture open wound" in said(text, {"problems": (cut,), "procedures": (sutured,)})


def test_a_drug_of_the_past_is_no_longer_taken_only_where_now_is_asked_for() -> None:
    drugs = {"medications": (row("medication", "Amoxicillin", status="stopped"),)}
    assert said("bekam er schon mal Amoxicillin?", drugs).startswith("Ja, früher")
    assert said("nimmt er noch Amoxicillin?", drugs).startswith("Nein, nicht mehr")


def test_that_there_is_a_plan_for_an_illness_is_no_drug_for_it() -> None:
    plan = row("care plan", "Diabetes self management plan", detail="for Prediabetes")
    absent = said("any diabetic meds?", {"search_record": (plan,)}).splitlines()[0]
    assert absent.startswith("“diabetes”: not in the record.")
