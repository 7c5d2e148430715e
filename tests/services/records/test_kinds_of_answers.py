"""Kinds of questions whose answer told of another list, or of nothing although it is recorded."""

from collections.abc import Mapping

import pytest

from data_models.chart_view import ViewRow
from tests.services.records.test_said_otherwise import row, said

TEAM = row("care team", "MS team", value="Dr. Solvay (Neurologist), Dr. Abara (Psychiatrist)")
MRI = row("procedure", "Magnetic resonance imaging of head (procedure)", "2006-04-01")
COLONOSCOPY = row("procedure", "Colonoscopy", "2018-03-02")


@pytest.mark.parametrize(
    "text", ["who is her neurologist", "who is his psychiatrist?", "Wer ist ihr Neurologe?"]
)
def test_who_has_a_field_of_medicine_is_told_by_the_care_team(text: str) -> None:
    assert "Dr. Solvay" in said(text, {"care": (TEAM,)})


@pytest.mark.parametrize("text", ["any scans?", "when was her last MRI?", "brain MRI?"])
def test_a_scan_without_a_report_is_told_as_what_was_done(text: str) -> None:
    told = said(text, {"procedures": (COLONOSCOPY, MRI)})
    assert "Magnetic resonance imaging of head" in told
    assert "Colonoscopy" not in told


@pytest.mark.parametrize("text", ["what implants does she have", "any implants?", "Implantate?"])
def test_a_device_that_lies_in_no_body_is_no_implant(text: str) -> None:
    devices = (row("device", "Cardiac pacemaker"), row("device", "Wheelchair (physical object)"))
    told = said(text, {"care": devices})
    assert "pacemaker" in told
    assert "Wheelchair" not in told


def test_a_planned_visit_is_none_that_was() -> None:
    visits = (
        row("encounter", "Clinic follow-up", "2027-01-15", status="planned"),
        row("encounter", "Check up", "2024-05-05", status="finished"),
    )
    assert "2024-05-05" in said("last visit?", {"encounters": visits})
    assert "2027" not in said("last visit?", {"encounters": visits})
    assert "2027-01-15" in said("planned visits?", {"encounters": visits})


@pytest.mark.parametrize("text", ["can he have Augmentin", "is it safe to give co-amoxiclav"])
def test_an_allergy_to_one_of_two_drugs_is_one_to_both(text: str) -> None:
    recorded = (row("allergy", "Amoxicillin", status="active"),)
    assert "not in the record" not in said(text, {"allergies": recorded})


def test_hair_of_an_animal_is_told_who_asks_for_cats() -> None:
    recorded = (row("allergy", "Animal hair", status="active"),)
    assert "not in the record" not in said("is he allergic to cats", {"allergies": recorded})


def test_a_trait_is_no_yes_to_the_illness() -> None:
    trait = row("encounter diagnosis", "Sickle cell trait (disorder)", status="active")
    told = said("does he have sickle cell disease", {"problems": (trait,)})
    assert told.startswith("- **Sickle cell trait")


def test_what_a_plan_has_in_mind_is_no_yes_to_a_device() -> None:
    plan = row("care plan", "Asthma self management", detail="activities: Home nebulizer therapy")
    assert "Yes" not in said("does he have a nebulizer", {"care": (plan,)})


def test_an_illness_that_goes_on_is_not_over() -> None:
    active = row("problem", "Appendicitis", status="active")
    assert said("is the appendicitis over", {"problems": (active,)}).startswith("No: ")


def test_values_are_told_around_a_stay_in_intensive_care() -> None:
    stay = row("encounter", "Admission to intensive care unit", "2016-02-15", value="inpatient")
    value = row("laboratory", "Hemoglobin", "2016-02-14", value="7.2", number=7.2, unit="g/dL")
    told = said("hb when he was in the ICU", {"encounters": (stay,), "results": (value,)})
    assert "intensive care" in told
    assert "7.2 g/dL" in told


@pytest.mark.parametrize("text", ["who's his guardian?", "Wer ist sein Betreuer?"])
def test_a_related_person_is_a_contact(text: str) -> None:
    guardian = row("related person", "Grace Oduya", value="Guardian", detail="555-777-1212")
    assert "555-777-1212" in said(text, {"care": (guardian,)})


def test_an_end_stage_is_no_stage_of_a_tumour() -> None:
    renal = row("encounter diagnosis", "End-stage renal disease (disorder)", status="active")
    told = said("prostate cancer stage", {"search_record stage": (renal,), "search_record": ()})
    assert "renal" not in told


def test_visits_that_are_counted_tell_what_for_where_it_is_asked() -> None:
    visits = (row("encounter", "Emergency", value="emergency", detail="for Ankle sprain"),)
    told = said("how many ER visits and why", {"encounters": visits})
    assert told.startswith("1 visit")
    assert "for Ankle sprain" in told


