from datetime import date

import pytest

from data_models.chart_view import ViewRow
from services.records.views.demographics import demographics
from services.records.views.oncology.biomarkers import biomarkers
from services.records.views.oncology.oncology import (
    biomarkers_view,
)
from services.records.views.oncology.status import current_status
from tests.services.records.charts import cancer, ecog, note, patient, record, resource
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
