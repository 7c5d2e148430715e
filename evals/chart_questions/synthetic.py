# ruff: noqa: E501 - one entry a line: the lists read as tables
"""Small charts made by a seed, in FHIR R4: CI asks about them without anybody's data."""

import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
PEOPLE = 8
_GIVEN = ("Imke", "Tarquin", "Sunniva", "Bertil", "Odalys", "Casimir", "Yevgenia", "Lorcan")
_FAMILY = ("Vandersloot", "Achterberg", "Quillfeather", "Oyelaran", "Szczepanik", "Marlowe", "Brannigan", "Iwuchukwu")  # fmt: skip
_RESULTS = (
    ("4548-4", "Hemoglobin A1c/Hemoglobin.total in Blood", "%", 5.0, 11.0, "laboratory"),
    ("718-7", "Hemoglobin [Mass/volume] in Blood", "g/dL", 8.0, 16.5, "laboratory"),
    ("777-3", "Platelets [#/volume] in Blood by Automated count", "10*3/uL", 90.0, 420.0, "laboratory"),
    ("2160-0", "Creatinine [Mass/volume] in Serum or Plasma", "mg/dL", 0.5, 3.2, "laboratory"),
    ("2823-3", "Potassium [Moles/volume] in Serum or Plasma", "mmol/L", 3.0, 5.9, "laboratory"),
    ("2951-2", "Sodium [Moles/volume] in Serum or Plasma", "mmol/L", 128.0, 148.0, "laboratory"),
    ("1742-6", "Alanine aminotransferase [Enzymatic activity/volume] in Serum or Plasma", "U/L", 10.0, 140.0, "laboratory"),
    ("18262-6", "Low Density Lipoprotein Cholesterol", "mg/dL", 60.0, 190.0, "laboratory"),
    ("29463-7", "Body weight", "kg", 48.0, 118.0, "vital-signs"),
    ("8867-4", "Heart rate", "/min", 52.0, 118.0, "vital-signs"),
    ("8302-2", "Body height", "cm", 150.0, 196.0, "vital-signs"),
)  # fmt: skip
_PROBLEMS = (
    ("44054006", "Type 2 diabetes mellitus"), ("38341003", "Essential hypertension"),
    ("13645005", "Chronic obstructive lung disease"), ("49436004", "Atrial fibrillation"),
    ("235595009", "Gastroesophageal reflux disease"), ("64859006", "Osteoporosis"),
    ("709044004", "Chronic kidney disease"), ("396275006", "Osteoarthritis"),
    ("444814009", "Viral sinusitis (disorder)"), ("10509002", "Acute bronchitis (disorder)"),
)  # fmt: skip
_DRUGS = (
    ("860975", "Metformin 500 MG Oral Tablet", "500 mg twice daily"),
    ("314076", "Lisinopril 10 MG Oral Tablet", "10 mg once daily"),
    ("1364430", "Apixaban 5 MG Oral Tablet", "5 mg twice daily"),
    ("259255", "Atorvastatin 40 MG Oral Tablet", "40 mg at night"),
    ("310429", "Furosemide 20 MG Oral Tablet", "20 mg in the morning"),
    ("197361", "Amlodipine 5 MG Oral Tablet", "5 mg once daily"),
    ("308136", "Amoxicillin 250 MG Oral Capsule", "250 mg three times daily"),
    ("198440", "Acetaminophen 500 MG Oral Tablet", "500 mg as needed"),
)  # fmt: skip
_ALLERGENS = (
    ("387207008", "Ibuprofen"),
    ("91936005", "Allergy to penicillin"),
    ("300913006", "Shellfish allergy"),
)
_VACCINES = (
    ("140", "Influenza, seasonal, injectable, preservative free"),
    ("113", "Td (adult) preservative free"),
    ("121", "zoster"),
)
_PROCEDURES = (
    ("73761001", "Colonoscopy"),
    ("40701008", "Echocardiography"),
    ("168731009", "Standard chest X-ray"),
)
_FIRST, _DAYS = date(2021, 1, 4), 1_700


def write_charts(folder: Path, *, seed: int, people: int = PEOPLE) -> None:
    """Write `folder/patients/patient_{n}.json`, bundles of one patient each."""
    target = folder / "patients"
    target.mkdir(parents=True, exist_ok=True)
    for number in range(people):
        chosen = random.Random(f"{seed}:{number}")
        bundle = {
            "resourceType": "Bundle",
            "type": "collection",
            "entry": [
                {"fullUrl": f"urn:uuid:{one['resourceType']}-{one['id']}", "resource": one}
                for one in _resources(number, chosen)
            ],
        }
        (target / f"patient_{501 + number}.json").write_text(json.dumps(bundle, indent=1), "utf-8")


