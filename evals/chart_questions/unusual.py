"""Charts with codings that are allowed and seldom: local codes, text only, panels, plans.

Made by hand, small, the same each time; what is right about them is written in
`evals/suites/unusual/*.yaml`.
"""

import json
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
_LOCAL = "http://lab.example.org/codes"
_LOINC = "http://loinc.org"


def write_unusual(folder: Path) -> None:
    """Write the charts below `folder`/patients."""
    patients = folder / "patients"
    patients.mkdir(parents=True)
    for person, rows in ((_ADA, _ada()), (_BEN, _ben())):
        entries = [{"resource": one} for one in (person, *(_of(person, row) for row in rows))]
        bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
        (patients / f"{person['id']}.json").write_text(json.dumps(bundle, indent=1), "utf-8")


def _of(person: Json, row: Json) -> Json:
    whose = (
        "patient" if row["resourceType"] in ("AllergyIntolerance", "Immunization") else "subject"
    )
    return {**row, whose: {"reference": f"Patient/{person['id']}"}}


_ADA = {
    "resourceType": "Patient", "id": "unusual-ada", "gender": "female", "birthDate": "1951-03",
    "identifier": [
        {"system": "urn:example:old", "value": "A-1", "use": "old"},
        {"system": "urn:example:mrn", "value": "patient_501"},
    ],
    "name": [{"text": "Ada Vasquez-Lindqvist"}],
}  # fmt: skip
_BEN = {
    "resourceType": "Patient", "id": "unusual-ben", "gender": "male", "birthDate": "1978-11-30",
    "identifier": [{"system": "urn:example:mrn", "value": "patient_502"}],
    "name": [{"given": ["Ben"], "family": "Oyelaran", "use": "official"}],
}  # fmt: skip


def _ada() -> list[Json]:
    return [
        _lab("k1", "Kalium i.S.", "3.4", "2024-03", code="LAB-K"),
        _lab("k2", "Kalium i.S.", "5.9", "2025-01-09", code="LAB-K"),
        _lab("trop", "Troponin T hs", "14", "2025-01-09", unit="ng/L", code="TNT", comparator="<"),
        _lab("crea", "Creatinine", "88", "2025-01-09", unit="umol/L", loinc="14682-9"),
        {**_lab("crp", "CRP", "", "2025-01-10", loinc="1988-5"),
         "dataAbsentReason": {"text": "specimen haemolysed"}},
        _panel("bp1", "2024-06-02", 152, 91),
        _panel("bp2", "2025-01-09", 118, 64),
        {**_text("Observation", "covid", "SARS-CoV-2 PCR"), "status": "final",
         "effectivePeriod": {"start": "2025-01-08", "end": "2025-01-09"},
         "valueCodeableConcept": {"text": "Not detected"}},
        {**_text("Observation", "gad", "GAD-7 total score"), "status": "final",
         "effectiveDateTime": "2024-11-05", "valueInteger": 11,
         "category": [{"coding": [{"code": "survey"}]}]},
        {"resourceType": "DiagnosticReport", "id": "iron", "status": "final",
         "code": {"text": "Iron studies"}, "effectiveDateTime": "2024-09-01",
         "result": [{"reference": "Observation/fer"}]},
        {**_lab("fer", "Ferritin", "9", "2024-09-01", unit="ug/L", loinc="2276-4"),
         "category": []},
        _drug("apix", "Apixaban 5 mg tablet", "active", "2023-05-04", timing=2),
        _drug("meto", "metoprolol (pt own supply)", "on-hold", "2022-02-02",
              because="Bradycardia"),
        _drug("dig", "Digoxin 0.125 mg", "stopped", "2019-01-10", because="Toxicity"),
        _drug("sema", "Semaglutide 0.25 mg weekly", "active", "2025-01-09", intent="plan"),
        {**_text("MedicationStatement", "vitd", "Vitamin D3 1000 IU"), "status": "unknown",
         "medicationCodeableConcept": {"text": "Vitamin D3 1000 IU"},
         "effectivePeriod": {"start": "2021"}},
        _problem("af", "Vorhofflimmern, paroxysmal", "recurrence", "2018-04"),
        _problem("pe", "Pulmonary embolism", "active", "2020-02-02", certainty="refuted"),
        _problem("gout", "Gout", "remission", "2016"),
        {**_text("AllergyIntolerance", "pen", "Penicillin"), "criticality": "high",
         "clinicalStatus": _status("active"), "recordedDate": "2001",
         "reaction": [{"manifestation": [{"text": "Anaphylaxis"}]}]},
        {**_text("AllergyIntolerance", "nickel", "Nickel"), "clinicalStatus": _status("active"),
         "verificationStatus": _status("entered-in-error")},
    ]  # fmt: skip


