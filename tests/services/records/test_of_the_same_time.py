"""What is told of the time of something else, and in units that the record does not use."""

import pytest

from tests.services.records.test_said_otherwise import row, said


def test_a_value_at_a_diagnosis_is_the_one_of_its_days() -> None:
    rows = {
        "problems": (row("problem", "Prediabetes", "2015-02-09", status="active"),),
        "results": tuple(
            row("laboratory", "Hemoglobin A1c", day, value=value, number=float(value), unit="%")
            for day, value in (("2021-02-22", "6.29"), ("2015-02-09", "6.38"))
        ),
    }
    told = said("a1c at diagnosis of prediabetes vs now", rows)
    assert "6.38 %, 2015-02-09" in told
    assert "6.29 %, 2021-02-22" in told
    then = said("was she ever prediabetic, what was the a1c then?", rows)
    assert "6.38" in then
    assert "6.29" not in then


@pytest.mark.parametrize(
    ("text", "value", "unit", "told"),
    [
        ("weight in pounds?", "80", "kg", "176.4 lb = 80 kg"),
        ("height in feet?", "180", "cm", "5 ft 11 in = 180 cm"),
        ("temperature in fahrenheit?", "38", "Cel", "100.4 °F = 38 Cel"),
        ("weight in celsius?", "80", "kg", ": 80 kg"),
    ],
)
def test_a_value_is_told_in_the_unit_asked_for(text: str, value: str, unit: str, told: str) -> None:
    name = "Temperature" if unit == "Cel" else "Weight"
    measured = row("vital sign", name, value=value, number=float(value), unit=unit)
    assert told in said(text, {"results": (measured,)})


def test_a_visit_without_a_reason_is_told_with_what_began_on_its_day() -> None:
    rows = {
        "encounters": (row("encounter", "Emergency room admission", "2017-07-24"),),
        "problems": (
            row("problem", "Whiplash injury", "2017-07-24"),
            row("problem", "Gout", "2015-01-01"),
        ),
        "medications": (row("medication", "Acetaminophen", "2017-07-24"),),
    }
    told = said("why was she in the er?", rows)
    assert "Whiplash" in told
    assert "Gout" not in told
    assert "Acetaminophen" not in told
    assert "Acetaminophen" in said("why was she in the er, and what did she get for it?", rows)


def test_a_bill_that_somebody_paid_once_is_no_yes_to_being_insured() -> None:
    bill = row("coverage", "private", "2019-02-22", detail="payer of this bill")
    told = said("is she insured?", {"care": (bill,)})
    assert "private" in told
    assert not told.startswith("Yes")


def test_two_values_in_a_unit_are_told_in_it_and_two_units_apart() -> None:
    rows = {
        "results": (
            row("vital sign", "Body Weight", value="80", number=80.0, unit="kg"),
            row("vital sign", "Body Mass Index", value="25", number=25.0, unit="kg/m2"),
        )
    }
    told = said("bmi and weight in lbs", rows)
    assert "176.4 lb = 80 kg" in told
    assert ": 25 kg/m2" in told


def test_that_somebody_is_allergic_to_it_is_no_yes_to_giving_it() -> None:
    rows = {"allergies": (row("allergy", "Latex allergy", status="active"),)}
    told = said("is latex safe for her?", rows)
    assert "Latex allergy" in told
    assert "Yes" not in told
    assert said("is she allergic to latex?", rows).startswith("Yes")


def test_a_pregnancy_that_ended_early_is_counted() -> None:
    rows = {"problems": (row("problem", "Miscarriage in first trimester", status="active"),)}
    told = said("how many times was she pregnant?", rows)
    assert told.startswith("1 problem")
    assert "Miscarriage" in told


def test_who_has_no_appendix_any_more_is_not_said_to_have_it() -> None:
    ruptured = row("problem", "Rupture of appendix", status="active")
    removed = row("problem", "History of appendectomy", status="active")
    told = said(
        "does he have his appendix?", {"problems": (ruptured,), "search_record": (removed,)}
    )
    assert "Yes" not in told
    assert "History of appendectomy" in told


def test_values_behind_an_event_are_of_its_days_too() -> None:
    sessions = (row("procedure", "Chemotherapy", "2018-05-28"),)
    values = tuple(
        row("laboratory", name, day, value=value, number=float(value), unit="g/dL")
        for name in ("Hemoglobin", "Leukocytes")
        for day, value in (("2018-05-28", "7.6"), ("2021-01-29", "4.1"))
    )
    told = said(
        "lowest hb during chemo, and lowest wbc?", {"procedures": sessions, "results": values}
    )
    assert "Lowest **Hemoglobin**: 7.6" in told
    assert "Lowest **Leukocytes**: 7.6" in told
    assert "4.1" not in told


