"""What stands behind a source id: a note's or report's whole text, or an entry's fields."""

from collections.abc import Iterable

from data_models.written_order import in_written_order
from services.records.dates import day_text
from services.records.documents import ClinicalDocument
from services.records.facts import View
from services.records.fhir_resources import Observation, PatientResource
from services.records.fhir_types import (
    Annotation,
    CodeableConcept,
    Coding,
    ConditionStage,
    Dosage,
    Period,
    Reference,
)
from services.records.observations import name_of, value_of
from services.records.record import PatientRecord

SOURCE_LIMIT_CHARS = 100_000
# Whose it is and how it is filed stand beside the fields already.
_NOT_SHOWN = frozenset({"id", "resource_type", "subject", "patient", "extension"})
# FHIR spreads a value over many elements; `value_of` reads them together.
_OF_A_VALUE = frozenset({"component", "data_absent_reason", "interpretation"})


class SourceText(View):
    """A source as a clinician reads it.

    Attributes:
        kind: `note`, `imaging report`, ..., or the entry's FHIR type in words.
        text: Its first 100,000 characters; of an entry without text, one field a line.
        problem: Why there is no text, for people.
        left_out_chars: How many characters of the text were over the limit.
    """

    ref: str
    kind: str
    title: str
    date: str | None
    author: str | None = None
    text: str | None
    problem: str | None = None
    left_out_chars: int = 0


def source_text(record: PatientRecord, ref: str) -> SourceText | None:
    """Return the source with id `ref`, or None if this patient has none such."""
    for document in record.documents:
        if document.ref == ref:
            return _of_document(document)
    resource = record.resources.get(ref)
    return None if resource is None else _of_entry(ref, resource)


def _of_document(document: ClinicalDocument) -> SourceText:
    whole = in_written_order(document.text or "")
    # A conclusion of its own is the part most often quoted.
    if document.summary and document.summary not in whole:
        whole = f"{whole}\n\nConclusion\n{document.summary}".strip()
    return SourceText(
        ref=document.ref,
        kind=document.kind,
        title=in_written_order(document.title),
        date=document.date,
        author=document.author,
        text=whole[:SOURCE_LIMIT_CHARS] or None,
        problem=document.problem,
        left_out_chars=max(0, len(whole) - SOURCE_LIMIT_CHARS),
    )


def _of_entry(ref: str, resource: PatientResource) -> SourceText:
    rows = [(name, in_written_order(value)) for name, value in _rows(resource)]
    kind = _spaced(type(resource).__name__)
    text = "\n".join(f"{name}: {value}" for name, value in rows)
    return SourceText(
        ref=ref,
        kind=kind,
        title=rows[0][1] if rows else kind,
        date=day_text(resource.clinical_date),
        text=text[:SOURCE_LIMIT_CHARS] or None,
        problem=None if text else "no readable field in the record",
        left_out_chars=max(0, len(text) - SOURCE_LIMIT_CHARS),
    )


def _rows(resource: PatientResource) -> Iterable[tuple[str, str]]:
    """Yield the readable fields; first what the entry is about."""
    observed = isinstance(resource, Observation)
    if isinstance(resource, Observation):
        yield "Observed", name_of(resource)
        yield "Value", value_of(resource) or "not recorded"
    fields = [name for name in type(resource).model_fields if name not in _NOT_SHOWN]
    # What it is comes before how it stands.
    fields.sort(key=lambda name: name not in ("code", "medication_codeable_concept", "description"))
    for name in fields:
        if observed and (name == "code" or name.startswith("value_") or name in _OF_A_VALUE):
            continue
        said = _said(resource.__dict__[name])
        if said:
            yield _spaced(name.removesuffix("_codeable_concept").removesuffix("_date_time")), said


def _said(value: object) -> str | None:
    match value:
        case str() | int():
            return str(value)
        case CodeableConcept(label=label):
            return label
        case Coding(display=text, code=other) | Reference(display=text, reference=other):
            return text or other
        case Period(start=start, end=end):
            return f"{start or '?'} to {end or 'now'}"
        case Annotation(text=text) | Dosage(text=text):
            return text
        case ConditionStage(summary=summary):
            return _said(summary)
        case tuple():
            return "; ".join(filter(None, map(_said, value))) or None
        case _:
            return None


def _spaced(name: str) -> str:
    """Return `MedicationStatement` or `recorded_date` as words."""
    words = "".join(f" {char}" if char.isupper() else char for char in name).replace("_", " ")
    return words.strip().capitalize()
