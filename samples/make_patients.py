"""Writes `patients/*.json` (FHIR R4 bundles) from the readable `sources/*.yaml`.

    python samples/make_patients.py

The bundles are committed; a test checks that they are what this writes. All people are invented.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import yaml

Json: TypeAlias = dict[str, Any]

HERE = Path(__file__).parent
BASE = "https://rounds.example/fhir"
PATIENT_ID_SYSTEM = "https://rounds.example/patient-id"
RECORD_NUMBER_SYSTEM = "https://rounds.example/record-number"
LOINC = "http://loinc.org"
ICD10 = "http://hl7.org/fhir/sid/icd-10-cm"
DICOM = "http://dicom.nema.org/resources/ontology/DCM"
UCUM = "http://unitsofmeasure.org"
HL7 = "http://terminology.hl7.org/CodeSystem"
MORPHOLOGY = "http://hl7.org/fhir/us/mcode/StructureDefinition/mcode-histology-morphology-behavior"

OBSERVED: Mapping[str, tuple[str | None, str, str]] = {
    "ecog": ("89247-1", "ECOG performance status", "survey"),
    "clinical stage": ("21908-9", "Clinical stage group", "exam"),
    "pathological stage": ("21902-2", "Pathological stage group", "exam"),
    "cT": ("21905-5", "Clinical T", "exam"),
    "cN": ("21906-3", "Clinical N", "exam"),
    "cM": ("21907-1", "Clinical M", "exam"),
    "pT": ("21899-0", "Pathological T", "exam"),
    "pN": ("21900-6", "Pathological N", "exam"),
    "pM": ("21901-4", "Pathological M", "exam"),
    "ER": ("40556-3", "Estrogen receptor (immunohistochemistry)", "laboratory"),
    "PR": ("40557-1", "Progesterone receptor (immunohistochemistry)", "laboratory"),
    "HER2": ("85319-2", "HER2 (immunohistochemistry)", "laboratory"),
    "HER2 ISH": (None, "HER2 (in situ hybridisation)", "laboratory"),
    "Ki-67": (None, "Ki-67 proliferation index", "laboratory"),
    "PD-L1": (None, "PD-L1 tumour proportion score", "laboratory"),
    "MSI": ("81695-9", "Microsatellite instability", "laboratory"),
    "MMR": (None, "Mismatch repair proteins (MMR)", "laboratory"),
    "PSA": ("2857-1", "Prostate specific antigen (PSA)", "laboratory"),
    "CEA": ("2039-6", "Carcinoembryonic antigen (CEA)", "laboratory"),
    "LDH": ("2532-0", "Lactate dehydrogenase (LDH)", "laboratory"),
    "haemoglobin": ("718-7", "Haemoglobin", "laboratory"),
    "creatinine": ("2160-0", "Creatinine", "laboratory"),
    "platelets": ("777-3", "Platelets", "laboratory"),
    "ALT": ("1742-6", "Alanine aminotransferase (ALT)", "laboratory"),
    "weight": ("29463-7", "Body weight", "vital-signs"),
    "LVEF": (None, "Left ventricular ejection fraction", "imaging"),
    "smoking": ("72166-2", "Tobacco smoking status", "social-history"),
}
DOCUMENT_TYPES: Mapping[str, tuple[str, str]] = {
    "referral": ("57133-1", "Referral note"),
    "consult": ("11488-4", "Consultation note"),
    "progress": ("11506-3", "Progress note"),
    "operation": ("11504-8", "Operation note"),
    "discharge": ("18842-5", "Discharge summary"),
    "history": ("34117-2", "History and physical note"),
    "nursing": ("34746-8", "Nurse note"),
}
REPORT_TYPES: Mapping[str, tuple[str, str, str]] = {
    "imaging": ("RAD", "18748-4", "Radiology"),
    "pathology": ("PAT", "11526-1", "Pathology (gross & histopath, not surgical)"),
    "genetics": ("GE", "51969-4", "Genetics"),
}
MODALITIES: Mapping[str, str] = {
    "CT": "Computed Tomography",
    "MR": "Magnetic Resonance",
    "PT": "Positron emission tomography",
    "MG": "Mammography",
    "US": "Ultrasound",
    "NM": "Nuclear Medicine",
}


def bundle(source: Json) -> Json:
    """Return the FHIR bundle that `source` (one YAML file) describes."""
    subject = {"reference": f"Patient/{source['id'].replace('_', '-')}"}
    entries = [_entry(_patient(source))]
    for section, build in BUILDERS.items():
        for row in source.get(section, []):
            entries.extend(_entry(resource) for resource in build(row, subject))
    return {
        "resourceType": "Bundle",
        "id": source["id"].replace("_", "-"),
        "type": "collection",
        "entry": entries,
    }


def text_of(document: Json) -> str:
    """Return the bundle as it is committed."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_source(path: Path) -> Json:
    """Return one source with every value as text."""
    return dict(_as_text(yaml.safe_load(path.read_text(encoding="utf-8"))))


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


