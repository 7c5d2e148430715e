"""Short questions of a clinician over one chart: each with those before it, and what is told."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.choosing.said_words import has_words
from services.records.answers.direct import answered
from services.records.concepts.table import names_of_procedure
from services.records.rows.finding import means
from tests.tables import with_cases

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def visit(day: str, why: str, name: str = "Office visit", value: str = "ambulatory") -> ViewRow:
    reason = f"for {why}; " if why else ""
    return ViewRow(kind="encounter", name=name, value=value, date=day,
                   detail=f"{reason}at Quay Clinic", sources=(f"Encounter/{day}",))  # fmt: skip


def coming(name: str, day: str, status: str) -> ViewRow:
    return ViewRow(kind="appointment", name=name, status=status, date=day,
                   sources=(f"Appointment/{day}",))  # fmt: skip


def drug(name: str, day: str, detail: str = "prescribed", status: str = "active") -> ViewRow:
    return ViewRow(kind="medication", name=name, value="one tablet a day", status=status, date=day,
                   detail=detail, sources=(f"MedicationRequest/{name[:4]}",))  # fmt: skip


def measured(name: str, day: str, number: float, unit: str) -> ViewRow:
    return ViewRow(kind="laboratory", name=name, value=f"{number}", number=number, unit=unit,
                   date=day, sources=(f"Observation/{name[:2]}-{day}",))  # fmt: skip


def pressure(day: str, value: str) -> ViewRow:
    return measured("Blood pressure", day, 0, "mm[Hg]").model_copy(
        update={"value": value, "number": None}
    )


def ill(name: str, day: str) -> ViewRow:
    return ViewRow(kind="problem", name=name, status="resolved", date=day, end=day,
                   sources=(f"Condition/{day}",))  # fmt: skip


def done(name: str, day: str, value: str = "") -> ViewRow:
    return ViewRow(kind="procedure", name=name, value=value, date=day, status="completed",
                   sources=(f"Procedure/{day}",))  # fmt: skip


ROWS: Mapping[str, tuple[ViewRow, ...]] = {
    "encounters": (
        visit("2026-10-01", "Swollen toe"),
        visit("2025-05-02", "Cough"),
        visit("2024-03-04", "Pneumonia", "Hospital stay", "inpatient"),
        visit("2023-03-03", "Breathlessness", "Hospital stay", "inpatient").model_copy(
            update={"end": "2023-03-08"}
        ),
        visit("2022-06-01", "Chest pain", "Hospital stay", "inpatient").model_copy(
            update={"end": "2022-06-02"}
        ),
        coming("Lung function", "2026-12-08", "booked"),
        coming("Dietitian", "2026-08-20", "noshow"),
        coming("Podiatry", "2026-07-02", "cancelled"),
    ),
    "results": (
        measured("Potassium", "2026-10-01", 4.9, "mmol/L"),
        measured("Potassium", "2026-05-02", 5.2, "mmol/L"),
        measured("Potassium", "2025-05-02", 4.6, "mmol/L"),
        measured("Potassium", "2024-03-04", 4.1, "mmol/L"),
        measured("FEV1", "2025-05-14", 1.4, "L"),
        measured("Lactate", "2026-10-01", 2.1, "mmol/L"),
        measured("Lactate", "2026-10-01", 2.4, "mmol/L"),
        measured("Lactate", "2026-05-02", 1.1, "mmol/L"),
        pressure("2024-03-01", "160/90"),
        pressure("2025-05-02", "130/80"),
    ),
    "problems": (
        ill("Fracture of left clavicle", "2019-07-21"),
        ill("Sprain of ankle", "2021-02-01"),
        ill("Pulmonary embolism", "2023-03-03"),
        ill("Chronic gout", "2010-01-01").model_copy(update={"status": "active", "end": ""}),
        ill("Acute gout", "2025-03-01"),
        ill("Adenocarcinoma of the left upper lobe of lung", "2022-01-05"),
    ),
    "medications": (
        drug("Empagliflozin", "2025-05-02"),
        drug("Apixaban", "2024-03-04", "prescribed; for Atrial fibrillation"),
        drug("Ramipril", "2024-03-04", "prescribed; for Hypertension"),
        drug("Spironolactone", "2024-03-04", status="on-hold"),
        drug("Metoprolol", "2024-03-04", "prescribed; Paused on admission.", status="on-hold"),
        drug("Torasemide 5 mg", "2022-03-04", "prescribed; ended because of Swelling; by Dr. Moss",
             status="stopped").model_copy(update={"end": "2024-03-04"}),
        drug("Torasemide 10 mg", "2024-03-04"),
        drug("Osimertinib", "2022-03-20", "prescribed; for Adenocarcinoma of lung"),
        drug("Oxycodone", "2026-10-01", "prescribed; as needed"),
    ),
    "biomarkers": (
        ViewRow(kind="biomarker", name="HER2", value="Negative", date="2023-02-16",
                sources=("Observation/h",)),
        ViewRow(kind="biomarker", name="Estrogen receptor", value="Positive", date="2023-02-16",
                sources=("Observation/e",)),
        ViewRow(kind="biomarker", name="Progesterone receptor", value="Positive",
                date="2023-02-16", sources=("Observation/p",)),
    ),
    "care": (
        ViewRow(kind="device", name="Cardioverter defibrillator", status="active",
                detail="model Cobalt; serial RN-9", sources=("Device/d",)),
        ViewRow(kind="coverage", name="Private insurance", status="active", date="2020-01-01",
                end="2026-12-31", detail="Bupa", sources=("Coverage/c",)),
        ViewRow(kind="goal", name="Potassium below 5", status="active", sources=("Goal/g",)),
        ViewRow(kind="order", name="Repeat TSH", status="active", date="2025-09-01",
                sources=("ServiceRequest/t",)),
        ViewRow(kind="order", name="Mammography", status="active", date="2027-02-15",
                sources=("ServiceRequest/m",)),
    ),
    "chart_summary": (
        ViewRow(kind="patient", name="Ada Example", date="1950-01-01", sources=("Patient/p",)),
        ViewRow(kind="personal", name="phone", value="111", sources=("Patient/p",)),
        ViewRow(kind="personal", name="contact person", value="Ife; Daughter; 222",
                sources=("Patient/p",)),
    ),
    "procedures": (
        done("Colonoscopy", "2025-06-07", "Two polyps removed"),
        done("Transthoracic echocardiography", "2024-03-04"),
        done("Bronchoscopy", "2023-03-04"),
    ),
    "current_status": (
        ViewRow(kind="fact", name="stage", value="IIIA", sources=("Observation/s",)),
        ViewRow(kind="fact", name="histology", status="not in the record"),
    ),
    "documents": (
        ViewRow(kind="cardiology", name="Echocardiogram", date="2024-03-04", detail="LVEF 41 %",
                sources=("DiagnosticReport/e",)),
        ViewRow(kind="note", name="Ward note", date="2023-03-04", detail="by Dr. Stott",
                sources=("DocumentReference/n",)),
    ),
    "immunizations": (
        ViewRow(kind="immunization", name="RSV vaccine", status="not done", date="2025-10-03",
                detail="because of Patient objection", sources=("Immunization/r",)),
        ViewRow(kind="immunization", name="Influenza vaccine", date="2025-10-09",
                sources=("Immunization/f",)),
        ViewRow(kind="immunization", name="Influenza vaccine", date="2024-10-03",
                detail="lot FL-7", sources=("Immunization/g",)),
    ),
    "imaging_reports": (
        ViewRow(kind="imaging", name="Ultrasound of the kidneys", date="2025-05-20",
                detail="right 8.6 cm, left 8.9 cm", sources=("DiagnosticReport/u",)),
    ),
    "search_record": (
        ViewRow(kind="note", name="Consult note", date="2026-05-06",
                detail="Euvolemic. Spironolactone held because potassium 5.2.",
                sources=("DocumentReference/c",)),
        ViewRow(kind="note", name="Operation note", date="2023-09-28",
                detail="No complications. Blood loss 40 ml.", sources=("DocumentReference/o",)),
        done("Implantation of cardioverter defibrillator", "2026-01-19"),
    ),
}  # fmt: skip


def _is_called(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether the tool gives the row to who names something."""
    named = [str(question.arguments.get("name") or ""), *question.arguments.get("names", ())]
    names = [name for one in named if one for name in names_of_procedure(one)]
    is_value = row.number is not None
    return not names or any(
        has_words(row, name) or (is_value and means("result", name, label=row.name, codes=()))
        for name in names
    )


def told(*said: str) -> str:
    """Answer the last of `said` with what all before it asked."""
    *before, text = said
    utterance = read(text, Situation(now=NOW, asked_before=tuple(before)))
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(6):
        found = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(found, str):
            return found
        rows = tuple(row for row in ROWS.get(found.tool, ()) if _is_called(row, found))
        given.append((found, ChartView(tool=found.tool, kind="table", title="", rows=rows)))
    raise AssertionError(given)


@pytest.mark.slow
@with_cases("said", "has", "has_not")
def test_it_is_told_so(said: list[str], has: list[str], has_not: list[str]) -> None:
    answer = told(*said)
    assert [one for one in has if one not in answer] == [], answer
    assert [one for one in has_not if one in answer] == [], answer