def _ben() -> list[Json]:
    return [
        {**_text("AllergyIntolerance", "nka", "No known allergy"),
         "code": {"coding": [{"system": "http://snomed.info/sct", "code": "716186003",
                              "display": "No known allergy"}]},
         "clinicalStatus": _status("active"), "recordedDate": "2024-02-02"},
        _lab("a1c1", "HbA1c (IFCC)", "61", "2023-02-01", unit="mmol/mol", loinc="59261-8"),
        _lab("a1c2", "HbA1c (IFCC)", "48", "2024-02-02", unit="mmol/mol", loinc="59261-8"),
        _lab("w1", "Body weight", "92.4", "2022-01-01", unit="kg", loinc="29463-7"),
        _lab("w2", "Body weight", "81", "2024-02-02", unit="kg", loinc="29463-7"),
        {**_lab("w3", "Body weight", "810", "2024-03-03", unit="kg", loinc="29463-7"),
         "status": "entered-in-error"},
        _drug("met", "Metformin 1000 mg", "active", "2020-10-10", timing=2, why="Type 2 diabetes"),
        _drug("ins", "Insulin glargine", "cancelled", "2022-12-01"),
        _problem("t2d", "Type 2 diabetes mellitus", "active", "2020-10"),
        {**_text("Procedure", "chole", "Laparoscopic cholecystectomy"), "status": "completed",
         "performedString": "when he was about 30"},
        {**_text("Procedure", "hip", "Total hip replacement"), "status": "not-done",
         "performedDateTime": "2023-08-08", "statusReason": {"text": "Patient declined"}},
        {"resourceType": "Immunization", "id": "flu", "status": "not-done",
         "vaccineCode": {"text": "Influenza vaccine"}, "occurrenceDateTime": "2023-10-01",
         "statusReason": {"text": "Refused"}},
        {"resourceType": "Encounter", "id": "er", "status": "finished",
         "class": {"code": "EMER"}, "type": [{"text": "Emergency visit"}],
         "reasonCode": [{"text": "Chest pain"}],
         "period": {"start": "2024-02-02T22:10:00-05:00", "end": "2024-02-03T03:00:00-05:00"},
         "participant": [{"individual": {"display": "Dr. Ruth Amsel"}}]},
        {"resourceType": "FamilyMemberHistory", "id": "fam", "status": "completed",
         "relationship": {"text": "Mother"}, "condition": [{"code": {"text": "Breast cancer"}}],
         "patient": {"reference": "Patient/unusual-ben"}},
        {"resourceType": "Coverage", "id": "cov", "status": "active",
         "beneficiary": {"reference": "Patient/unusual-ben"},
         "payor": [{"display": "Northwind Mutual"}]},
    ]  # fmt: skip


def _lab(
    key: str, name: str, value: str, when: str, *, unit: str = "mmol/L", code: str = "",
    loinc: str = "", comparator: str = "",
) -> Json:  # fmt: skip
    coding = [{"system": _LOCAL, "code": code}] if code else []
    coding += [{"system": _LOINC, "code": loinc}] if loinc else []
    made: Json = {
        "resourceType": "Observation", "id": key, "status": "final", "effectiveDateTime": when,
        "category": [{"coding": [{"code": "laboratory"}]}],
        "code": {"coding": coding, "text": name},
    }  # fmt: skip
    if value:
        made["valueQuantity"] = {
            "value": float(value) if "." in value else int(value),
            "unit": unit,
        }
        made["valueQuantity"] |= {"comparator": comparator} if comparator else {}
    return made


def _panel(key: str, when: str, top: int, bottom: int) -> Json:
    parts = (("8480-6", "Systolic", top), ("8462-4", "Diastolic", bottom))
    return {
        "resourceType": "Observation", "id": key, "status": "amended", "effectiveDateTime": when,
        "code": {"coding": [{"system": _LOINC, "code": "85354-9"}]},
        "component": [
            {"code": {"coding": [{"system": _LOINC, "code": code}], "text": name},
             "valueQuantity": {"value": value, "unit": "mm[Hg]"}}
            for code, name, value in parts
        ],
    }  # fmt: skip


def _drug(
    key: str, name: str, status: str, when: str, *, intent: str = "order", timing: int = 0,
    because: str = "", why: str = "",
) -> Json:  # fmt: skip
    made: Json = {
        "resourceType": "MedicationRequest", "id": key, "status": status, "intent": intent,
        "authoredOn": when, "medicationCodeableConcept": {"text": name},
    }  # fmt: skip
    if timing:
        repeat = {"frequency": timing, "period": 1, "periodUnit": "d"}
        made["dosageInstruction"] = [{"timing": {"repeat": repeat}}]
    made |= {"statusReason": {"text": because}} if because else {}
    return made | ({"reasonCode": [{"text": why}]} if why else {})


def _problem(key: str, name: str, status: str, onset: str, certainty: str = "confirmed") -> Json:
    return {
        **_text("Condition", key, name), "clinicalStatus": _status(status),
        "verificationStatus": _status(certainty), "onsetDateTime": onset,
    }  # fmt: skip


def _text(kind: str, key: str, name: str) -> Json:
    return {"resourceType": kind, "id": key, "code": {"text": name}}


def _status(code: str) -> Json:
    return {"coding": [{"code": code}]}
