"""What resources say of their own standing: suspected, excluded, forbidden, of somebody else."""

from datetime import date
from typing import Any

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion
from services.records.answers.choosing.unsaid import said_of_older
from services.records.answers.direct import answered
from services.records.resources.record import PatientRecord
from services.records.rows.dosage import dose_of
from services.records.rows.measurements import rows_of_observation
from services.records.views.lists import (
    allergies,
    care,
    encounters,
    history,
    immunizations,
    problems,
    procedures,
)
from services.records.views.medications import medications
from services.records.views.results import results
from services.records.views.summary import chart_summary
from tests.services.records.charts import Json, note, patient, record, resource
from tests.services.records.test_said_otherwise import SITUATION, said
from tests.tables import with_cases

TODAY = date(2026, 11, 22)
SUMMARY = "http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips"


def coded(code: str, display: str = "", system: str = "urn:s") -> Json:
    return {"coding": [{"system": system, "code": code, "display": display or code}]}


def condition(key: str, name: str, **fields: Any) -> Json:
    return resource("Condition", key, code={"text": name}, **fields)


def excluded(sign: str) -> Json:
    url = "http://fhir.de/StructureDefinition/icd-10-gm-diagnosesicherheit"
    extension = [{"url": url, "valueCoding": {"code": sign}}]
    coding = {"code": "E11.90", "display": "Diabetes mellitus, Typ 2", "extension": extension}
    return resource("Condition", f"c-{sign}", code={"coding": [coding]})


def drug(key: str, name: str, **fields: Any) -> Json:
    concept = {"medicationCodeableConcept": {"text": name}} if name else {}
    order = {"status": "active", "intent": "order", **concept}
    return resource("MedicationRequest", key, **{**order, **fields})


def names(view: ChartView) -> list[str]:
    return [one.name for one in view.rows]


def statuses(view: ChartView) -> dict[str, str]:
    return {one.name: one.status for one in view.rows}


def taken(*resources: Json) -> ChartView:
    return medications(record(*resources), today=TODAY, status="all")


# How certain it is


def test_a_diagnosis_that_its_code_excludes_is_left_out_and_one_that_is_over_is_not_active() -> (
    None
):
    found = problems(record(excluded("A"), excluded("V"), excluded("Z")), status="all").rows
    assert [(one.status, one.detail) for one in found] == [
        ("active", "unconfirmed"),
        ("resolved", "status post"),
    ]


@pytest.mark.parametrize("certainty", ["unconfirmed", "provisional", "differential"])
def test_what_is_not_confirmed_is_no_yes(certainty: str) -> None:
    suspected = condition(
        "c", "Pulmonary embolism", verificationStatus=coded(certainty, "Verdacht")
    )
    rows = problems(record(suspected)).rows
    told = said("has he had a pulmonary embolism?", {"problems": rows})
    assert told.startswith("Not clear: ")
    assert certainty in told


def test_statuses_are_read_by_their_codes_whatever_their_displays() -> None:
    milk = resource(
        "AllergyIntolerance", "a", patient={"reference": "Patient/p9"}, code={"text": "Milk"},
        clinicalStatus=coded("resolved", "Abgeklungen"),
        verificationStatus=coded("confirmed", "Bestätigt"),
    )  # fmt: skip
    (found,) = allergies(record(milk)).rows
    assert (found.status, found.detail) == ("resolved", "")
    assert said("is she allergic to milk?", {"allergies": (found,)}).startswith("No longer")


def test_a_date_of_the_record_is_told_from_an_onset() -> None:
    rows = problems(record(condition("c", "Gout", recordedDate="2022-05"))).rows
    assert rows[0].detail == "date of entry"


def test_an_end_by_age_is_told() -> None:
    gout = condition(
        "c", "Gout", abatementAge={"value": 50, "unit": "years"}, onsetString="in 1990s"
    )
    (found,) = problems(record(gout), status="all").rows
    assert (found.status, found.detail) == ("resolved", "onset in 1990s; ended at age 50 years")


# What states that there is none


def summary(kind: str, key: str, element: str, code: str, display: str, **fields: Any) -> Json:
    concept = {element: coded(code, display, SUMMARY)}
    return resource(kind, key, patient={"reference": "Patient/p9"}, **concept, **fields)


