"""`chart_summary`: one screen of the whole chart."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.records.resources.entry import instant
from services.records.resources.record import PatientRecord
from services.records.resources.values import with_unit
from services.records.rows.measurements import Series, row_of_part, series_of
from services.records.views.demographics import demographics, patient_source
from services.records.views.lists import allergies, encounters, problems
from services.records.views.medications import medications
from services.records.views.papers import documents
from services.records.views.person import personal_rows
from services.records.views.view import not_shown, view_of

_KEY = [
    "ECOG", "Blood pressure", "Heart rate", "Body weight", "BMI", "Oxygen saturation",
    "Hemoglobin", "Leukocytes", "Neutrophils", "Platelets", "Creatinine", "eGFR", "Potassium",
    "Sodium", "ALT", "Total bilirubin", "Hemoglobin A1c", "Glucose", "INR", "CRP",
    "LDL cholesterol", "TSH", "Left ventricular ejection fraction", "PSA", "CEA", "NT-proBNP",
    "Tobacco smoking status",
]  # fmt: skip
KEY_RESULTS = 16


def chart_summary(record: PatientRecord, *, today: date, now: str) -> ChartView:
    """Return identity, facts of the person, allergies, problems, drugs, results and visits."""
    had_allergies, has = allergies(record), problems(record)
    takes = medications(record, today=today)
    visits = encounters(record, now=now, last=1)
    papers = documents(record)
    known = {one.concept.name: one for one in reversed(series_of(record)) if one.concept}
    chosen = [known[name] for name in _KEY if name in known][:KEY_RESULTS]
    rows = [
        identity_row(record, today),
        *had_allergies.rows,
        *has.rows,
        *takes.rows,
        *[_with_trend(record, series) for series in chosen],
        *visits.rows,
        *personal_rows(record),
    ]
    return view_of(
        record,
        "chart_summary",
        f"Chart of {record.patient_id}",
        rows,
        kind="facts",
        left_out=[
            *_of_tool("problems", has.left_out),
            *_of_tool("medications", takes.left_out),
            not_shown(
                sum(row.count for row in visits.left_out), "earlier encounters", "encounters"
            ),
            not_shown(
                sum(len(one.parts) for one in series_of(record)), "results in all", "results"
            ),
        ],
        notes=_notes(record, papers, (had_allergies, has, takes, visits, papers)),
    )


def _notes(record: PatientRecord, papers: ChartView, views: tuple[ChartView, ...]) -> list[str]:
    """Say which documents there are, what is not recorded and what was not read."""
    kinds = Counter(row.kind for row in papers.rows)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    unknown = ", ".join(f"{count} {kind}" for kind, count in record.left_out.unknown.items())
    withdrawn = record.left_out.withdrawn
    said = [
        f"documents: {counts}" if counts else "",
        *(view.nothing for view in views if not view.rows),
        f"marked as entered in error, refuted or cancelled, so not shown: {withdrawn}"
        if withdrawn
        else "",
        f"not read, of other types: {unknown}" if unknown else "",
    ]
    return [note for note in said if note]


def _with_trend(record: PatientRecord, series: Series) -> ViewRow:
    row = row_of_part(record, series.parts[-1])
    before = next(_earlier(record, series, row), None)
    if before is None or row.number is None or before.number is None:
        return row
    arrow = "↑" if row.number > before.number else "↓" if row.number < before.number else "→"
    said = f"{arrow} from {with_unit(before.value, before.unit)} ({before.date[:10]})"
    sources = (*row.sources, *before.sources)
    return row.model_copy(update={"detail": said, "sources": tuple(dict.fromkeys(sources))})


def _earlier(record: PatientRecord, series: Series, row: ViewRow) -> Iterator[ViewRow]:
    for part in reversed(series.parts[:-1]):
        before = row_of_part(record, part)
        if before.unit == row.unit and instant(before.date) < instant(row.date):
            yield before


def identity_row(record: PatientRecord, today: date) -> ViewRow:
    """Return who the patient is."""
    who = demographics(record, today=today)
    age = f"{who.age} years" if who.age else ""
    numbers = ", ".join(who.numbers)
    born = f"born {who.birth_date}" if who.birth_date else "birth date not in the record"
    return ViewRow(
        kind="patient",
        name=who.name or "name not in the record",
        value=", ".join(filter(None, [who.sex or "sex not in the record", age])),
        status=who.deceased,
        date=who.birth_date,
        detail="; ".join(filter(None, [born, f"record numbers {numbers}" if numbers else ""])),
        sources=(patient_source(record).ref,),
    )


def _of_tool(tool: str, left_out: tuple[LeftOut, ...]) -> list[LeftOut]:
    return [row.model_copy(update={"argument": f"{tool} with {row.argument}"}) for row in left_out]