def _resources(number: int, chosen: random.Random) -> Iterator[Json]:
    patient = f"patient_{501 + number}"
    yield {
        "resourceType": "Patient",
        "id": patient,
        "identifier": [{"system": "urn:rounds:evals", "value": patient}],
        "name": [{"use": "official", "family": _FAMILY[number % 8], "given": [_GIVEN[number % 8]]}],
        "gender": chosen.choice(("female", "male")),
        "birthDate": str(date(1938, 3, 1) + timedelta(days=chosen.randrange(22_000))),
    }
    for index, made in enumerate(_entries(chosen)):
        subject = (
            "patient"
            if made["resourceType"] in ("Immunization", "AllergyIntolerance")
            else "subject"
        )
        yield {
            **made,
            "id": f"{made['resourceType'].lower()[:6]}-{index}",
            subject: {"reference": f"Patient/{patient}"},
        }


def _entries(chosen: random.Random) -> Iterator[Json]:
    yield from _results(chosen)
    for code, name in chosen.sample(_PROBLEMS, 5):
        over = chosen.random() < 0.4
        yield {
            "resourceType": "Condition",
            "clinicalStatus": _concept("condition-clinical", "resolved" if over else "active"),
            "code": _coded("http://snomed.info/sct", code, name),
            "onsetDateTime": _day(chosen),
            **({"abatementDateTime": str(_FIRST + timedelta(days=_DAYS + 30))} if over else {}),
        }
    for code, name, dose in chosen.sample(_DRUGS, 4):
        yield {
            "resourceType": "MedicationRequest",
            "status": "stopped" if chosen.random() < 0.35 else "active",
            "intent": "order",
            "medicationCodeableConcept": _coded(
                "http://www.nlm.nih.gov/research/umls/rxnorm", code, name
            ),
            "authoredOn": _day(chosen),
            "dosageInstruction": [{"text": dose}],
        }
    for code, name in chosen.sample(_ALLERGENS, chosen.randrange(3)):
        yield {
            "resourceType": "AllergyIntolerance",
            "clinicalStatus": _concept("allergyintolerance-clinical", "active"),
            "code": _coded("http://snomed.info/sct", code, name),
            "recordedDate": _day(chosen),
        }
    yield from _events(chosen)


def _results(chosen: random.Random) -> Iterator[Json]:
    for code, name, unit, low, high, category in chosen.sample(_RESULTS, 7):
        days = sorted(chosen.sample(range(_DAYS), chosen.choice((1, 3, 4, 6))))
        for day in days:
            value = round(chosen.uniform(low, high), 1)
            made = _observation(code, name, str(_FIRST + timedelta(days=day)), category)
            yield {
                **made,
                "valueQuantity": {
                    "value": value,
                    "unit": unit,
                    "system": "http://unitsofmeasure.org",
                    "code": unit,
                },
            }
    for day in sorted(chosen.sample(range(_DAYS), 3)):
        made = _observation(
            "85354-9", "Blood pressure panel", str(_FIRST + timedelta(days=day)), "vital-signs"
        )
        parts = (
            ("8480-6", "Systolic blood pressure", 104, 178),
            ("8462-4", "Diastolic blood pressure", 58, 102),
        )
        yield {
            **made,
            "component": [
                {
                    "code": _coded("http://loinc.org", code, name),
                    "valueQuantity": {
                        "value": chosen.randrange(low, high),
                        "unit": "mmHg",
                        "code": "mm[Hg]",
                    },
                }
                for code, name, low, high in parts
            ],
        }


def _observation(code: str, name: str, when: str, category: str) -> Json:
    return {
        "resourceType": "Observation",
        "status": "final",
        "category": [_concept("observation-category", category)],
        "code": _coded("http://loinc.org", code, name),
        "effectiveDateTime": f"{when}T09:30:00+01:00",
    }


def _events(chosen: random.Random) -> Iterator[Json]:
    for code, name in _VACCINES:
        for _ in range(chosen.randrange(1, 4)):
            yield {
                "resourceType": "Immunization",
                "status": "completed",
                "vaccineCode": _coded("http://hl7.org/fhir/sid/cvx", code, name),
                "occurrenceDateTime": _day(chosen),
            }
    for code, name in chosen.sample(_PROCEDURES, 2):
        yield {
            "resourceType": "Procedure",
            "status": "completed",
            "code": _coded("http://snomed.info/sct", code, name),
            "performedDateTime": _day(chosen),
        }
    for _ in range(chosen.randrange(3, 7)):
        day = _day(chosen)
        yield {
            "resourceType": "Encounter",
            "status": "finished",
            "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"},
            "type": [{"text": "Outpatient visit"}],
            "period": {"start": f"{day}T10:00:00+01:00", "end": f"{day}T10:30:00+01:00"},
        }


def _day(chosen: random.Random) -> str:
    return str(_FIRST + timedelta(days=chosen.randrange(_DAYS)))


def _coded(system: str, code: str, name: str) -> Json:
    return {"coding": [{"system": system, "code": code, "display": name}], "text": name}


def _concept(system: str, code: str) -> Json:
    return {"coding": [{"system": f"http://terminology.hl7.org/CodeSystem/{system}", "code": code}]}