NONE = (
    summary("MedicationStatement", "m", "medicationCodeableConcept", "no-known-medications",
            "No known medications", status="active"),
    summary("Condition", "c", "code", "no-known-problems", "No known problems"),
    summary("Procedure", "p", "code", "no-known-procedures", "No known procedures",
            status="completed"),
    summary("AllergyIntolerance", "a", "code", "no-known-allergies", "Nothing found"),
)  # fmt: skip


def test_a_stated_absence_is_told_and_counts_as_nothing() -> None:
    chart = record(*NONE)
    rows = {
        "medications": medications(chart, today=TODAY).rows,
        "problems": problems(chart).rows,
        "procedures": procedures(chart).rows,
        "allergies": allergies(chart).rows,
    }
    assert "No known medications" in said("what is she taking?", rows)
    assert said("how many drugs is she taking?", rows).startswith("0 ")
    assert said("how many active problems does she have?", rows).startswith("0 ")
    assert said("does she have allergies?", rows).startswith(("No: ", "- **Nothing"))


def test_that_nothing_is_known_of_allergies_is_no_no() -> None:
    unknown = summary("AllergyIntolerance", "a", "code", "no-allergy-info", "No information")
    rows = allergies(record(unknown)).rows
    assert rows[0].kind == "not known"
    assert not said("does she have allergies?", {"allergies": rows}).startswith(("No", "Yes"))


# What is not to be done, or never was


def test_an_order_that_forbids_a_drug_is_not_taken() -> None:
    forbidden = drug("m", "Warfarin 5 mg", doNotPerform=True)
    rows = taken(forbidden, drug("n", "Insulin", intent="plan")).rows
    assert {one.name: one.status for one in rows} == {
        "Warfarin 5 mg": "not to be given or done",
        "Insulin": "only a plan",
    }
    assert said("is she on warfarin?", {"medications": taken(forbidden).rows}).startswith("No: ")


def test_orders_and_steps_of_plans_that_forbid_say_so() -> None:
    order = resource("ServiceRequest", "s", status="active", code={"text": "Enema"},
                     doNotPerform=True)  # fmt: skip
    step = {
        "detail": {"doNotPerform": True, "description": "Intensive care", "status": "scheduled"}
    }
    plan = resource("CarePlan", "c", status="active", title="Plan", activity=[step])
    found = {one.name: one for one in care(record(order, plan)).rows}
    assert found["Enema"].status == "not to be given or done"
    assert "Intensive care (not to be given or done)" in found["Plan"].detail


def test_steps_of_plans_and_extensions_are_told_whole_and_germs_by_what_resists() -> None:
    step = {"detail": {"code": {"text": "Dressing change"}, "description": "foam, every 3 days"}}
    plan = resource("CarePlan", "c", status="active", title="Plan", activity=[step])
    dose = [{"url": "totalDoseDelivered", "valueQuantity": {"value": 50, "unit": "Gy"}},
            {"url": "fractionsDelivered", "valueUnsignedInt": 25}]  # fmt: skip
    course = resource("Procedure", "p", code={"text": "Radiotherapy"}, status="completed",
                      extension=[{"url": "http://x/dose", "extension": dose}])  # fmt: skip
    germ = value("o", "Ampicillin susceptibility", "2026-11-12", 32)
    germ["interpretation"] = [{"coding": [{"code": "R"}]}]
    chart = record(plan, course, germ)
    assert "Dressing change: foam, every 3 days" in care(chart).rows[0].detail
    told = procedures(chart).rows[0].detail
    assert "total dose delivered 50 Gy; fractions delivered 25" in told
    assert "resistant" in results(chart).rows[0].detail


def visit(key: str, day: str, status: str) -> Json:
    return resource("Encounter", key, status=status, period={"start": day}, type=[{"text": key}])


def test_a_visit_that_was_cancelled_is_not_the_last_one() -> None:
    chart = record(
        visit("Skin", "2024-10-20", "cancelled"), visit("Heart", "2024-05-01", "finished")
    )
    view = encounters(chart, now="2026-11-22T12:00:00Z", last=1)
    assert names(view) == ["Skin", "Heart"]
    assert "Heart" in said("when was the last visit?", {"encounters": view.rows}).splitlines()[0]