def test_a_changed_dose_is_told_with_what_was_stopped() -> None:
    doses = (
        row("medication", "spironolactone 100 MG", "2021-04-20", status="active"),
        row("medication", "spironolactone 25 MG", "2020-09-10", status="stopped"),
    )
    told = said("was the spironolactone dose changed?", {"medications": doses})
    assert "25 MG" in told
    assert "did not understand" not in told


def test_no_yes_is_said_to_less_than_was_asked() -> None:
    given: Mapping[str, tuple[ViewRow, ...]] = {
        "medications": (row("medication", "Warfarin 5 MG", status="active"),)
    }
    told = said("any drug interactions with warfarin", given)
    assert told.startswith("I did not understand “interactions”")
    assert "Yes" not in told
    assert "**Warfarin 5 MG**" in told


def test_a_part_of_the_body_is_said_in_another_language() -> None:
    done = row("procedure", "Strahlentherapie der linken Brust", "2016-04-20")
    told = said("Wurde die Brust bestrahlt?", {"procedures radiation therapy": (done,)})
    assert "fand ich" not in told
    assert "2016-04-20" in told


def test_a_visit_whose_reason_nobody_wrote_may_be_the_one_that_is_not_meant() -> None:
    visits = (
        row("encounter", "Emergency room admission", "2011-06-22", value="emergency"),
        row("encounter", "Check up", "2011-07-22", value="ambulatory", detail="for Fracture"),
    )
    told = said("any er visits other than the fracture?", {"encounters": visits})
    assert told.startswith("I did not find “fracture” with it")
    assert "Yes" not in told


def test_what_began_on_the_day_of_the_last_visit_is_of_no_earlier_one() -> None:
    visits = tuple(
        row("encounter", "Emergency room admission", day, value="emergency", status="finished")
        for day in ("2016-05-22", "2018-03-11")
    )
    ills = (row("problem", "Whiplash injury to neck", "2016-05-22"),)
    told = said("why was she in the ER the last time?", {"encounters": visits, "problems": ills})
    assert "2018-03-11" in told
    assert "Whiplash" not in told


def test_an_illness_that_is_found_without_the_rest_of_its_name_is_told_with_its_treatment() -> None:
    anemia = row("problem", "Anemia", "2014-11-22", end="2015-06-20", status="resolved")
    drug = row("medication", "Vitamin B 12", "2014-11-22", status="active")
    lists = {"problems": (anemia,), "medications": (drug,)}
    assert "Vitamin B 12" in said("anemia in pregnancy treated how", lists)


def test_drugs_for_an_illness_are_left_out_by_their_reason() -> None:
    inhaler = row("medication", "Salmeterol", status="active", detail="prescribed; for Copd")
    iron = row("medication", "Ferrous sulfate", status="active", detail="prescribed")
    told = said("meds not for COPD", {"medications": (inhaler, iron)})
    assert "Ferrous sulfate" in told
    assert "Salmeterol" not in told
    assert said("meds not for gout", {"medications": (iron,)}).startswith("I did not find “gout”")


def test_how_many_pregnancies_there_were_is_told_without_what_only_mentions_one() -> None:
    ill = row("problem", "Normal pregnancy", "2019-09-04", status="resolved", end="2019-10-02")
    visit = row("encounter", "Prenatal visit", detail="for Normal pregnancy")
    told = said("how many pregnancies", {"problems": (ill,), "search_record": (visit,)})
    assert told.startswith("1 problem: obstetric history.")
    assert "Prenatal visit" not in told


def test_that_it_is_taken_is_no_level_of_it() -> None:
    drug = row("medication", "Vitamin B 12", status="active")
    told = said("b12 level", {"medications": (drug,), "search_record": (drug,)})
    assert "not in the record" in told.splitlines()[0]


def test_a_house_dust_mite_tells_of_no_housing() -> None:
    mite = row("allergy", "House dust mite allergy")
    assert "mite" not in said("housing?", {"search_record": (mite,)})


@pytest.mark.parametrize(
    ("text", "found", "told"),
    [
        ("was she admitted for the ankle sprain", row("problem", "Sprain of ankle", "2018-07-31"),
         "not in the record"),
        ("hiv test result?", row("procedure", "HIV antigen test", "2017-01-07"), "what it showed"),
        ("Ergebnis des HIV-Tests?", row("procedure", "HIV antigen test", "2017-01-07"),
         "das Ergebnis"),
    ],
)  # fmt: skip
def test_what_stands_elsewhere_is_not_what_was_asked(text: str, found: ViewRow, told: str) -> None:
    visit = row("encounter", "Check up", "2018-09-01", value="ambulatory", status="finished")
    assert told in said(text, {"encounters": (visit,), "search_record": (found,)})
