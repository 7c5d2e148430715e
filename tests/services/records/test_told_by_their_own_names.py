"""What is called otherwise than by the question, is not the same, or is not yet."""

from datetime import date

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.reading import read
from services.records.answers.choosing.imaged import reports_on
from services.records.resources.standing import FUTURE
from services.records.views.lists import care, procedures
from services.records.views.view import with_future_marked
from tests.services.records.charts import record, resource
from tests.services.records.test_said_otherwise import SITUATION, row, said
from tests.tables import with_cases

COLONOSCOPIES = (
    row("procedure", "Colonoscopy", "2022-12-05", value="no recurrence"),
    row("procedure", "Colonoscopy", "2021-11-19", value="stenosing tumour"),
)
SCORE = row("survey", "Edinburgh Postnatal Depression Scale", "2021-05-10", value="16", number=16)
FAMILY = (
    row("family history", "sister", "", value="Breast cancer at age 36"),
    row("family history", "father", "", value="Deep vein thrombosis"),
)
TREATED = (
    row("medication", "Cefuroxime", status="stopped"),
    row("medication", "Amoxicillin", status="stopped", detail="prescribed; for Viral sinusitis"),
)
_TODAY = date(2026, 11, 27)


def test_rows_that_tell_different_things_are_not_one_line() -> None:
    told = said("colonoscopies", {"procedures": COLONOSCOPIES})
    assert told.count("**Colonoscopy**") == len(COLONOSCOPIES)
    assert "stenosing tumour" in told


def test_of_two_values_none_is_left_out_for_the_one_that_is_called_as_typed() -> None:
    values = (row("laboratory", "Hemoglobin", number=13.0), row("vital sign", "Body weight"))
    told = said("hemoglobin and weight?", {"results": values})
    assert all(f"**{one.name}**" in told for one in values)


def test_what_was_not_given_leaves_what_was_given_alone() -> None:
    shots = (
        row("immunization", "Influenza", "2023-10-18", status="not done"),
        row("immunization", "Influenza", "2022-10-20"),
    )
    told = said("which flu shots", {"immunizations": shots}).splitlines()
    assert [("not done" in line, "2022-10-20" in line) for line in told] == [
        (True, False),
        (False, True),
    ]


@with_cases("kind", "day", "status", "told")
def test_what_is_done_on_a_day_to_come_says_so(kind: str, day: str, status: str, told: str) -> None:
    view = ChartView(tool="x", kind="table", title="", rows=(row(kind, "X", day, status=status),))
    assert with_future_marked(view, _TODAY).rows[0].status == told


@pytest.mark.parametrize("text", ["has she had MMR?", "Hat sie MMR bekommen?"])
def test_what_is_dated_in_the_future_is_no_yes(text: str) -> None:
    later = row("immunization", "MMR", "2027-11-14", status=FUTURE)
    told = said(text, {"immunizations": (later,)})
    assert not told.startswith(("Yes", "Ja"))
    assert "future" in told or "künftigen" in told


@pytest.mark.parametrize("text", ["epds", "highest epds", "epds trend"])
def test_a_value_that_only_a_search_finds_is_told_as_a_value(text: str) -> None:
    earlier = SCORE.model_copy(update={"date": "2020-01-01", "number": 5.0, "value": "5"})
    told = said(text, {"search_record": (SCORE, earlier), "results": (SCORE, earlier)})
    assert "16" in told
    assert "mentions" not in told


def test_an_illness_of_the_family_is_told_by_its_name_or_said_to_be_none() -> None:
    assert said("fam hx breast ca", {"history": FAMILY}) == f"- {_line_of(FAMILY[0])}"
    told = said("family hx of colon cancer?", {"history": FAMILY})
    assert told.splitlines()[0] == "I did not find “colon cancer” with it; without that:"


def _line_of(one: ViewRow) -> str:
    return f"**{one.name}**: {one.value} [{one.sources[0]}]"


def test_a_drug_for_an_illness_is_the_one_that_was_given_for_it() -> None:
    told = said("abx for sinusitis", {"medications": TREATED})
    assert "Amoxicillin" in told
    assert "Cefuroxime" not in told


def test_that_a_drug_was_completed_is_told() -> None:
    given = row("medication", "Clopidogrel", status="completed")
    assert "completed" in said("plavix?", {"medications": (given,)})


@pytest.mark.parametrize("name", ["ultrasound thyroid", "ultrasound kidney"])
def test_a_report_in_german_is_found_by_the_part_of_the_body(name: str) -> None:
    rows = tuple(row("imaging", f"Sonographie {part}") for part in ("Schilddrüse", "Nieren"))
    assert len(reports_on(name, rows)) == 1


def test_a_device_is_told_by_what_it_is() -> None:
    made = resource(
        "Device", "d", type={"text": "Insulin pump"}, deviceName=[{"name": "t:slim", "type": "x"}]
    )
    (shown,) = care(record(made)).rows
    assert (shown.name, shown.value) == ("Insulin pump", "t:slim")


@with_cases("text", "tool", "name")
def test_names_are_read_by_themselves(text: str, tool: str, name: str) -> None:
    (first, *_) = read(text, SITUATION).about
    assert (first.tool, first.name) == (tool, name)


@with_cases("text", "since", "years")
def test_a_time_of_life_is_years(text: str, since: int, years: int) -> None:
    (one,) = read(text, SITUATION).about
    assert (one.at_age, one.age_years) == (since, years)


def test_this_pregnancy_is_no_other() -> None:
    (one,) = read("bp trend this pregnancy", SITUATION).about
    assert (one.name, one.when, one.around[0].name) == ("blood pressure", "during", "pregnancy")


def test_a_value_that_the_record_calls_as_it_was_typed_is_found() -> None:
    score = row("survey", "MMST", "2023-02-10", value="12", number=12)
    told = said("MMST?", {"search_record mmst": (score,), "results MMST": (score,)})
    assert told.startswith("**MMST**: 12")


def test_the_reason_of_a_drug_need_not_be_the_whole_name_of_the_illness() -> None:
    rows = {
        "problems": (row("problem", "Postmenopausale Osteoporose", status="active"),),
        "medications": (row("medication", "Denosumab", detail="verordnet; for Osteoporose"),),
    }
    assert "given or done for it" in said("osteoporosis - how treated", rows)


def test_an_allergy_to_a_drug_of_two_is_found_by_its_one_name() -> None:
    rows = {"allergies": (row("allergy", "Cotrimoxazole", detail="rash"),)}
    assert said("septra allergy?", rows).startswith("- **Cotrimoxazole**")


def test_an_illness_is_no_vaccination_against_it() -> None:
    had = row("problem", "Herpes zoster", status="resolved")
    assert "**" not in said("shingles vaccine", {"search_record": (had,)})


@pytest.mark.parametrize("done", ["Cholezystektomie", "Hysterektomie", "Tonsillektomie"])
def test_an_operation_in_german_from_greek_is_found(done: str) -> None:
    made = resource("Procedure", "p", status="completed", code={"text": done})
    english = done.casefold().replace("ektomie", "ectomy").replace("z", "c")
    assert procedures(record(made), name=english).rows


@with_cases("text", "reason")
def test_why_not_is_told_by_why_it_ended(text: str, reason: str) -> None:
    ended = row("medication", "Warfarin", status="stopped", detail="prescribed; ended because of X")
    assert reason not in said(text, {"medications": (ended,)})
