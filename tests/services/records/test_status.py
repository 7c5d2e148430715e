from datetime import date

import pytest

from data_models.chart_view import ViewRow
from services.records.views.demographics import demographics
from services.records.views.oncology.biomarkers import biomarkers
from services.records.views.oncology.oncology import (
    biomarkers_view,
    status_view,
    treatments_view,
)
from services.records.views.oncology.status import current_status
from tests.services.records.charts import cancer, ecog, note, observation, patient, record, resource
from tests.services.records.test_said_otherwise import said
from tests.tables import with_cases

TODAY = date(2025, 7, 1)


def test_an_empty_record_says_of_everything_that_it_is_missing() -> None:
    status = current_status(record(), today=TODAY)

    assert status.missing() == (
        "age", "sex", "diagnosis", "primary site", "histology", "stage", "ECOG", "allergies",
        "biomarkers", "treatment history",
    )  # fmt: skip
    assert status.vital_status.value == "no death recorded"
    assert '"not in the record"' in status.model_dump_json()


def test_every_fact_names_its_source_and_date() -> None:
    chart = record(
        cancer(stage=[{"summary": {"text": "Stage IVA"}}]), ecog("e1", "2024-03-07", "1")
    )
    status = current_status(chart, today=TODAY)

    facts = (status.diagnosis, status.primary_site, status.staging[0], status.ecog)
    assert [(fact.value, fact.sources[0].ref, fact.sources[0].date) for fact in facts] == [
        ("Adenocarcinoma of lung", "Condition/tumour", "2024-03-06"),
        ("Right upper lobe", "Condition/tumour", "2024-03-06"),
        ("IVA", "Condition/tumour", "2024-03-06"),
        ("1", "Observation/e1", "2024-03-07"),
    ]


@pytest.mark.parametrize(
    "text", ["ECOG 2.", "ECOG PS 2 today", "She is ECOG performance status of 2", "ECOG: 2; tired"]
)
def test_a_note_that_states_ecog_is_a_source_with_its_words(text: str) -> None:
    status = current_status(record(note("n", "2024-05-01", text)), today=TODAY)

    assert status.ecog.value == "2"
    assert "ECOG" in (status.ecog.sources[0].quote or "")


@with_cases("text")
def test_words_about_another_time_or_person_are_no_reading(text: str) -> None:
    status = current_status(record(note("n", "2024-05-01", text)), today=TODAY)

    assert status.ecog.state == "not in the record"
    assert status.staging[0].state == "not in the record"


def test_shorthand_for_a_known_stage_is_no_disagreement() -> None:
    chart = record(
        cancer(stage=[{"summary": {"text": "Stage IIIB"}}]),
        note("n", "2024-03-06", "Now stage III."),
    )
    assert current_status(chart, today=TODAY).staging[0].state == "recorded"


def test_the_stage_in_the_name_of_a_tumour_is_its_stage() -> None:
    name = {"text": "Non-small cell carcinoma of lung, TNM stage 1"}
    chart = record({**cancer(), "code": name})
    assert current_status(chart, today=TODAY).staging[0].value == "1"


def test_stages_and_ecog_that_have_no_code_are_known_by_their_names() -> None:
    def named(name: str, day: str, shown: str) -> dict[str, object]:
        return resource("Observation", day + shown, status="final", code={"text": name},
                        effectiveDateTime=day, valueString=shown,
                        focus=[{"reference": "Condition/c"}])  # fmt: skip

    chart = record(
        {**cancer(), "id": "c"},
        named("TNM clinical stage group", "2024-03-20", "Stage IIB"),
        named("TNM stage group", "2026-02-10", "Stage IV"),
        named("cT category", "2024-03-20", "cT2"),
        named("ECOG performance status", "2026-02-10", "2"),
    )
    status = current_status(chart, today=TODAY)
    told = [fact.value for fact in (*status.staging, status.ecog)]
    assert told == ["IV", "cT2", "2"]
    assert status.staging[0].earlier[0].value == "IIB"


