"""What rows of single resources have in common."""

from data_models.chart_view import ViewRow
from services.records.concepts.table import ConceptKind, concept_table
from services.records.entry import (
    Entry,
    Raw,
    code_pairs,
    codes,
    label,
    labels,
    many,
    one,
    text,
)
from services.records.record import PatientRecord
from services.records.values import quantity, value_in


def called(kind: ConceptKind, concept: Raw) -> str:
    """Return a concept in words; what is recorded by a code alone as people name it, if known."""
    said = label(concept)
    if said not in codes(concept):
        return said
    found = concept_table().coded(kind, code_pairs(concept))
    return f"{found.name} ({said})" if found is not None else said


def one_row(entry: Entry, kind: str, name: str, **fields: object) -> ViewRow:
    """Return a row with the entry's date, status and source id."""
    shown: dict[str, object] = {"date": entry.date, "status": entry.status, **fields}
    return ViewRow(kind=kind, name=name or f"unnamed {kind}", sources=(entry.ref,), **shown)  # type: ignore[arg-type]


def people(record: PatientRecord, entry: Entry, element: str, inner: str = "") -> str:
    """Return the names of those an element refers to, `inner` below it where it holds objects."""
    found = []
    for row in many(entry.raw, element):
        pointer = one(row, inner) if inner else row
        found.append(record.name_of(pointer, within=entry.raw))
    return ", ".join(dict.fromkeys(name for name in found if name))


def age_or_text(raw: Raw, name: str) -> str:
    """Return when something began or was done, where it is an age or words."""
    age, ages = quantity(raw.get(f"{name}Age")), value_in({"valueRange": raw.get(f"{name}Range")})
    at = age.whole or ages.whole
    return text(raw, f"{name}String") or (f"at age {at}" if at else "")


def reasons_of(record: PatientRecord, entry: Entry, element: str = "", inner: str = "") -> str:
    """Return what an order, a procedure or a visit was for, or "".

    Args:
        element: Holds further conditions, each below `inner`.
    """
    said = labels(entry.raw, "reasonCode")
    more = [one(row, inner) for row in many(entry.raw, element)] if element else []
    for pointer in (*many(entry.raw, "reasonReference"), *more):
        found = record.resolve(pointer, within=entry.raw)
        said.append(label(one(found.raw, "code")) if found else text(pointer, "display"))
    return f"for {', '.join(dict.fromkeys(filter(None, said)))}" if any(said) else ""


def prefixed(words: str, said: str) -> str:
    """Return `words` before what is said, if anything is."""
    return f"{words} {said}" if said else ""