def _entry(resource: Json) -> Json:
    return {
        "fullUrl": f"{BASE}/{resource['resourceType']}/{resource['id']}",
        "resource": {key: value for key, value in resource.items() if value not in (None, [], {})},
    }


def _patient(source: Json) -> Json:
    row = source["patient"]
    return {
        "resourceType": "Patient",
        "id": source["id"].replace("_", "-"),
        "identifier": [
            {"use": "usual", "system": PATIENT_ID_SYSTEM, "value": source["id"]},
            {"use": "secondary", "system": RECORD_NUMBER_SYSTEM, "value": row["record_number"]},
        ],
        "name": [{"use": "official", "family": row["family"], "given": row["given"]}],
        "gender": row.get("gender"),
        "birthDate": row.get("birth_date"),
        "deceasedDateTime": row.get("died"),
    }


def _condition(row: Json, subject: Json) -> Iterator[Json]:
    coding = [{"system": ICD10, "code": row["icd10"]}] if "icd10" in row else []
    histology = {"valueCodeableConcept": {"text": row["histology"]}} if "histology" in row else {}
    yield {
        "resourceType": "Condition",
        "id": row["id"],
        "extension": [{"url": MORPHOLOGY, **histology}] if histology else [],
        "clinicalStatus": _hl7("condition-clinical", row.get("status", "active")),
        "verificationStatus": _hl7("condition-ver-status", row.get("certainty", "confirmed")),
        "category": [_hl7("condition-category", "problem-list-item")],
        "code": {"coding": coding, "text": row["text"]} if coding else {"text": row["text"]},
        "bodySite": [{"text": row["site"]}] if "site" in row else [],
        "subject": subject,
        "onsetDateTime": row.get("onset"),
        "recordedDate": row.get("recorded"),
        "stage": [
            {"summary": {"text": s["is"]}, "type": {"text": s["by"]}} for s in row.get("stages", [])
        ],
    }


def _observation(row: Json, subject: Json) -> Iterator[Json]:
    code, text, category = OBSERVED[row["what"]]
    yield {
        "resourceType": "Observation",
        "id": row["id"],
        "status": row.get("status", "final"),
        "category": [_hl7("observation-category", category)],
        "code": _coded(LOINC, code, text),
        "subject": subject,
        "effectiveDateTime": row.get("date"),
        **_value(row),
        "note": [{"text": row["note"]}] if "note" in row else [],
    }


def _variant(row: Json, subject: Json) -> Iterator[Json]:
    parts = [("48018-6", "Gene studied", row["gene"])]
    if "protein" in row:
        parts.append(("48005-3", "Amino acid change (pHGVS)", row["protein"]))
    if "dna" in row:
        parts.append(("48004-6", "DNA change (c.HGVS)", row["dna"]))
    yield {
        "resourceType": "Observation",
        "id": row["id"],
        "status": "final",
        "category": [_hl7("observation-category", "laboratory")],
        "code": _coded(LOINC, "69548-6", "Genetic variant assessment"),
        "subject": subject,
        "effectiveDateTime": row["date"],
        "valueCodeableConcept": {"text": row["finding"]},
        "component": [
            {"code": _coded(LOINC, code, name), "valueCodeableConcept": {"text": value}}
            for code, name, value in parts
        ],
    }


def _value(row: Json) -> Json:
    if "unit" in row:
        number = float(row["value"]) if "." in row["value"] else int(row["value"])
        quantity = {"value": number, "unit": row["unit"], "system": UCUM, "code": row["unit"]}
        return {"valueQuantity": quantity}
    if "absent" in row:
        return {"dataAbsentReason": _hl7("data-absent-reason", row["absent"])}
    if row["value"].isdigit():
        return {"valueInteger": int(row["value"])}
    return {"valueCodeableConcept": {"text": row["value"]}}


