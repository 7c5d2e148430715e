"""What stands behind a source id: a note's or report's whole text, or an entry's fields."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from data_models.chart_view import in_written_order
from data_models.values import ClosedValue
from services.records.resources.dates import day_text
from services.records.resources.documents import NESTING_LIMIT
from services.records.resources.entry import Entry, Raw, label, many, text
from services.records.resources.record import PatientRecord
from services.records.resources.values import quantity, with_unit
from services.records.rows.measurements import rows_of_observation

SOURCE_LIMIT_CHARS = 100_000
# Whose it is and how it is filed stand beside the fields already.
_NOT_SHOWN = frozenset(
    {"id", "resourceType", "resource_type", "subject", "patient", "meta", "extension", "contained",
     "modifierExtension", "implicitRules", "language", "data"}
)  # fmt: skip
# What it is comes before how it stands.
_FIRST = {"Code": 0, "Medication": 0, "Vaccine code": 0, "Description": 0, "Body site": 1,
          "Onset": 2}  # fmt: skip
_SUFFIX = re.compile(r"(?:CodeableConcept|DateTime|Quantity|String|Boolean|Integer|Period)$")


class SourceText(ClosedValue):
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
        if document.ref == ref and (document.text or not many(record.entries[ref].raw, "result")):
            whole = in_written_order(document.whole)
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
    entry = record.entries.get(ref) or record.refuted.get(ref)
    return None if entry is None else _of_entry(record, entry)


def _of_entry(record: PatientRecord, entry: Entry) -> SourceText:
    ref = entry.ref
    rows = [(name, in_written_order(value)) for name, value in _rows(record, entry)]
    if entry.kind != "Observation":
        rows.sort(key=lambda row: _FIRST.get(row[0], len(_FIRST)))
    kind = _spaced(entry.kind)
    text = "\n".join(f"{name}: {value}" for name, value in rows)
    return SourceText(
        ref=ref,
        kind=kind,
        title=rows[0][1] if rows else kind,
        date=day_text(entry.date),
        text=text[:SOURCE_LIMIT_CHARS] or None,
        problem=None if text else "no readable field in the record",
        left_out_chars=max(0, len(text) - SOURCE_LIMIT_CHARS),
    )


def _rows(record: PatientRecord, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the fields; FHIR spreads the value of an observation over many, so it comes first."""
    skipped: frozenset[str] = frozenset()
    if entry.kind == "Observation":
        for row in rows_of_observation(record, entry):
            yield "Observed", row.name
            yield "Value", with_unit(row.value, row.unit)
        skipped = frozenset(
            {"code", "component", "interpretation", "dataAbsentReason"}
            | {name for name in entry.raw if name.startswith("value")}
        )
    rest = {name: value for name, value in entry.raw.items() if name not in skipped}
    if entry.kind == "DiagnosticReport":
        results = [record.resolve(pointer) for pointer in many(entry.raw, "result")]
        rest["result"] = [
            f"{row.name}: {with_unit(row.value, row.unit)}"
            for found in results
            if found is not None and found.kind == "Observation"
            for row in rows_of_observation(record, found)
        ]
    yield from _fields(rest, depth=0)


def _fields(node: Raw, *, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the fields of a resource in words, one for each element that says something."""
    for name, value in node.items():
        if name not in _NOT_SHOWN and not name.startswith("_"):
            said = _said(value, depth=depth)
            if said:
                yield _spaced(_SUFFIX.sub("", name)), said


def _said(value: Any, *, depth: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, (_said(item, depth=depth) for item in value)))
    return _object(value, depth=depth) if isinstance(value, dict) else ""


def _object(value: Raw, *, depth: int) -> str:
    """Return an element in words: a concept, an amount, a span, a pointer, else its fields."""
    if depth > NESTING_LIMIT:
        return ""
    if "coding" in value or "display" in value or ("code" in value and "system" in value):
        return label(value)
    if amount := quantity(value).whole:
        return amount
    if text(value, "start") or text(value, "end"):
        return f"{text(value, 'start') or '?'} to {text(value, 'end') or 'now'}"
    if set(value) <= {"reference", "type"}:
        return text(value, "reference")
    if set(value) <= {"text", "time", "authorReference", "authorString"}:
        return text(value, "text")
    inner = _fields(value, depth=depth + 1)
    return ", ".join(f"{name.lower()} {said}" for name, said in inner)


def _spaced(name: str) -> str:
    """Return `MedicationStatement` or `recordedDate` as words."""
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name)
    return words.strip().capitalize()
