"""Sample data in which every back end holds something of patient_7 that nobody else may see."""

import base64
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from tests.tables import tables_beside

FAMILY = "Quillfeather"
NAMED = (FAMILY, "1931-07-17", "patient-7")
"""Who patient_7 is, as the records and the clinic know them."""
PERSON = {"name": [{"family": FAMILY, "given": ["Marigold"]}], "birthDate": "1931-07-17"}
HELD: dict[str, str] = tables_beside(Path(__file__))["held"]
"""What each back end holds of patient_7."""


def write_samples(folder: Path) -> Path:
    """Copy the samples to `folder` and put the canaries in."""
    shutil.copytree("samples", folder)
    _edit(folder / "patients" / "patient_7.json", _chart)
    _edit(folder / "scheduling" / "coverage.json", _coverage)
    (folder / "scheduling" / "seventh.json").write_bytes(orjson.dumps(_known_to_the_clinic()))
    _write_office(folder / "assistant")
    return folder


def _edit(path: Path, change: Any) -> None:
    bundle = orjson.loads(path.read_bytes())
    rows = {entry["resource"]["id"]: entry["resource"] for entry in bundle["entry"]}
    change(rows)
    path.write_bytes(orjson.dumps(bundle))


def _chart(rows: dict[str, Any]) -> None:
    rows["patient-7"] |= PERSON
    rows["colon-cancer"]["code"]["text"] = HELD["condition"]
    rows["msi-1"]["valueCodeableConcept"]["text"] = HELD["biomarker"]
    rows["ct-2023-05-report"]["conclusion"] = HELD["imaging"]
    rows["path-2023-05"]["conclusion"] = HELD["pathology"]
    note = f"The daughter says: {HELD['note']}."
    attachment = rows["note-1"]["content"][0]["attachment"]
    attachment["data"] = base64.b64encode(note.encode()).decode()


def _coverage(rows: dict[str, Any]) -> None:
    template = next(iter(rows.values()))
    for row in rows.values():
        if row["beneficiary"]["reference"] == "Patient/patient-7":
            row["payor"] = [{"display": HELD["coverage"]}]
            return
    raise AssertionError(f"patient_7 has no coverage like {template['id']}")


def _known_to_the_clinic() -> dict[str, Any]:
    start = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=2)
    people = ("Patient/patient-7", "Practitioner/dr-smith")
    row = {
        "resourceType": "Appointment",
        "id": "booked-of-seven",
        "status": "booked",
        "start": start.isoformat(),
        "end": (start + timedelta(minutes=30)).isoformat(),
        "reasonCode": [{"text": HELD["appointment"]}],
        "participant": [{"actor": {"reference": each}, "status": "accepted"} for each in people],
    }
    known = {"resourceType": "Patient", "id": "patient-7", **PERSON}
    entries = [{"resource": each} for each in (row, known)]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}


def _write_office(folder: Path) -> None:
    """Fill one clinician's own office with nothing but what names patient_7."""
    name = f"Marigold {FAMILY}"
    event = ["UID:visit", "DTSTAMP:20250101T000000Z", "SUMMARY:Visit"]
    event += [f"LOCATION:{name} {HELD['event']}", "DTSTART:20250106T150000Z"]
    event += ["DTEND:20250106T160000Z", "RRULE:FREQ=DAILY"]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Rounds//Test//EN", "BEGIN:VEVENT"]
    (folder / "calendar.ics").write_text(
        "\r\n".join([*lines, *event, "END:VEVENT", "END:VCALENDAR", ""]), encoding="utf-8"
    )
    rows: Iterator[tuple[str, dict[str, str]]] = iter(
        (
            ("contacts", {"name": f"Daughter of {name}", "phone": HELD["contact"]}),
            ("tasks", {"title": "Call back", "notes": f"{name}: {HELD['task']}"}),
            (
                "mail",
                {
                    "subject": "Slides",
                    "sender": "Anna <anna@hospital.example>",
                    "received": "{today-1}T08:12:00Z",
                    "text": f"About Mrs {FAMILY}: {HELD['mail']}",
                },
            ),
        )
    )
    for kind, row in rows:
        held = {"version": 1, "rows": [{"id": f"{kind}-1", **row}]}
        (folder / f"{kind}.json").write_bytes(orjson.dumps(held))
    for path in (folder / "documents").iterdir():
        path.unlink()
    (folder / "documents" / "Guide.txt").write_text(f"{name}: {HELD['document']}", encoding="utf-8")