def test_a_dose_of_a_vaccine_that_counts_for_less_says_so() -> None:
    dose = resource("Immunization", "i", status="completed", vaccineCode={"text": "MMR"},
                    isSubpotent=True, subpotentReason=[{"text": "cold chain"}])  # fmt: skip
    assert immunizations(record(dose)).rows[0].detail == "subpotent dose: cold chain"


# Values


def value(key: str, name: str, when: str, number: float, **fields: Any) -> Json:
    return resource(
        "Observation", key, code={"text": name}, effectiveDateTime=when,
        valueQuantity={"value": number, "unit": "u"}, **{"status": "final", **fields},
    )  # fmt: skip


def test_a_value_of_a_fetus_is_not_the_patients() -> None:
    chart = record(
        value("m", "Heart rate", "2026-11-20T05:00:00Z", 88),
        value("f", "Heart rate", "2026-11-20T06:00:00Z", 142, focus=[{"display": "fetus"}]),
    )
    rows = results(chart, names=["heart rate"]).rows
    assert "88" in said("latest heart rate?", {"results": rows}).splitlines()[0]
    every = results(chart).rows
    assert "Heart rate (of fetus, not of the patient)" in [one.name for one in every]
    shown = [one for one in chart_summary(chart, today=TODAY, now="2026-11-22").rows if one.number]
    assert [one.number for one in shown] == [88]


def test_a_value_of_an_illness_of_the_patient_is_the_patients() -> None:
    of_it = value("s", "Cancer disease status", "2026-02-10", 1)
    of_it["focus"] = [{"reference": "Condition/c"}]
    illness = resource("Condition", "c", code={"text": "Breast cancer"})
    rows = results(record(illness, of_it), names=["disease status"]).rows
    assert [one.name for one in rows] == ["Cancer disease status"]


def test_the_latest_value_is_the_last_in_time_whatever_the_offsets() -> None:
    chart = record(
        value("a", "Hemoglobin", "2025-06-03T00:30:00+02:00", 11.2),
        value("b", "Hemoglobin", "2025-06-02T23:00:00Z", 10.1),
    )
    told = said("latest hemoglobin?", {"results": results(chart, names=["hemoglobin"]).rows})
    assert "10.1" in told.splitlines()[0]


def test_a_preliminary_value_is_called_that() -> None:
    chart = record(value("a", "INR", "2025-06-03", 2.4, status="preliminary"))
    told = said("INR?", {"results": results(chart, names=["INR"]).rows})
    assert "preliminary" in told


def test_results_that_a_report_contains_are_found() -> None:
    inner = {"resourceType": "Observation", "id": "ldl", "code": {"text": "LDL cholesterol"},
             "valueQuantity": {"value": 131, "unit": "mg/dL"}}  # fmt: skip
    other = {**inner, "id": "unused"}
    chart = record(
        resource("DiagnosticReport", "r", status="final", effectiveDateTime="2025-03-03",
                 code={"text": "Lipids"}, result=[{"reference": "#ldl"}], contained=[inner, other])
    )  # fmt: skip
    (found,) = results(chart, names=["LDL cholesterol"]).rows
    assert (found.number, found.date, found.detail) == (131, "2025-03-03", "Lipids")
    assert found.sources == ("Observation/r.ldl",)
    assert rows_of_observation(chart, chart.entries["Observation/r.ldl"])


def test_entries_that_could_not_be_read_are_counted_in_the_answer() -> None:
    chart = record(value("a", "Sodium", "2025-06-03", 2.4, valueString=7))
    view = results(chart, names=["sodium"])
    assert "1 entry could not be read" in view.notes[0]
    assert _told_with_notes(view).endswith("say whose they are: 1. What they say is missing here.")


def _told_with_notes(view: ChartView) -> str:
    asked = read("latest sodium?", SITUATION).about
    given = [(asked[0], view)]
    while not isinstance(told := answered(asked, given, answer_words("en")), str):
        given.append((told, view.model_copy(update={"tool": told.tool, "rows": ()})))
    return told


# Drugs


