"""The readable texts of a record: notes and the texts of reports, decoded once."""

import base64
import binascii
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from services.records.dates import day_text
from services.records.fhir_resources import DiagnosticReport, DocumentReference
from services.records.fhir_types import Attachment, CodeableConcept

DocumentKind: TypeAlias = Literal["note", "imaging report", "pathology report", "other report"]

_IMAGING = frozenset({"RAD", "CT", "CUS", "NMR", "NMS", "XRC", "LP29684-5", "18748-4", "394914008"})
_PATHOLOGY = frozenset(
    {"PAT", "SP", "CP", "GE", "CG", "LP7839-6", "LP29708-2", "11526-1", "60568-3", "51969-4"}
)
_TAG = re.compile(r"<[^<>]{0,500}>")
_BREAK = re.compile(r"(?i)</?(?:p|div|br|li|tr|h[1-6])\b[^<>]{0,500}>")


@dataclass(frozen=True, slots=True)
class ClinicalDocument:
    """One note or report; line ends are single newlines.

    Attributes:
        ref: Source id, such as `DocumentReference/note-3`.
        text: What it says; None when there is nothing that can be read.
        problem: Why `text` is None, for people; None when there is text.
        summary: A report's own conclusion.
    """

    ref: str
    kind: DocumentKind
    title: str
    date: str | None
    author: str | None
    text: str | None
    problem: str | None
    summary: str | None = None


def note_document(ref: str, note: DocumentReference) -> ClinicalDocument:
    """Return the note with its text decoded."""
    attachments = [content.attachment for content in note.content if content.attachment]
    text, problem = _text_of(attachments)
    return ClinicalDocument(
        ref=ref,
        kind="note",
        title=_label(note.type) or note.description or "Clinical note",
        date=day_text(note.clinical_date),
        author=next((author.display for author in note.author if author.display), None),
        text=text,
        problem=problem,
    )


def report_document(ref: str, report: DiagnosticReport) -> ClinicalDocument:
    """Return the report with its text decoded; a bare conclusion is its text."""
    text, problem = _text_of(report.presented_form)
    if text is None and report.conclusion:
        text, problem = _tidy(report.conclusion), None
    return ClinicalDocument(
        ref=ref,
        kind=report_kind(report),
        title=_label(report.code) or "Report",
        date=day_text(report.clinical_date),
        author=next((who.display for who in report.performer if who.display), None),
        text=text,
        problem=problem,
        summary=_tidy(report.conclusion) if report.conclusion else None,
    )


def report_kind(report: DiagnosticReport) -> DocumentKind:
    """Return what the report is about, from its category and code."""
    codes = frozenset[str]().union(*(category.codes for category in report.category))
    codes |= report.code.codes if report.code else frozenset()
    if codes & _IMAGING or report.imaging_study:
        return "imaging report"
    return "pathology report" if codes & _PATHOLOGY else "other report"


def _text_of(attachments: Iterable[Attachment]) -> tuple[str | None, str | None]:
    problem = "no text in the record"
    for attachment in attachments:
        kind = (attachment.content_type or "text/plain").partition(";")[0].strip().lower()
        if attachment.unread:
            problem = attachment.unread
        elif not kind.startswith("text/") and kind != "application/xhtml+xml":
            problem = "attached in a format that is not text"
        elif attachment.data is None:
            problem = "the text is kept elsewhere and was not fetched"
        else:
            text = _decoded(attachment.data, attachment.content_type or "")
            if text is not None:
                return (_without_tags(text) if "html" in kind else _tidy(text)), None
            problem = "the text is damaged"
    return None, problem


def _decoded(data: str, content_type: str) -> str | None:
    charset = "latin-1" if "8859-1" in content_type.lower() else "utf-8"
    try:
        return base64.b64decode(data, validate=True).decode(charset)
    except (binascii.Error, UnicodeDecodeError):
        return None


def _without_tags(text: str) -> str:
    return _tidy(html.unescape(_TAG.sub("", _BREAK.sub("\n", text))))


def _tidy(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def _label(concept: CodeableConcept | None) -> str | None:
    return concept.label if concept else None