def test_how_old_somebody_was_at_the_last_visit_is_not_how_old_they_are() -> None:
    rows = {
        "encounters": (row("encounter", "Check up", "2020-11-24"),),
        "chart_summary": (row("patient", "Ada Berg", "2019-05-27"),),
    }
    assert "at the age of 1" in said("how old was he at the last visit?", rows)


def test_visits_for_an_illness_are_counted_where_they_are_more_than_its_entries() -> None:
    visits = tuple(
        row("encounter", "Emergency room admission", day, detail="for Drug overdose")
        for day in ("2012-12-15", "1993-11-18")
    )
    rows = {"problems": (row("problem", "Drug overdose", "1993-11-18"),), "encounters": visits}
    told = said("overdoses - how many?", rows)
    assert "1 problem" in told
    assert "2 visits" in told
    rows["encounters"] = visits[:1]
    assert "visits" not in said("overdoses - how many?", rows)


WEIGHTS = tuple(
    row("vital sign", "Body Weight", day, value=value, number=float(value), unit="kg")
    for day, value in (("2020-06-01", "70"), ("2018-06-01", "80"), ("2015-06-01", "90"))
)


def test_where_nothing_was_measured_then_the_values_on_both_sides_are_told() -> None:
    rows = {
        "problems": (row("problem", "Stroke", "2017-01-01", status="resolved"),),
        "results": WEIGHTS,
    }
    told = said("weight at the time of the stroke?", rows)
    assert "Nothing of that time" in told
    assert "80 kg, 2018-06-01" in told
    assert "90 kg, 2015-06-01" in told
    assert "70 kg" not in told


def test_a_value_so_long_before_an_event_is_that_of_those_days() -> None:
    rows = {
        "problems": (row("problem", "Stroke", "2020-06-10", status="resolved"),),
        "results": WEIGHTS,
    }
    told = said("weight 2 years before the stroke?", rows)
    assert "80 kg, 2018-06-01" in told
    assert "70 kg" not in told
    assert "90 kg" not in told
    within = said("weight within 6 months after the stroke?", rows)
    assert "Nothing of that time" in within
    latest = said("Gewicht 5 Jahre vor dem letzten Wert?", rows)
    assert "90 kg, 2015-06-01" in latest


def test_a_value_at_the_last_but_one_of_a_panel_is_of_its_day() -> None:
    values = (("Hemoglobin", "13", "2019-09-22"), ("Hematocrit", "41", "2019-09-22"),
              ("Hemoglobin", "14", "2014-03-09"), ("Hematocrit", "35", "2014-03-09"))  # fmt: skip
    rows = tuple(
        row("laboratory", name, day, value=value, number=float(value), unit="%")
        for name, value, day in values
    )
    told = said("hemoglobin at the last but one cbc", {"results": rows})
    assert "2014-03-09" in told
    assert "2019-09-22" not in told


def test_values_on_both_sides_of_a_drug_are_told_apart() -> None:
    rows = {
        "medications": (row("medication", "Simvastatin", "2019-12-29", status="active"),),
        "results": tuple(
            row("laboratory", "LDL", day, value=value, number=float(value), unit="mg/dL")
            for day, value in (("2020-12-28", "97"), ("2019-12-08", "147"))
        ),
    }
    before, after = said("LDL before and after starting simvastatin", rows).split("147 mg/dL")
    assert "97" not in before
    assert "97 mg/dL" in after


def test_values_at_the_last_two_visits_are_of_no_visit_before_them() -> None:
    days = ("2019-08-22", "2017-08-17", "2014-12-04")
    rows = {
        "encounters": tuple(row("encounter", "Encounter for check up", day) for day in days),
        "results": tuple(
            row("vital sign", "Weight", day, value="80", number=80.0, unit="kg") for day in days
        ),
    }
    told = said("weight at the last 2 checkups", rows)
    assert "2017-08-17 80 kg" in told
    assert "2014-12-04" not in told


def test_until_when_a_drug_was_taken_is_not_made_up() -> None:
    rows = {
        "medications": (row("medication", "Metformin", "2017-02-15", status="stopped"),),
        "results": (
            row("vital sign", "Weight", "2019-08-22", value="76", number=76.0, unit="kg"),
            row("vital sign", "Weight", "2011-12-01", value="71", number=71.0, unit="kg"),
        ),
    }
    told = said("weight on metformin", rows)
    assert "The record does not say when it ended." in told
    assert "76 kg" in told
    assert "71 kg" not in told


def test_of_a_whole_list_no_day_is_an_end_of_a_length() -> None:
    rows = {
        "problems": (
            row("problem", "Cystitis", "2013-02-18", status="resolved"),
            row("problem", "Anemia", "1985-04-11", status="active"),
        )
    }
    told = said("when was the cystitis treated and how long after diagnosis?", rows)
    assert "days)" not in told