def test_a_drug_without_a_name_is_called_by_what_it_is_made_of() -> None:
    strength = {
        "numerator": {"value": 500, "unit": "mg"},
        "denominator": {"value": 1, "unit": "tablet"},
    }
    made = {"resourceType": "Medication", "id": "x", "ingredient": [
        {"itemCodeableConcept": {"text": "Metformin"}, "strength": strength}]}  # fmt: skip
    chart = record(drug("m", "", contained=[made], medicationReference={"reference": "#x"}))
    assert names(medications(chart, today=TODAY)) == ["Metformin 500 mg/tablet"]


@with_cases("dosage", "words")
def test_dosages_are_told_whole(dosage: Json, words: str) -> None:
    assert dose_of({"dosageInstruction": [dosage]}) == words


def test_dosages_are_in_sequence_only_where_they_say_so() -> None:
    two = [{"text": "1 in the morning"}, {"text": "2 at night"}]
    assert dose_of({"dosageInstruction": two}) == "1 in the morning; and 2 at night"
    numbered = [{**each, "sequence": place} for place, each in enumerate(two, 1)]
    assert dose_of({"dosageInstruction": numbered}) == "1 in the morning; then 2 at night"


# Papers and visits


def test_a_directive_that_is_a_paper_is_among_the_directives() -> None:
    paper = note("dnr", "2024-10-08", "No resuscitation.")
    paper["type"] = {
        "coding": [{"system": "http://loinc.org", "code": "84095-9", "display": "DNR"}]
    }
    rows: tuple[ViewRow, ...] = care(record(paper)).rows
    assert [(one.kind, one.name) for one in rows] == [("directive", "DNR")]


def test_a_directive_is_known_by_its_name_says_what_is_wanted_and_is_the_valid_one() -> None:
    paper = note("new", "2024-10-08", "No CPR.") | {"type": {"text": "Advance directive"}}
    older = note("old", "2020-10-08", "Full code.") | {"type": {"text": "Advance directive"}}
    rows = care(record(older | {"status": "superseded"}, paper)).rows
    assert [(one.kind, one.detail.endswith("No CPR.")) for one in rows] == [("directive", True)]


def test_the_setting_of_a_visit_is_read_by_its_code() -> None:
    stay = resource("Encounter", "e", status="finished", period={"start": "2024-11-19"},
                    **{"class": {"code": "IMP", "display": "stationär"}})  # fmt: skip
    chart: PatientRecord = record(stay)
    assert encounters(chart, now="2026-11-22").rows[0].value == "inpatient"


# What has no name, or several


def test_what_is_recorded_by_a_code_alone_is_called_as_people_know_it() -> None:
    loinc = {"coding": [{"system": "http://loinc.org", "code": "4548-4"}]}
    shot = {"coding": [{"system": "http://hl7.org/fhir/sid/cvx", "code": "140"}]}
    atc = {"coding": [{"system": "http://fhir.de/CodeSystem/bfarm/atc", "code": "J07AL02"}]}
    smoked, penicillin = {"coding": [{"code": "8517006"}]}, {"coding": [{"code": "91936005"}]}
    chart = record(
        resource("Observation", "a", status="final", code=loinc, valueInteger=7),
        resource("Observation", "s", status="final", code={"text": "Smoking"},
                 valueCodeableConcept=smoked),
        resource("Immunization", "i", status="completed", vaccineCode=shot),
        resource("Immunization", "p", status="completed", vaccineCode=atc),
        resource("AllergyIntolerance", "y", code=penicillin),
    )  # fmt: skip
    assert names(results(chart, names=["a1c"])) == ["Hemoglobin A1c (4548-4)"]
    assert results(chart, names=["smoking"]).rows[0].value == "Ex-smoker"
    assert names(immunizations(chart, name="influenza")) == ["Influenza vaccine (140)"]
    assert names(immunizations(chart, name="pneumococcal")) == [
        "Pneumococcal conjugate vaccine (J07AL02)"
    ]
    assert names(allergies(chart)) == ["Allergy to penicillin"]


def test_of_hemoglobin_no_cancelled_hemoglobin_a1c_is_told() -> None:
    loinc = {"coding": [{"system": "http://loinc.org", "code": "4548-4"}]}
    chart = record(
        value("a", "Hemoglobin", "2025-06-02", 10.1),
        resource(
            "Observation", "b", status="cancelled", code=loinc, effectiveDateTime="2025-07-01"
        ),
    )
    assert not [one for one in results(chart, names=["hemoglobin"]).sources if one.quote]