def test_metastases_effusions_and_other_illness_are_not_the_diagnosis() -> None:
    chart = record(
        cancer(),
        resource("Condition", "m", code={"text": "Metastasis to brain"}, recordedDate="2025-01-01"),
        resource("Condition", "e", code={"text": "Malignant pleural effusion"}),
        resource("Condition", "h", code={"coding": [{"code": "I10"}], "text": "Hypertension"}),
    )
    fact = current_status(chart, today=TODAY).diagnosis
    assert (fact.value, fact.state) == ("Adenocarcinoma of lung", "recorded")


def test_a_value_that_is_absent_for_a_reason_is_shown_with_the_reason() -> None:
    row = resource(
        "Observation", "b", code={"text": "EGFR"}, effectiveDateTime="2024-01-01",
        dataAbsentReason={"text": "not performed"},
    )  # fmt: skip
    assert biomarkers(record(row))[0].value == "no result (not performed)"


def test_a_marker_measured_again_has_a_course_and_no_disagreement() -> None:
    def psa(key: str, day: str, value: float) -> dict[str, object]:
        quantity = {"value": value, "unit": "ng/mL"}
        return resource(
            "Observation", key, code={"text": "PSA"}, effectiveDateTime=day, valueQuantity=quantity
        )

    chart = record(psa("a", "2024-01-01", 4.0), psa("b", "2024-01-08", 9.25))
    fact = biomarkers(chart)[0]
    assert (fact.value, fact.state) == ("9.25 ng/mL", "recorded")
    assert fact.earlier[0].value == "4.0 ng/mL"
    row = biomarkers_view(chart).rows[0]
    before = {"value": "4.0 ng/mL", "date": "2024-01-01", "sources": ("Observation/a",)}
    assert [dict(one) for one in row.earlier] == [before]
    stored = row.model_dump(mode="json")
    assert ViewRow.model_validate(stored) == row
    del stored["earlier"]  # as it was stored before
    assert ViewRow.model_validate(stored).earlier == ()


def test_a_variant_is_named_after_its_gene() -> None:
    def part(code: str, text: str) -> dict[str, object]:
        return {"code": {"coding": [{"code": code}]}, "valueCodeableConcept": {"text": text}}

    row = observation(
        "v", "69548-6", "Genetic variant assessment", "2024-01-01", "Present",
        component=[part("48018-6", "BRAF"), part("48005-3", "p.Val600Glu")],
    )  # fmt: skip
    fact = biomarkers(record(row))[0]
    assert (fact.name, fact.value) == ("BRAF", "Present; p.Val600Glu")


def test_what_merely_sounds_like_a_marker_is_none() -> None:
    chart = record(observation("o", "1", "Met with family", "2024-01-01", "yes"))
    assert biomarkers(chart) == ()


def test_a_drug_behind_a_reference_is_named() -> None:
    chart = record(
        {"resourceType": "Medication", "id": "d", "code": {"text": "Osimertinib"}},
        resource("MedicationRequest", "m", medicationReference={"reference": "Medication/d"}),
    )
    assert treatments_view(chart, today=TODAY).rows[0].name == "Osimertinib"


@with_cases("fields", "age", "deceased")
def test_the_age_is_told_as_far_as_it_is_known(
    fields: dict[str, object], age: str, deceased: str
) -> None:
    who = demographics(record(person=patient(**fields)), today=TODAY)
    assert (who.age, who.deceased) == (age, deceased)


def test_the_official_name_is_shown_and_a_nameless_patient_has_none() -> None:
    names = [{"use": "nickname", "text": "Addie"}, {"use": "official", "text": "Ada Example"}]
    assert demographics(record(person=patient(name=names)), today=TODAY).name == "Ada Example"
    assert demographics(record(person=patient(name=[])), today=TODAY).name == ""


@with_cases("asked", "told", "not_told")
def test_a_status_is_told_as_it_was_at_a_time(asked: str, told: str, not_told: str) -> None:
    chart = record(
        cancer(stage=[{"summary": {"text": "Stage IVA"}}]),
        ecog("e1", "2024-03-07", "1"),
        ecog("e2", "2025-05-20", "2"),
    )
    answer = said(asked, {"current_status": status_view(chart, today=TODAY).rows})
    assert told in answer
    assert not_told not in answer