def _medication(row: Json, subject: Json) -> Iterator[Json]:
    kind = row.get("kind", "MedicationStatement")
    shared = {
        "resourceType": kind,
        "id": row["id"],
        "medicationCodeableConcept": {"text": row["drug"]},
        "subject": subject,
        "reasonCode": [{"text": row["reason"]}] if "reason" in row else [],
        "note": [{"text": row["note"]}] if "note" in row else [],
    }
    dose = [{"text": row["dose"]}] if "dose" in row else []
    if kind == "MedicationRequest":
        own = {
            "status": row.get("status", "active"),
            "intent": "order",
            "authoredOn": row["start"],
            "dosageInstruction": dose,
        }
    elif kind == "MedicationAdministration":
        own = {"status": row.get("status", "completed"), "effectiveDateTime": row["start"]}
    else:
        span = {key: row[key] for key in ("start", "end") if key in row}
        own = {
            "status": row.get("status", "completed" if "end" in row else "active"),
            "effectivePeriod": span,
            "dosage": dose,
        }
    yield {**shared, **own}


def _procedure(row: Json, subject: Json) -> Iterator[Json]:
    span = {"performedPeriod": {"start": row["date"], "end": row["end"]}} if "end" in row else {}
    yield {
        "resourceType": "Procedure",
        "id": row["id"],
        "status": row.get("status", "completed"),
        "code": {"text": row["text"]},
        "subject": subject,
        **(span or {"performedDateTime": row.get("date")}),
        "bodySite": [{"text": row["site"]}] if "site" in row else [],
        "outcome": {"text": row["outcome"]} if "outcome" in row else None,
    }


def _imaging(row: Json, subject: Json) -> Iterator[Json]:
    study = {"reference": f"ImagingStudy/{row['id']}"}
    yield {
        "resourceType": "ImagingStudy",
        "id": row["id"],
        "status": "available",
        "modality": [
            {"system": DICOM, "code": code, "display": MODALITIES[code]} for code in row["modality"]
        ],
        "subject": subject,
        "started": row["date"],
        "numberOfSeries": int(row["series"]),
        "numberOfInstances": int(row["images"]),
        "description": row["title"],
    }
    if "text" in row:
        yield {
            **_report({**row, "id": f"{row['id']}-report", "about": "imaging"}, subject),
            "imagingStudy": [study],
        }


def _report_alone(row: Json, subject: Json) -> Iterator[Json]:
    yield _report(row, subject)


def _report(row: Json, subject: Json) -> Json:
    section, code, display = REPORT_TYPES[row["about"]]
    category = {"system": f"{HL7}/v2-0074", "code": section, "display": display}
    return {
        "resourceType": "DiagnosticReport",
        "id": row["id"],
        "status": row.get("status", "final"),
        "category": [{"coding": [category]}],
        "code": _coded(LOINC, code, row["title"]),
        "subject": subject,
        "effectiveDateTime": row["date"],
        "performer": [{"display": row["by"]}] if "by" in row else [],
        "conclusion": row.get("conclusion"),
        "presentedForm": [_attachment(row["text"])],
    }


def _note(row: Json, subject: Json) -> Iterator[Json]:
    code, display = DOCUMENT_TYPES[row["type"]]
    yield {
        "resourceType": "DocumentReference",
        "id": row["id"],
        "status": "current",
        "type": _coded(LOINC, code, row.get("title", display)),
        "subject": subject,
        "date": f"{row['date']}T12:00:00Z" if len(row["date"]) == 10 else row["date"],
        "author": [{"display": row["by"]}],
        "content": [{"attachment": _attachment(row["text"])}],
    }


def _allergy(row: Json, subject: Json) -> Iterator[Json]:
    yield {
        "resourceType": "AllergyIntolerance",
        "id": row["id"],
        "clinicalStatus": _hl7("allergyintolerance-clinical", "active"),
        "verificationStatus": _hl7("allergyintolerance-verification", "confirmed"),
        "code": {"text": row["text"]},
        "patient": subject,
        "recordedDate": row.get("date"),
    }


def _attachment(text: str) -> Json:
    data = base64.b64encode(text.strip().encode()).decode()
    return {"contentType": "text/plain; charset=utf-8", "language": "en", "data": data}


def _coded(system: str, code: str | None, text: str) -> Json:
    return {"coding": [{"system": system, "code": code}], "text": text} if code else {"text": text}


def _hl7(system: str, code: str) -> Json:
    return {"coding": [{"system": f"{HL7}/{system}", "code": code}]}


BUILDERS: Mapping[str, Callable[[Json, Json], Iterator[Json]]] = {
    "conditions": _condition,
    "allergies": _allergy,
    "observations": _observation,
    "variants": _variant,
    "medications": _medication,
    "procedures": _procedure,
    "imaging": _imaging,
    "reports": _report_alone,
    "notes": _note,
}


def main() -> None:
    """Write every bundle."""
    for path in sorted((HERE / "sources").glob("*.yaml")):
        target = HERE / "patients" / f"{path.stem}.json"
        target.write_text(text_of(bundle(read_source(path))), encoding="utf-8")


if __name__ == "__main__":
    main()
