"""What resources say of their own standing: suspected, excluded, forbidden, of somebody else."""

from datetime import date
from typing import Any

from data_models.chart_view import ChartView
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion
from services.records.answers.choosing.unsaid import said_of_older
from services.records.answers.direct import answered
from services.records.rows.dosage import dose_of
from services.records.rows.measurements import rows_of_observation
from services.records.views.lists import allergies, care, history, immunizations, problems
from services.records.views.medications import medications
from services.records.views.results import results
from services.records.views.summary import chart_summary
from tests.services.records.charts import Json, note, patient, record, resource
from tests.services.records.test_said_otherwise import SITUATION, said
from tests.tables import with_cases

TODAY = date(2026, 11, 22)


def names(view: ChartView) -> list[str]:
    return [one.name for one in view.rows]


def excluded(sign: str) -> Json:
    url = "http://fhir.de/StructureDefinition/icd-10-gm-diagnosesicherheit"
    extension = [{"url": url, "valueCoding": {"code": sign}}]
    coding = {"code": "E11.90", "display": "Diabetes mellitus, Typ 2", "extension": extension}
    return resource("Condition", f"c-{sign}", code={"coding": [coding]})


# How certain it is


def test_a_diagnosis_that_its_code_excludes_is_left_out_and_one_that_is_over_is_not_active() -> (
    None
):
    found = problems(record(excluded("A"), excluded("V"), excluded("Z")), status="all").rows
    assert [(one.status, one.detail) for one in found] == [
        ("active", "unconfirmed"),
        ("resolved", "status post"),
    ]


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


@with_cases("dosage", "words")
def test_dosages_are_told_whole(dosage: Json, words: str) -> None:
    assert dose_of({"dosageInstruction": [dosage]}) == words


def test_dosages_are_in_sequence_only_where_they_say_so() -> None:
    two = [{"text": "1 in the morning"}, {"text": "2 at night"}]
    assert dose_of({"dosageInstruction": two}) == "1 in the morning; and 2 at night"
    numbered = [{**each, "sequence": place} for place, each in enumerate(two, 1)]
    assert dose_of({"dosageInstruction": numbered}) == "1 in the morning; then 2 at night"


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
    [few] = medications(record(*rates[:2]), today=TODAY, status="all").rows
    [many] = medications(record(*rates), today=TODAY, status="all").rows
    assert (few.value, "other doses: 0.1 ug/kg/min (2022-11-01)" in few.detail) == (
        "0.2 ug/kg/min", True,
    )  # fmt: skip
    told = "other doses: 0.1 ug/kg/min (2022-11-01), 0.7 ug/kg/min (2022-11-07)"
    assert told in many.detail


def test_the_names_beside_the_one_that_is_shown_are_told() -> None:
    person = patient(name=[{"use": "old", "family": "Petrov"}, {"use": "official", "family": "Li"}])
    rows = chart_summary(record(person=person), today=TODAY, now="2026-11-22").rows
    assert [(one.name, one.value) for one in rows if one.kind == "personal"] == [
        ("old name", "Petrov")
    ]


def test_what_is_worked_out_of_many_values_says_how_many_were_not_looked_through() -> None:
    chart = record(*(value(f"v{n}", "Potassium", f"2020-01-{n + 1:02d}", n) for n in range(9)))
    view = results(chart, names=["potassium"], last=3)
    told = said_of_older(ChartQuestion("results", aspect="maximum"), view, answer_words("en"))
    assert told[0] == "6 more in the record."
    assert "highest 8 u" in told[1]
    assert said_of_older(ChartQuestion("results", aspect="latest"), view, answer_words("en")) == []


def test_what_is_recorded_by_a_code_or_a_flag_alone_is_told_in_words() -> None:
    aim = {
        "measure": {"coding": [{"code": "29463-7", "system": "http://loinc.org"}]},
        "detailString": "74 kg",
    }
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
