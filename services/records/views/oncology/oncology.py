"""The oncology views as rows: status, biomarkers, imaging, pathology, and what there is at all."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from data_models.chart_view import ChartView, LeftOut, SaidValue, ViewRow
from services.records.resources.documents import DocumentKind
from services.records.resources.entry import joined
from services.records.resources.facts import Fact, Reading
from services.records.resources.record import PatientRecord
from services.records.rows.medications import drugs_of, row_of_drug
from services.records.rows.rows import row_of
from services.records.views.oncology.biomarkers import BIOMARKER_LIMIT, biomarkers
from services.records.views.oncology.status import current_status
from services.records.views.papers import people_of, row_of_document
from services.records.views.summary import identity_row
from services.records.views.view import newest_first, quoted, view_of

TEXT_SHOWN_CHARS = 1_500
MISSING = "not in the record"


def status_view(record: PatientRecord, *, today: date) -> ChartView:
    """Return diagnosis, staging, ECOG, biomarkers and treatments; what is missing is a row, too."""
    status = current_status(record, today=today)
    markers = status.biomarkers
    treated = list(_treatments(record, today))
    rows = [
        *(_row_of_fact(fact) for fact in (*status.facts, *markers[:BIOMARKER_LIMIT])),
        *treated,
        *_absent("biomarkers", bool(markers)),
        *_absent("treatment history", bool(treated)),
    ]
    return view_of(
        record, "current_status", "Current status", rows, kind="facts",
        left_out=[_further(markers, "the tool biomarkers")],
    )  # fmt: skip


def biomarkers_view(record: PatientRecord) -> ChartView:
    """Return one row for each tumour marker or genetic finding, with its earlier values."""
    found = biomarkers(record)
    return view_of(
        record, "biomarkers", "Biomarkers",
        [_row_of_fact(fact, kind="biomarker") for fact in found[:BIOMARKER_LIMIT]],
        kind="facts",
        left_out=[_further(found, "results with names")],
        nothing="No tumour marker or genetic finding is recorded.",
    )  # fmt: skip


def _further(markers: Sequence[Fact], argument: str) -> LeftOut:
    return LeftOut(count=len(markers) - BIOMARKER_LIMIT, what="biomarkers", argument=argument)


def imaging_view(record: PatientRecord) -> ChartView:
    """Return imaging reports with their text, and studies, the newest first."""
    studies = newest_first(row_of(record, entry) for entry in record.entries_of("ImagingStudy"))
    reports = newest_first(_reports(record, "imaging report"))
    view = view_of(
        record, "imaging_reports", "Imaging", [*reports, *studies],
        nothing="No imaging report or study is recorded.",
    )  # fmt: skip
    return quoted(view)


def pathology_view(record: PatientRecord) -> ChartView:
    """Return pathology and genetic reports with their text, the newest first."""
    view = view_of(
        record, "pathology_reports", "Pathology",
        newest_first(_reports(record, "pathology report")),
        nothing="No pathology report is recorded.",
    )  # fmt: skip
    return quoted(view)


def overview(record: PatientRecord, *, today: date) -> ChartView:
    """Return who the patient is and which documents there are."""
    papers = newest_first(row_of_document(record, each) for each in record.documents)
    return view_of(
        record, "load_patient_data", "Patient and documents",
        [identity_row(record, today), *papers],
    )  # fmt: skip


def treatments_view(record: PatientRecord, *, today: date) -> ChartView:
    """Return drugs that are taken now, then other drugs and procedures, the newest first."""
    return view_of(
        record, "treatments", "Treatment history", list(_treatments(record, today)),
        nothing="No treatment is recorded.",
    )  # fmt: skip


def _treatments(record: PatientRecord, today: date) -> Iterator[ViewRow]:
    drugs = [row_of_drug(record, drug, today) for drug in drugs_of(record)]
    yield from (row for row in drugs if row.status == "active")
    done = [row_of(record, entry) for entry in record.entries_of("Procedure")]
    yield from newest_first([*(row for row in drugs if row.status != "active"), *done])


def _absent(name: str, is_there: bool) -> list[ViewRow]:
    return [] if is_there else [ViewRow(kind="fact", name=name, status=MISSING)]


def _row_of_fact(fact: Fact, *, kind: str = "fact") -> ViewRow:
    sides = " versus ".join(_said(reading) for reading in fact.disagreement)
    earlier = ", ".join(_said(reading) for reading in fact.earlier)
    left_out = f"and {fact.left_out} more" if fact.left_out else ""
    return ViewRow(
        kind=kind,
        name=fact.name,
        value=fact.value or "",
        status="" if fact.state == "recorded" else fact.state,
        date=(fact.sources[0].date or "") if fact.sources else "",
        detail=joined(
            sides, f"earlier: {' '.join(filter(None, [earlier, left_out]))}" if earlier else ""
        ),
        earlier=() if fact.left_out else tuple(_before(fact)),
        sources=tuple(dict.fromkeys(_refs(fact))),
    )


def _before(fact: Fact) -> Iterator[SaidValue]:
    """Yield each value of each day but the newest, the oldest first."""
    now = Reading(value=fact.value or "", sources=fact.sources)
    said: dict[tuple[str, str], dict[str, None]] = {}
    for reading in (now, *fact.disagreement, *fact.earlier):
        for source in reading.sources:
            said.setdefault((source.date or "", reading.value), {})[source.ref] = None
    for (day, value), refs in sorted(said.items()):
        if (day, value) != (now.date, now.value):
            yield SaidValue(value=value, date=day, sources=tuple(refs))


def _refs(fact: Fact) -> Iterator[str]:
    yield from (source.ref for source in fact.sources)
    for reading in (*fact.disagreement, *fact.earlier):
        yield from (source.ref for source in reading.sources)


def _said(reading: Reading) -> str:
    refs = " ".join(f"[{source.ref}]" for source in reading.sources)
    return f"{reading.value} ({reading.date or 'undated'}) {refs}".strip()


def _reports(record: PatientRecord, kind: DocumentKind) -> Iterable[ViewRow]:
    for document in record.documents:
        if document.kind == kind:
            row = row_of_document(record, document)
            text = document.text or ""
            shown = text[:TEXT_SHOWN_CHARS]
            more = f"… (whole text: read_document {document.ref})" if len(text) > len(shown) else ""
            said = "" if document.summary in (None, text) else f"{document.summary}"
            problem = f"no text: {document.problem}" if document.problem else ""
            detail = joined(people_of(record, document), said, f"{shown} {more}".strip(), problem)
            yield row.model_copy(update={"detail": detail})
