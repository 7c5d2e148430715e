"""Small patient records for tests."""

import base64
from pathlib import Path
from typing import Any, TypeAlias

from data_models.clock import Clock
from data_models.identifiers import PatientId
from services.records.folder.records import FolderRecords
from services.records.records_factory import id_fits
from services.records.resources.record import PatientRecord, record_from_resources

Json: TypeAlias = dict[str, Any]

PATIENT_ID = PatientId("patient_9")
LOINC = "http://loinc.org"


def records_in(folder: Path, clock: Clock) -> FolderRecords:
    """Return the records of a folder under the ids of the samples' pattern."""
    return FolderRecords(folder=folder, clock=clock, fits=id_fits("^patient_[0-9]+$"))


def patient(**fields: Any) -> Json:
    return {
        "resourceType": "Patient",
        "id": "p9",
        "identifier": [{"system": "urn:ids", "value": "patient_9"}],
        "name": [{"family": "Example", "given": ["Ada"]}],
        **fields,
    }


def resource(kind: str, key: str, **fields: Any) -> Json:
    return {"resourceType": kind, "id": key, "subject": {"reference": "Patient/p9"}, **fields}


def observation(key: str, code: str, text: str, date: str | None, value: str, **more: Any) -> Json:
    coding = [{"system": LOINC, "code": code}]
    dated = {"effectiveDateTime": date} if date else {}
    return resource(
        "Observation", key, status="final", code={"coding": coding, "text": text},
        valueCodeableConcept={"text": value}, **dated, **more,
    )  # fmt: skip


def ecog(key: str, date: str | None, value: str, **more: Any) -> Json:
    return observation(key, "89247-1", "ECOG performance status", date, value, **more)


def note(key: str, date: str, text: str, **attachment: Any) -> Json:
    data = base64.b64encode(text.encode()).decode()
    return resource(
        "DocumentReference", key, status="current", date=f"{date}T10:00:00Z",
        type={"text": f"Note {key}"},
        content=[{"attachment": {"contentType": "text/plain", "data": data, **attachment}}],
    )  # fmt: skip


def report(key: str, date: str, category: str, text: str, **more: Any) -> Json:
    data = base64.b64encode(text.encode()).decode()
    return resource(
        "DiagnosticReport", key, status="final", effectiveDateTime=date,
        category=[{"coding": [{"code": category}]}], code={"text": f"Report {key}"},
        presentedForm=[{"contentType": "text/plain", "data": data}], **more,
    )  # fmt: skip


def cancer(key: str = "tumour", **fields: Any) -> Json:
    return resource(
        "Condition", key,
        code={"coding": [{"code": "C34.11"}], "text": "Adenocarcinoma of lung"},
        bodySite=[{"text": "Right upper lobe"}], recordedDate="2024-03-06", **fields,
    )  # fmt: skip


def entries(*resources: Json) -> list[Json]:
    return [{"resource": row} for row in resources]


def bundle(*resources: Json) -> Json:
    return {"resourceType": "Bundle", "type": "collection", "entry": entries(*resources)}


def record(*resources: Json, person: Json | None = None) -> PatientRecord:
    return record_from_resources(PATIENT_ID, entries(person or patient(), *resources))
