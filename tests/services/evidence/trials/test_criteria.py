"""Code judges criteria as people did, and never calls one met that is not."""

from datetime import date
from pathlib import Path

import pytest

from data_models.identifiers import PatientId
from evals.trial_criteria.measure import measured
from services.evidence.trials.facts import PatientFacts, facts_of
from services.evidence.trials.judge import judge
from services.evidence.trials.sources import StudyCriterion, study_of
from services.records.resources.record import record_from_resources
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, entries, patient, records_in, resource
from tests.tables import with_cases

SAMPLES = Path(__file__).parents[4] / "samples" / "patients"
TODAY = date(2026, 11, 23)


async def of(patient_id: str) -> PatientFacts:
    record = await records_in(SAMPLES, FixedClock()).load(PatientId(patient_id))
    return facts_of(record, today=TODAY)


@pytest.mark.slow
async def test_the_labelled_criteria_are_judged_as_people_did() -> None:
    figures = await measured()
    assert figures.labels >= 120
    assert figures.wrong_met == 0, figures.differing
    assert figures.share >= 0.95, figures.differing


@with_cases("text")
@pytest.mark.slow
async def test_a_criterion_with_words_that_code_does_not_know_is_never_met(text: str) -> None:
    assert judge(text, await of("patient_4")).verdict != "met"


async def test_a_verdict_names_its_row_or_what_is_missing() -> None:
    facts = await of("patient_4")
    found = judge("Hemoglobin ≥ 9 g/dL", facts)
    assert found.sources == ("Observation/hb-1",)
    assert "11.8 g/dL (2025-05-19)" in found.reason
    absent = judge("Platelets ≥ 100 x 10^9/L", facts)
    assert (absent.verdict, absent.reason) == ("unknown", "platelets: not in the record")


def test_values_are_compared_in_their_units_and_upper_limits() -> None:
    record = record_from_resources(
        PATIENT_ID,
        entries(patient(birthDate="1960-01-01", gender="female"),
        resource(
            "Observation", "alt", status="final", effectiveDateTime="2026-11-20",
            code={"coding": [{"system": "http://loinc.org", "code": "1742-6"}], "text": "ALT"},
            valueQuantity={"value": 80, "unit": "U/L"},
            referenceRange=[{"low": {"value": 10, "unit": "U/L"},
                             "high": {"value": 40, "unit": "U/L"}}],
        ),
        resource(
            "Observation", "plt", status="final", effectiveDateTime="2026-11-20",
            code={"coding": [{"system": "http://loinc.org", "code": "777-3"}],
                  "text": "Platelets"},
            valueQuantity={"value": 90, "unit": "10*3/uL"},
        ),
    ))  # fmt: skip
    facts = facts_of(record, today=TODAY)
    wanted = {
        "ALT ≤ 2.5 x ULN": "met",
        "ALT ≤ 1.5 x ULN": "not met",
        "ALT ≤ 2.5 x ULN within 14 days of enrollment": "met",
        "ALT ≤ 2.5 x ULN within 2 days": "unknown",
        "Platelets ≥ 75,000/mm3": "met",
        "Platelets ≥ 100 x 10^9/L": "not met",
        "Platelets ≥ 75 mg/dL": "unknown",
    }
    assert {text: judge(text, facts).verdict for text in wanted} == wanted


def test_the_text_of_a_register_is_split_into_criteria() -> None:
    study = study_of(
        {
            "protocolSection": {
                "identificationModule": {"nctId": "NCT1", "briefTitle": "T"},
                "eligibilityModule": {
                    "sex": "FEMALE",
                    "minimumAge": "18 Years",
                    "eligibilityCriteria": "Inclusion Criteria:\n\n1. ECOG 0-1\n* Stage IV\n\n"
                    "Exclusion Criteria:\n\n* Platelets \\< 75 x 10^9/L\n",
                },
            }
        }
    )
    assert study is not None
    assert study.criteria == (
        StudyCriterion("Female", is_exclusion=False),
        StudyCriterion("Age ≥ 18 years", is_exclusion=False),
        StudyCriterion("ECOG 0-1", is_exclusion=False),
        StudyCriterion("Stage IV", is_exclusion=False),
        StudyCriterion("Platelets < 75 x 10^9/L", is_exclusion=True),
    )


def test_what_is_no_study_is_none() -> None:
    assert study_of({"protocolSection": []}) is None
    assert study_of({}) is None
