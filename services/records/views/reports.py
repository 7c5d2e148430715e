"""Imaging and pathology reports, imaging studies, and single documents."""

from typing import Literal

from services.records.dates import day_text
from services.records.documents import ClinicalDocument, DocumentKind
from services.records.facts import Bounded, Source, View, bounded
from services.records.fhir_resources import DiagnosticReport, ImagingStudy
from services.records.record import PatientRecord

REPORT_LIMIT = 12
STUDY_LIMIT = 50
REPORT_LIMIT_CHARS = 4_000
NOTE_LIMIT_CHARS = 20_000


class DocumentText(View):
    """A note or report.

    Attributes:
        text: Its first characters; None when there is no readable text.
        problem: Why there is no text.
        conclusion: The report's structured conclusion, when it has one beside its text.
        left_out_chars: How many code points of the text were over the limit.
    """

    source: Source
    kind: DocumentKind
    author: str | None
    text: str | None
    problem: str | None
    conclusion: str | None
    left_out_chars: int


class Study(View):
    """One imaging study, and the reports that name it."""

    source: Source
    modalities: tuple[str, ...]
    description: str | None
    series: int | None
    images: int | None
    reports: tuple[str, ...]


def imaging_reports(record: PatientRecord, *, limit: int = REPORT_LIMIT) -> Bounded[DocumentText]:
    """Return the imaging reports, newest first."""
    return _reports(record, "imaging report", limit)


def pathology_reports(record: PatientRecord, *, limit: int = REPORT_LIMIT) -> Bounded[DocumentText]:
    """Return the pathology and genetic reports, newest first."""
    return _reports(record, "pathology report", limit)


def imaging_studies(record: PatientRecord, *, limit: int = STUDY_LIMIT) -> Bounded[Study]:
    """Return the imaging studies, newest first, undated last."""
    reports = record.of(DiagnosticReport)
    studies = [_study(ref, study, reports) for ref, study in record.of(ImagingStudy)]
    studies.sort(key=lambda study: study.source.date or "", reverse=True)
    return bounded(studies, limit, incomplete=record.left_out.sentence())


def note(
    record: PatientRecord, ref: str, *, limit_chars: int = NOTE_LIMIT_CHARS
) -> DocumentText | None:
    """Return the note or report with source id `ref`, or None if this patient has none such."""
    found = next((document for document in record.documents if document.ref == ref), None)
    return document_text(found, limit_chars) if found else None


def document_text(document: ClinicalDocument, limit_chars: int) -> DocumentText:
    """Return the document cut to `limit_chars` code points."""
    conclusion, text = document.summary, document.text
    return DocumentText(
        source=Source(ref=document.ref, date=document.date, title=document.title),
        kind=document.kind,
        author=document.author,
        text=text[:limit_chars] if text else None,
        problem=document.problem,
        conclusion=conclusion[:limit_chars] if conclusion and conclusion != text else None,
        left_out_chars=max(0, len(text or "") - limit_chars),
    )


def _reports(
    record: PatientRecord, kind: Literal["imaging report", "pathology report"], limit: int
) -> Bounded[DocumentText]:
    found = [document for document in record.documents if document.kind == kind]
    found.sort(key=lambda document: document.date or "", reverse=True)
    shown = [document_text(document, REPORT_LIMIT_CHARS) for document in found[:limit]]
    return Bounded[DocumentText](
        items=tuple(shown),
        limit=limit,
        left_out=len(found) - len(shown),
        incomplete=record.left_out.sentence(),
    )


def _study(
    ref: str, study: ImagingStudy, reports: tuple[tuple[str, DiagnosticReport], ...]
) -> Study:
    modalities = tuple(m.display or m.code or "" for m in study.modality)
    naming = tuple(
        key for key, report in reports if any(r.reference == ref for r in report.imaging_study)
    )
    title = study.description or " + ".join(modalities) or "Imaging study"
    return Study(
        source=Source(ref=ref, date=day_text(study.clinical_date), title=title),
        modalities=modalities,
        description=study.description,
        series=study.number_of_series,
        images=study.number_of_instances,
        reports=naming,
    )