def test_other_doses_of_a_drug_are_told_of_many_the_lowest_and_the_highest() -> None:
    rates = [resource("MedicationAdministration", f"m{n}", status="completed",
                      medicationCodeableConcept={"text": "Noradrenalin"},
                      effectiveDateTime=f"2022-11-{n:02}",
                      dosage={"rateQuantity": {"value": n / 10, "unit": "ug/kg/min"}})
             for n in range(1, 9)]  # fmt: skip
    [few], [many] = taken(*rates[:2]).rows, taken(*rates).rows
    assert (few.value, "other doses: 0.1 ug/kg/min (2022-11-01)" in few.detail) == (
        "0.2 ug/kg/min", True,
    )  # fmt: skip
    told = "other doses: 0.1 ug/kg/min (2022-11-01), 0.7 ug/kg/min (2022-11-07)"
    assert told in many.detail


def test_a_drug_that_is_only_a_code_is_named_where_another_is_not_found() -> None:
    order = drug("m", "", medicationCodeableConcept={"coding": [{"code": "860975"}]})
    view = medications(record(order), today=TODAY, name="metformin")
    assert view.notes == ("recorded by a code only, and perhaps it: 860975",)


def test_the_names_beside_the_one_that_is_shown_are_told() -> None:
    person = patient(name=[{"use": "old", "family": "Petrov"}, {"use": "official", "family": "Li"}])
    rows = chart_summary(record(person=person), today=TODAY, now="2026-11-22").rows
    assert [(one.name, one.value) for one in rows if one.kind == "personal"] == [
        ("old name", "Petrov")
    ]


def test_that_a_device_expires_is_no_end_of_its_use() -> None:
    device = resource("Device", "d", patient={"reference": "Patient/p9"}, status="active",
                      type={"text": "Pacemaker"}, expirationDate="2030-01")  # fmt: skip
    (found,) = care(record(device)).rows
    assert (found.end, found.detail) == ("", "expires 2030-01")


def test_what_is_worked_out_of_many_values_says_how_many_were_not_looked_through() -> None:
    chart = record(*(value(f"v{n}", "Potassium", f"2020-01-{n + 1:02d}", n) for n in range(9)))
    view = results(chart, names=["potassium"], last=3)
    told = said_of_older(ChartQuestion("results", aspect="maximum"), view, answer_words("en"))
    assert told[0] == "6 more in the record."
    assert "highest 8 u" in told[1]
    assert said_of_older(ChartQuestion("results", aspect="latest"), view, answer_words("en")) == []


def test_a_value_of_several_times_has_the_first_of_them() -> None:
    timed = {"effectiveTiming": {"event": ["2025-05-05", "2025-05-06"]}}
    seen = resource(
        "Observation", "a", status="final", code={"text": "Pain"}, valueInteger=3, **timed
    )
    assert results(record(seen)).rows[0].date == "2025-05-05"


def test_german_names_of_the_heart_are_found_in_both_spellings() -> None:
    refused = resource("Procedure", "k", status="not-done", code={"text": "Koronarangiographie"})
    rows = procedures(record(refused), name="Coronarangiographie").rows
    assert [one.status for one in rows] == ["not done"]


def test_what_is_recorded_by_a_code_or_a_flag_alone_is_told_in_words() -> None:
    aim = {"measure": coded("29463-7", system="http://loinc.org"), "detailString": "74 kg"}
    goal = resource("Goal", "g", lifecycleStatus="active", target=[aim],
                    description={"text": "Weight"})  # fmt: skip
    mother = resource("FamilyMemberHistory", "m", status="completed", deceasedBoolean=False,
                      relationship={"text": "mother"})  # fmt: skip
    letter = {**note("d", "2024-05-12", "Home."), "type": {"coding": [{"code": "18842-5"}]}}
    plan = resource("CarePlan", "p", status="active", intent="plan", title="Diet plan",
                    goal=[{"reference": "Goal/g"}])  # fmt: skip
    chart = record(goal, mother, letter, plan)
    [row] = [one for one in care(chart).rows if one.kind == "goal"]
    assert (row.value, row.detail) == ("Body weight (29463-7) 74 kg", "part of Diet plan")
    assert history(chart).rows[0].detail == "alive"
    assert [one.title for one in chart.documents] == ["Discharge summary"]
