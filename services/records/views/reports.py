"""Imaging and pathology reports with the beginning of their text, for the Word report."""

from typing import Literal

from services.records.documents import ClinicalDocument, DocumentKind
from services.records.facts import Bounded, Source, View
from services.records.record import PatientRecord

REPORT_LIMIT = 12
REPORT_LIMIT_CHARS = 4_000


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


def imaging_reports(record: PatientRecord, *, limit: int = REPORT_LIMIT) -> Bounded[DocumentText]:
    """Return the imaging reports, newest first."""
    return _reports(record, "imaging report", limit)


def pathology_reports(record: PatientRecord, *, limit: int = REPORT_LIMIT) -> Bounded[DocumentText]:
    """Return the pathology and genetic reports, newest first."""
    return _reports(record, "pathology report", limit)


def _reports(
    record: PatientRecord, kind: Literal["imaging report", "pathology report"], limit: int
) -> Bounded[DocumentText]:
    found = [document for document in record.documents if document.kind == kind]
    found.sort(key=lambda document: document.date or "", reverse=True)
    shown = [_shown(document) for document in found[:limit]]
    return Bounded[DocumentText](
        items=tuple(shown),
        limit=limit,
        left_out=len(found) - len(shown),
        incomplete=record.left_out.sentence(),
    )


def _shown(document: ClinicalDocument) -> DocumentText:
    conclusion, text = document.summary, document.text
    return DocumentText(
        source=Source(ref=document.ref, date=document.date, title=document.title),
        kind=document.kind,
        author=document.author,
        text=text[:REPORT_LIMIT_CHARS] if text else None,
        problem=document.problem,
        conclusion=conclusion[:REPORT_LIMIT_CHARS] if conclusion and conclusion != text else None,
        left_out_chars=max(0, len(text or "") - REPORT_LIMIT_CHARS),
    )
