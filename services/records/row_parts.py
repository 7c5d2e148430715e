"""What rows of single resources have in common."""

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


def age_or_text(raw: Raw, name: str) -> str:
    """Return when something began or was done, where it is an age or words."""
    age, ages = quantity(raw.get(f"{name}Age")), value_in({"valueRange": raw.get(f"{name}Range")})
    at = age.whole or ages.whole
    return text(raw, f"{name}String") or (f"at age {at}" if at else "")


def reasons_of(record: PatientRecord, entry: Entry) -> str:
    """Return what an order, a procedure or a visit was for, or ""."""
    said = labels(entry.raw, "reasonCode")
    diagnoses = (one(row, "condition") for row in many(entry.raw, "diagnosis"))
    for pointer in (*many(entry.raw, "reasonReference"), *diagnoses):
        found = record.resolve(pointer, within=entry.raw)
        said.append(label(one(found.raw, "code")) if found else text(pointer, "display"))
    return f"for {', '.join(dict.fromkeys(filter(None, said)))}" if any(said) else ""
