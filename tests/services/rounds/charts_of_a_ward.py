"""Generated charts of a ward: each patient with values that no other chart holds."""

from pathlib import Path
from typing import Any

import orjson

PATIENTS = 20
DAY = "2026-11-23"


def patient_id(number: int) -> str:
    return f"patient_{number}"


def canary(number: int) -> str:
    """A word of one chart alone."""
    return f"Canary{number:03d}x"


def family(number: int) -> str:
    """The family name of one patient alone, without digits."""
    return f"Fam{chr(97 + number // 20)}{chr(97 + number % 20)}son"


def given(number: int) -> str:
    """The given name of one patient alone."""
    return f"Giv{chr(97 + number // 20)}{chr(97 + number % 20)}lin"


def chart(number: int) -> dict[str, Any]:
    """Return the Bundle of one patient, with a visit on `DAY` and an order that waits."""
    word, subject = canary(number), {"reference": f"Patient/p{number}"}
    own: list[dict[str, Any]] = [
        {
            "resourceType": "Patient", "id": f"p{number}",
            "identifier": [{"system": "urn:ids", "value": patient_id(number)}],
            "name": [{"family": family(number), "given": [given(number)]}],
            "birthDate": f"19{40 + number}-02-03", "gender": "female",
        },
        {
            "resourceType": "Encounter", "id": f"visit{number}", "status": "in-progress",
            "class": {"code": "IMP"}, "subject": subject, "period": {"start": DAY},
            "reasonCode": [{"text": f"Admitted for {word}"}],
        },
        {
            "resourceType": "Condition", "id": f"problem{number}", "subject": subject,
            "code": {"text": f"Problem {word}"}, "recordedDate": "2026-01-02",
            "clinicalStatus": {"coding": [{"code": "active"}]},
        },
        {
            "resourceType": "Observation", "id": f"lab{number}", "status": "final",
            "subject": subject, "code": {"text": f"Test {word}"},
            "effectiveDateTime": DAY, "valueQuantity": {"value": 900 + number, "unit": "U/L"},
            "interpretation": [{"coding": [{"code": "H"}]}],
        },
        {
            "resourceType": "ServiceRequest", "id": f"order{number}", "status": "active",
            "intent": "order", "subject": subject, "code": {"text": f"Scan {word}"},
            "authoredOn": DAY,
        },
        {
            "resourceType": "MedicationRequest", "id": f"drug{number}", "status": "active",
            "intent": "order", "subject": subject, "authoredOn": "2026-10-01",
            "medicationCodeableConcept": {"text": f"Drug{word}"},
        },
    ]  # fmt: skip
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": one} for one in own],
    }


def write_ward(folder: Path, count: int = PATIENTS) -> list[str]:
    """Write the charts into a folder; return the ids."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        (folder / f"{patient_id(number)}.json").write_bytes(orjson.dumps(chart(number)))
    return [patient_id(number) for number in range(1, count + 1)]


def strangers_in(text: str, number: int, count: int = PATIENTS) -> list[str]:
    """Return the words of other patients that a text holds."""
    others = (each for each in range(1, count + 1) if each != number)
    return [
        word
        for each in others
        for word in (canary(each), family(each), given(each))
        if word in text
    ]
