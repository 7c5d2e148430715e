"""The readable texts of a record: notes and the texts of reports, decoded once."""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from services.language.words.folding import tokens_of
from services.language.words.statement_tables import saying
from services.records.resources.dates import day_text
from services.records.resources.entry import (
    CODE_SETS,
    Entry,
    Raw,
    codes,
    label,
    labels,
    many,
    one,
    text,
)
from services.records.resources.values import value_in

DocumentKind: TypeAlias = Literal[
    "note", "imaging report", "pathology report", "laboratory report", "other report",
    "questionnaire",
]  # fmt: skip
NameOf: TypeAlias = Callable[[Raw, Raw], str]
NESTING_LIMIT = 12
SUPERSEDED = "superseded"
NO_TEXT = "no text in the record"

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
        is_superseded: Another document has taken its place.
    """

    ref: str
    kind: DocumentKind
    title: str
    date: str | None
    author: str | None
    text: str | None
    problem: str | None
    summary: str | None = None
    is_superseded: bool = False

    @property
    def whole(self) -> str:
        """Its text and behind it the conclusion, which is most often quoted; "" without both."""
        body, summary = self.text or "", self.summary
        return (
            body if not summary or summary in body else f"{body}\n\nConclusion\n{summary}".strip()
        )


def documents_of(entries: Iterable[Entry], names: NameOf) -> tuple[ClinicalDocument, ...]:
    """Return notes, reports and answered questionnaires, oldest first, undated last.

    Args:
        names: Gives the name of what a Reference within a resource points to.
    """
    kept = [entry for entry in entries if entry.kind in _READERS]
    replaced = {ref for entry in kept for ref in _replaced_by(entry)}
    found = [
        replace(
            _READERS[one.kind](one, names),
            is_superseded=one.ref in replaced
            or SUPERSEDED in (one.status, text(one.raw, "docStatus")),
        )
        for one in kept
    ]
    return tuple(sorted(found, key=lambda d: (d.date is None, d.date or "", d.ref)))


def _replaced_by(entry: Entry) -> Iterator[str]:
    """Yield the source ids of the documents whose place one has taken."""
    for row in many(entry.raw, "relatesTo"):
        if text(row, "code") == "replaces":
            pointer = text(one(row, "target") or one(row, "targetReference"), "reference")
            yield "/".join(pointer.partition("/_history/")[0].rsplit("/", 2)[-2:])


def _note(entry: Entry, names: NameOf) -> ClinicalDocument:
    raw = entry.raw
    body, problem = _text_of(one(content, "attachment") for content in many(raw, "content"))
    return ClinicalDocument(
        ref=entry.ref,
        kind="note",
        title=label(one(raw, "type")) or text(raw, "description") or "Clinical note",
        date=day_text(entry.date),
        author=_first_name(entry, names, "author"),
        text=body,
        problem=problem,
    )


def _report(entry: Entry, names: NameOf) -> ClinicalDocument:
    """Read a report; a bare conclusion is its text."""
    raw = entry.raw
    body, problem = _text_of(many(raw, "presentedForm"))
    conclusion = _tidy(text(raw, "conclusion")) or "; ".join(labels(raw, "conclusionCode"))
    if body is None and conclusion:
        body, problem = conclusion, None
    return ClinicalDocument(
        ref=entry.ref,
        kind=_report_kind(raw),
        title=label(one(raw, "code")) or "Report",
        date=day_text(entry.date),
        author=_first_name(entry, names, "performer")
        or _first_name(entry, names, "resultsInterpreter"),
        text=body,
        problem=problem,
        summary=conclusion or None,
    )


def _questionnaire(entry: Entry, names: NameOf) -> ClinicalDocument:
    raw = entry.raw
    lines = list(_answers(many(raw, "item"), depth=0))
    title = text(raw, "questionnaire").partition("|")[0].rpartition("/")[2]
    return ClinicalDocument(
        ref=entry.ref,
        kind="questionnaire",
        title=f"Questionnaire {title}".strip(),
        date=day_text(entry.date),
        author=_first_name(entry, names, "author"),
        text="\n".join(lines) or None,
        problem=None if lines else "no answers in the record",
    )


def _composition(entry: Entry, names: NameOf) -> ClinicalDocument:
    raw = entry.raw
    parts = [part for section in many(raw, "section") for part in _sections(section, depth=0)]
    return ClinicalDocument(
        ref=entry.ref,
        kind="note",
        title=text(raw, "title") or label(one(raw, "type")) or "Document",
        date=day_text(text(raw, "date")),
        author=_first_name(entry, names, "author"),
        text="\n\n".join(parts) or None,
        problem=None if parts else NO_TEXT,
    )


def _answers(items: Iterable[Raw], *, depth: int) -> Iterator[str]:
    if depth > NESTING_LIMIT:
        return
    for item in items:
        answers = many(item, "answer")
        said = ", ".join(filter(None, (value_in(answer).whole for answer in answers)))
        question = text(item, "text") or text(item, "linkId")
        if question or said:
            yield f"{question}: {said}" if said else question
        yield from _answers(many(item, "item"), depth=depth + 1)
        for answer in answers:
            yield from _answers(many(answer, "item"), depth=depth + 1)


def _sections(section: Raw, *, depth: int) -> Iterator[str]:
    if depth > NESTING_LIMIT:
        return
    body = _without_tags(text(one(section, "text"), "div"))
    heading = text(section, "title")
    if heading or body:
        yield f"{heading}\n{body}".strip()
    for inner in many(section, "section"):
        yield from _sections(inner, depth=depth + 1)


def _first_name(entry: Entry, names: NameOf, element: str) -> str | None:
    found = (names(pointer, entry.raw) for pointer in many(entry.raw, element))
    return next((name for name in found if name), None)


def _report_kind(raw: Raw) -> DocumentKind:
    """Return what the report is about, from its category and code, else from its title."""
    found = codes(one(raw, "code")).union(*(codes(each) for each in many(raw, "category")))
    if found & CODE_SETS["imaging"] or many(raw, "imagingStudy"):
        return "imaging report"
    if found & CODE_SETS["pathology"]:
        return "pathology report"
    if found & CODE_SETS["laboratory"] or (many(raw, "result") and not many(raw, "presentedForm")):
        return "laboratory report"
    titles = (label(one(raw, "code")), *labels(raw, "category"))
    words = {*tokens_of(" ".join(titles))}
    if words & saying("titles_of_pathology"):
        return "pathology report"
    return "imaging report" if words & saying("titles_of_imaging") else "other report"


def _text_of(attachments: Iterable[Raw]) -> tuple[str | None, str | None]:
    problem = NO_TEXT
    for attachment in attachments:
        content_type = text(attachment, "contentType") or "text/plain"
        kind = content_type.partition(";")[0].strip().lower()
        if unread := text(attachment, "unread"):
            problem = unread
        elif not kind.startswith("text/") and kind != "application/xhtml+xml":
            problem = "attached in a format that is not text"
        elif not text(attachment, "data"):
            problem = "the text is kept elsewhere and was not fetched"
        else:
            if (body := _decoded(text(attachment, "data"), content_type)) is not None:
                return (_without_tags(body) if "html" in kind else _tidy(body)), None
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


_READERS: Mapping[str, Callable[[Entry, NameOf], ClinicalDocument]] = {
    "Composition": _composition,
    "DiagnosticReport": _report,
    "DocumentReference": _note,
    "QuestionnaireResponse": _questionnaire,
}
KINDS = tuple(_READERS)
"""FHIR types of documents."""
