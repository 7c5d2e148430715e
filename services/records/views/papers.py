"""`documents` and `read_document`: what was written, when, by whom, and its full text by pages."""

from collections.abc import Mapping
from datetime import date

from data_models.chart_view import ChartView, ViewRow
from services.records.concepts.words import words_of
from services.records.resources.dates import is_within
from services.records.resources.documents import NO_TEXT, SUPERSEDED, ClinicalDocument
from services.records.resources.entry import joined, many, one, text
from services.records.resources.record import PatientRecord
from services.records.rows.measurements import rows_of_observation
from services.records.search_index import PASSAGE_LIMIT_CHARS
from services.records.views.view import newest_first, not_shown, quoted, view_of

PAGE_CHARS = 4_000
_KIND_WORDS: Mapping[str, str] = {
    "radiology": "imaging", "image": "imaging", "histology": "pathology", "letter": "note",
    "genetic": "pathology", "lab": "laboratory", "brief": "note", "befund": "report",
}  # fmt: skip


def documents(
    record: PatientRecord, *, kind: str | None = None, since: date | None = None
) -> ChartView:
    """Return notes, reports and answered questionnaires without their text, the newest first.

    Args:
        kind: Words of the kind or the title: `imaging`, `pathology`, `note`, `discharge`.
    """
    every = newest_first(row_of_document(record, document) for document in record.documents)
    wanted = {_KIND_WORDS.get(word, word) for word in words_of(kind or "")}
    asked = [row for row in every if wanted <= {*words_of(f"{row.kind} {row.name}")}]
    kept = [row for row in asked if is_within(row.date, since)]
    of_kind, then = f" of kind “{kind}”" if kind else "", "" if since is None else " of that time"
    return view_of(
        record,
        "documents",
        f"Documents: {kind}" if kind else "Documents",
        kept,
        nothing=f"No document{of_kind}{then} in the record ({len(every)} documents searched).",
        left_out=[
            not_shown(len(asked) - len(kept), "earlier or undated documents", "an earlier since")
        ],
    )


def row_of_document(record: PatientRecord, document: ClinicalDocument) -> ViewRow:
    """Return one line for a document: title, author, what it concludes."""
    entry = record.entries[document.ref]
    visit = record.resolve(
        one(entry.raw, "encounter") or one(one(entry.raw, "context"), "encounter")
    )
    about = ""
    if visit is not None:
        about = f"about the encounter of {visit.date[:10] or 'unknown date'}"
    return ViewRow(
        kind=document.kind,
        name=document.title,
        status=SUPERSEDED
        if document.is_superseded
        else text(entry.raw, "docStatus") or entry.status,
        date=entry.date,
        detail=joined(
            people_of(record, document),
            about,
            document.summary or "",
            _lack_of(record, document) if not document.summary else "",
        ),
        sources=(document.ref,),
    )


def people_of(record: PatientRecord, document: ClinicalDocument) -> str:
    """Return who wrote a document, and who ordered what it reports."""
    orders = (record.resolve(order) for order in many(record.entries[document.ref].raw, "basedOn"))
    names = [record.name_of(one(order.raw, "requester")) for order in orders if order is not None]
    by = f"by {document.author}" if document.author else ""
    return joined(by, *(f"ordered by {name}" for name in dict.fromkeys(filter(None, names))))


def _lack_of(record: PatientRecord, document: ClinicalDocument) -> str:
    """Return why a document has no text; of a panel how many results it has in place of one."""
    results = len(many(record.entries[document.ref].raw, "result"))
    if document.problem == NO_TEXT and results:
        return f"{results} results"
    problem = document.problem or ""
    return problem if problem in ("", NO_TEXT) else f"no text: {problem}"


def read_document(record: PatientRecord, ref: str, *, page: int = 1) -> ChartView | None:
    """Return one page of a document, or None if this patient has none of that source id.

    Args:
        page: From 1; a page has at most 4,000 characters.
    """
    wanted = ref.strip().strip("[]")
    document = next(
        (each for each in record.documents if wanted in (each.ref, each.ref.partition("/")[2])),
        None,
    )
    if document is None:
        return None
    whole = document.whole
    entry = record.entries[document.ref]
    found = [record.resolve(pointer, within=entry.raw) for pointer in many(entry.raw, "result")]
    results = [
        row
        for result in found
        if result is not None and result.kind == "Observation"
        for row in rows_of_observation(record, result)
    ]
    pages = max(1, -(-len(whole) // PAGE_CHARS))
    number = min(max(1, page), pages)
    row = row_of_document(record, document)
    shown = whole[(number - 1) * PAGE_CHARS : number * PAGE_CHARS]
    people = people_of(record, document)
    rows = [row.model_copy(update={"value": people, "detail": shown})] if shown else []
    rest = pages - number
    view = view_of(
        record,
        "read_document",
        f"{document.title}, page {number} of {pages}",
        [*rows, *(results if number == 1 else [])],
        kind="passages",
        nothing=f"{document.title} ({document.date or 'undated'}) has no text: {document.problem}",
        left_out=[not_shown(rest, "further pages", f"page={number + 1}")],
    )
    return quoted(view)


def row_of_directive(record: PatientRecord, paper: ClinicalDocument) -> ViewRow:
    """Return an advance directive with how it begins, which says what is wanted."""
    row = row_of_document(record, paper)
    said = " ".join((paper.text or "").split())[:PASSAGE_LIMIT_CHARS]
    return row.model_copy(update={"kind": "directive", "detail": joined(row.detail, said)})
