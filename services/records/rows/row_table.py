"""Reads a resource as a row by the table `rows.yaml`: what each field of the row holds."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.records.concepts.table import ConceptKind, concept_table
from services.records.resources import entry as fhir
from services.records.resources.record import PatientRecord
from services.records.resources.values import quantity, value_in

Function: TypeAlias = Callable[[PatientRecord, fhir.Entry], str]
_TERM = re.compile(r"(?P<before>[^{}]*)(?:\{(?P<path>[^{},]+)(?P<comma>,?)\}(?P<after>[^{}]*))?")


@dataclass(frozen=True, slots=True)
class _Term:
    """Words, and what stands behind them, all in one or each on its own."""

    before: str
    path: str
    is_one: bool
    after: str


def _cell(written: Any) -> tuple[tuple[_Term, ...], ...]:
    """Return the lines of a cell; of the terms of a line the first counts that says anything."""
    lines = (re.split(r" \| ", line) for line in _listed(written))
    return tuple(tuple(map(_term, line)) for line in lines)


def _term(written: str) -> _Term:
    if (found := _TERM.fullmatch(written)) is None:
        raise ValueError(f"rows.yaml: {written!r} is no term")
    return _Term(found["before"], found["path"] or "", bool(found["comma"]), found["after"] or "")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


_OF_CONCEPTS = frozenset({"text", "coding", "code"})
_PATHS = ("date", "end", "code")
_TABLE: Mapping[str, Mapping[str, Any]] = {
    kind: {field: _listed(said) if field in _PATHS else _cell(said) for field, said in row.items()}
    for kind, row in read_yaml(Path(__file__).with_name("rows.yaml").read_bytes()).items()
}
KIND_OF_ROW: Mapping[str, str] = {kind: row["kind"][-1][-1].before for kind, row in _TABLE.items()}
"""What the rows of a type are called, but for diagnoses of a visit."""


def row_by_table(
    record: PatientRecord, entry: fhir.Entry, functions: Mapping[str, Function]
) -> ViewRow:
    """Return the row of a resource; what has no name is called after its kind.

    Args:
        functions: What the table calls by name.
    """
    cells = _TABLE[entry.kind]

    def said(field: str) -> list[str]:
        lines = (
            (_said(record, entry, term, functions) for term in line)
            for line in cells.get(field, ())
        )
        return [each for line in lines for each in next(filter(None, line), [])]

    kind = said("kind")[0]
    return ViewRow(
        kind=kind,
        name=next(iter(said("name")), f"unnamed {kind}"),
        value="; ".join(said("value")),
        status=next(iter(said("status")), "") if "status" in cells else entry.status,
        date=_day(entry.raw, cells.get("date", ()), "start") or entry.date,
        end=_day(entry.raw, cells.get("end", ()), "end"),
        detail=fhir.joined(*said("detail")),
        code=tuple(
            pair
            for path in cells.get("code", ())
            for node in _nodes(entry.raw, path)
            if isinstance(node, dict)
            for pair in fhir.code_pairs(node if "coding" in node else {"coding": node})
        ),
        sources=(entry.ref,),
    )


def _said(
    record: PatientRecord, entry: fhir.Entry, term: _Term, functions: Mapping[str, Function]
) -> list[str]:
    if not term.path:
        return [term.before]
    if term.path.endswith("()"):
        found = [functions[term.path[:-2]](record, entry)]
    elif term.path.endswith("[x]"):
        found = [age_or_text(entry.raw, term.path[:-3])]
    else:
        found = [_in_words(record, entry, node) for node in _nodes(entry.raw, term.path)]
    said = [each for each in found if each]
    if term.is_one and said:
        said = [", ".join(dict.fromkeys(said))]
    return [f"{term.before}{each}{term.after}" for each in said]


def _nodes(raw: fhir.Raw, path: str) -> list[Any]:
    """Return all values of an element; of those in between that repeat, of each."""
    found: list[Any] = [raw]
    for name in path.split("."):
        holders = (node for node in found if isinstance(node, dict))
        found = [value for node in holders for value in _listed(node.get(name))]
    return found


def _in_words(record: PatientRecord, entry: fhir.Entry, node: Any) -> str:
    """Return a text, a concept or what a Reference names in words."""
    if isinstance(node, dict):
        if amount := quantity(node).whole:
            return amount
        is_concept = not _OF_CONCEPTS.isdisjoint(node)
        return fhir.label(node) if is_concept else record.name_of(node, within=entry.raw)
    return value_in({"valueString": node, "valueInteger": node}).text


def _day(raw: fhir.Raw, paths: Iterable[str], edge: str) -> str:
    """Return the first day at the paths; of a Period that edge."""
    nodes = (node for path in paths for node in _nodes(raw, path))
    days = (fhir.text(node if isinstance(node, dict) else {edge: node}, edge) for node in nodes)
    return next(filter(None, days), "")


def called(kind: ConceptKind, concept: fhir.Raw) -> str:
    """Return a concept in words; what is recorded by a code alone as people name it, if known."""
    said = fhir.label(concept)
    if said not in fhir.codes(concept):
        return said
    found = concept_table().coded(kind, fhir.code_pairs(concept))
    substances = (fhir.CODES["substances"].get(code, "") for _, code in fhir.codings(concept))
    name = next(filter(None, substances), "") if found is None else found.name
    return f"{name} ({said})" if name else said


def age_or_text(raw: fhir.Raw, name: str) -> str:
    """Return when something began or was done, where it is an age or words."""
    age, ages = quantity(raw.get(f"{name}Age")), value_in({"valueRange": raw.get(f"{name}Range")})
    at = f"{age.text} {fhir.CODES['units_of_age'].get(age.unit, age.unit)}".strip() or ages.whole
    return fhir.text(raw, f"{name}String") or (f"at age {at}" if at else "")


def reasons_of(record: PatientRecord, entry: fhir.Entry) -> str:
    """Return what an order, a procedure or a visit was for, or ""."""
    said = [called("problem", each) for each in fhir.many(entry.raw, "reasonCode")]
    diagnoses = (fhir.one(row, "condition") for row in fhir.many(entry.raw, "diagnosis"))
    for pointer in (*fhir.many(entry.raw, "reasonReference"), *diagnoses):
        found = None if fhir.text(pointer, "display") else record.resolve(pointer, within=entry.raw)
        diagnosis = {} if found is None else fhir.one(found.raw, "code")
        said.append(called("problem", diagnosis) or record.name_of(pointer, within=entry.raw))
    return f"for {', '.join(dict.fromkeys(filter(None, said)))}" if any(said) else ""
