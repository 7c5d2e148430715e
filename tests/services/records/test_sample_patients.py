import base64
import json
from datetime import date
from pathlib import Path
from typing import Any

import fhirkit
import pytest

from data_models.identifiers import PatientId
from samples.make_patients import bundle, read_source, text_of
from services.records.resources.ports import PatientRecords
from services.records.views.course import course
from services.records.views.oncology.oncology import imaging_view, pathology_view
from services.records.views.oncology.status import current_status
from services.records.views.search import search_record
from tests.fakes import FixedClock
from tests.services.records.charts import records_in

SAMPLES = Path(__file__).parents[3] / "samples"
PATIENTS = ["patient_4", "patient_7", "patient_15", "patient_21", "patient_33", "patient_42"]
TODAY = date(2025, 7, 1)


@pytest.fixture
def records() -> PatientRecords:
    return records_in(SAMPLES / "patients", FixedClock())


def committed(name: str) -> str:
    return (SAMPLES / "patients" / f"{name}.json").read_text(encoding="utf-8")


def resources(name: str) -> list[dict[str, Any]]:
    return [entry["resource"] for entry in json.loads(committed(name))["entry"]]


def test_every_source_has_its_bundle_and_no_bundle_is_alone() -> None:
    sources = {path.stem for path in (SAMPLES / "sources").glob("*.yaml")}
    assert sources == {path.stem for path in (SAMPLES / "patients").glob("*.json")} == {*PATIENTS}


@pytest.mark.parametrize("name", PATIENTS)
def test_every_bundle_is_valid_r4(name: str) -> None:
    assert fhirkit.FHIR_VERSION.startswith(("4.0", "R4"))
    assert [str(issue) for issue in fhirkit.parse(committed(name)).issues] == []


def test_the_validator_does_find_faults() -> None:
    broken = json.loads(committed("patient_4"))
    del broken["entry"][-1]["resource"]["status"]
    assert fhirkit.parse(json.dumps(broken)).issues


@pytest.mark.slow
@pytest.mark.parametrize("name", PATIENTS)
def test_the_committed_bundle_is_what_its_source_makes(name: str) -> None:
    assert committed(name) == text_of(bundle(read_source(SAMPLES / "sources" / f"{name}.yaml")))


@pytest.mark.parametrize("name", PATIENTS)
def test_every_reference_inside_a_bundle_leads_somewhere(name: str) -> None:
    rows = resources(name)
    known = {f"{row['resourceType']}/{row['id']}" for row in rows}
    assert len(known) == len(rows)
    named = {row["subject"]["reference"] for row in rows if "subject" in row}
    named |= {study["reference"] for row in rows for study in row.get("imagingStudy", [])}
    assert named <= known


@pytest.mark.parametrize("name", [name for name in PATIENTS if name != "patient_42"])
def test_rich_patients_have_five_to_twelve_notes_of_a_realistic_length(name: str) -> None:
    notes = [row for row in resources(name) if row["resourceType"] == "DocumentReference"]
    texts = [base64.b64decode(row["content"][0]["attachment"]["data"]).decode() for row in notes]
    assert 5 <= len(texts) <= 12
    assert all(800 <= len(text) <= 2_500 for text in texts), [len(text) for text in texts]


@pytest.mark.parametrize("name", PATIENTS)
async def test_every_sample_can_be_loaded_whole(records: PatientRecords, name: str) -> None:
    record = await records.load(PatientId(name))

    assert record.left_out.sentence() is None
    assert all(document.text for document in record.documents)
    assert course(record, today=TODAY).rows


async def test_patient_4_has_two_sources_that_differ_on_ecog(records: PatientRecords) -> None:
    status = current_status(await records.load(PatientId("patient_4")), today=TODAY)

    assert status.ecog.state == "sources differ"
    shown = {(r.value, r.sources[0].ref, r.date) for r in status.ecog.disagreement}
    assert shown == {
        ("2", "DocumentReference/note-6", "2025-05-21"),
        ("1", "Observation/ecog-3", "2025-05-20"),
    }
    assert status.staging[0].value == "IVB"
    assert [(r.value, r.date) for r in status.staging[0].earlier] == [("IVA", "2024-03-06")]


async def test_patient_42_lacks_what_a_board_needs_and_says_so(records: PatientRecords) -> None:
    status = current_status(await records.load(PatientId("patient_42")), today=TODAY)

    assert status.missing() == ("histology", "stage", "ECOG", "allergies", "biomarkers")
    assert status.diagnosis.value == (
        "Suspected malignant neoplasm of the head of the pancreas (provisional)"
    )
    assert status.age.value == "73 or 74"


async def test_patient_7_has_a_withdrawn_value_that_no_view_shows(records: PatientRecords) -> None:
    record = await records.load(PatientId("patient_7"))

    assert record.left_out.withdrawn == 1
    assert "Observation/hb-0" not in course(record, today=TODAY, kinds=["all"]).model_dump_json()


@pytest.mark.slow
async def test_patient_21s_letter_that_gives_orders_is_only_a_text(records: PatientRecords) -> None:
    record = await records.load(PatientId("patient_21"))
    status = current_status(record, today=TODAY)

    found = search_record(record, "maintenance mode")
    assert found.rows[0].sources == ("DocumentReference/outside-letter",)
    assert (status.patient_id, status.ecog.value) == ("patient_21", "2")


async def test_names_beyond_ascii_survive(records: PatientRecords) -> None:
    record = await records.load(PatientId("patient_15"))

    assert record.patient.name[0].label == "Zoë Łucja Çelik-Sørensen"
    assert [row for row in imaging_view(record).rows if row.kind == "imaging study"]
    assert pathology_view(record).rows[0].date[:10] == "2025-03-06"