def test_what_a_row_adds_is_told_in_the_language_of_the_answer() -> None:
    drug = row("medication", "Simvastatin", "2019-12-29", status="active", detail=(
        "2 prescriptions since 2019-12-29, last 2020-12-28; for Hyperlipidemia; by Dr. Gleason"
    ))  # fmt: skip
    told = said("nimmt er Simvastatin?", {"medications": (drug,)})
    assert "2 Verordnungen seit 2019-12-29, zuletzt 2020-12-28; wegen Hyperlipidemia" in told
    assert "durch Dr. Gleason" in told


def test_the_visit_before_an_illness_is_not_the_one_for_it() -> None:
    rows = {
        "encounters": (
            row("encounter", "Encounter for symptom", "2020-02-29"),
            row("encounter", "Encounter for check up", "2019-04-13"),
        ),
        "problems": (row("problem", "Otitis media", "2020-02-29", status="resolved"),),
    }
    told = said("last visit before the otitis media", rows)
    assert "2019-04-13" in told
    assert "Encounter for symptom" not in told


def test_how_often_an_illness_came_since_another_is_counted_from_that() -> None:
    rows = {
        "problems": (
            row("problem", "Viral sinusitis", "2020-02-24", status="resolved"),
            row("problem", "Viral sinusitis", "2016-08-06", status="resolved"),
            row("problem", "Stroke", "2018-04-30", status="active"),
        )
    }
    told = said("sinusitis since the stroke how often", rows)
    assert "2020-02-24" in told
    assert "2016-08-06" not in told


def test_prescriptions_that_are_told_together_are_not_counted_for_some_days() -> None:
    drug = row("medication", "Acetaminophen", "2014-12-19", status="stopped",
               detail="2 prescriptions since 2014-12-19, last 2018-07-31")  # fmt: skip
    drug = drug.model_copy(update={"sources": ("MedicationRequest/1", "MedicationRequest/2")})
    told = said("acetaminophen how many times before 2018", {"medications": (drug,)})
    assert "this is of all times" in told


def test_the_days_between_the_last_two_of_a_kind_are_told() -> None:
    days = ("2021-02-15", "2020-11-16", "2020-08-17")
    rows = {"procedures": tuple(row("procedure", "Colonoscopy", day) for day in days)}
    told = said("interval between the last two colonoscopies", rows)
    assert "2020-11-16 to 2021-02-15" in told
    assert "2020-08-17" not in told


def test_how_long_an_illness_is_had_is_told_of_itself_and_not_of_what_is_due_to_it() -> None:
    problems = (
        row(
            "problem", "Proteinuria due to type 2 diabetes mellitus", "2016-01-01", status="active"
        ),
        row("problem", "Diabetic retinopathy", "2012-07-01", status="active"),
        row("problem", "Diabetes mellitus type 2 (disorder)", "2001-04-04", status="active"),
    )
    for text in ("how long has he had diabetes?", "years since diabetes diagnosis"):
        told = said(text, {"problems": problems})
        assert "Diabetes mellitus type 2 (disorder): " in told
        assert "Proteinuria" not in told
    assert "retinopathy" in said("how long has he had retinopathy?", {"problems": problems})


def test_how_long_a_group_of_illnesses_is_had_is_told_of_each() -> None:
    problems = (
        row(
            "problem", "Proteinuria due to type 2 diabetes mellitus", "2016-01-01", status="active"
        ),
        row("problem", "Chronic kidney disease stage 3 (disorder)", "2015-05-05", status="active"),
    )
    told = said("how long has he had kidney disease?", {"problems": problems})
    assert "Chronic kidney disease stage 3 (disorder): " in told
    assert "Proteinuria due to type 2 diabetes mellitus: " in told


@pytest.mark.parametrize("text", ["is she still on iron? why", "Nimmt sie noch Eisen, weswegen?"])
def test_a_drug_without_a_reason_is_told_with_the_visit_that_names_one(text: str) -> None:
    rows = {
        "medications": (row("medication", "Iron", "2003-05-15", status="active"),),
        "encounters": (
            row("encounter", "Visit", "2003-05-15", detail="for Anemia; at Quay Clinic"),
            row("encounter", "Check up", "2003-05-15", detail="at Quay Clinic"),
        ),
    }
    told = said(text, rows)
    assert "for Anemia" in told or "wegen Anemia" in told
    assert "Check up" not in told


def test_a_value_at_the_last_of_its_panels_is_told_once() -> None:
    values = tuple(
        row("laboratory", name, "2018-05-20", value=value, number=float(value), unit="mg/dL")
        for name, value in (("Total Cholesterol", "171"), ("LDL Cholesterol", "75"))
    )
    rows = {"results": values, "results low density lipoprotein cholesterol": values[1:]}
    assert said("ldl at the last lipid panel", rows).startswith("**LDL Cholesterol**: 75")
