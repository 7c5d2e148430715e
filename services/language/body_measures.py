"""Values of a body that say by their unit what they measure: "weighs 10 kg at 74 cm". Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.language.clauses import Clause
from services.language.quantities import Quantity

_OF_UNIT = {
    "kg": "=body weight", "[lb_av]": "=body weight", "kg/m2": "=body mass index",
    "cm": "=body height", "m": "=body height", "[in_i]": "=body height",
}  # fmt: skip
_MEASURES = frozenset(_OF_UNIT.values())
_SETTINGS = frozenset({"=check up", "visit"})


def each_of_body(clauses: list[Clause]) -> list[Clause]:
    """Return clauses, each value of a body for itself, where a sentence tells several of them.

    A length alone may be of anything.
    """
    values = [v for one in clauses for v in one.quantities + one.differences]
    if len(values) < 2:
        return clauses
    told = {_OF_UNIT[one.unit] for one in values if one.unit in _OF_UNIT}
    if len(told) < 2 or told.isdisjoint(_MEASURES - {"=body height"}):
        return clauses
    return [part for clause in clauses for part in _by_measure(clause)]


def _by_measure(clause: Clause) -> Iterator[Clause]:
    """Yield a clause for each measure that its values are of; what has no such unit is of all."""
    if clause.differences and "asserts" not in clause.cues:  # "put on 3 kg and 6 cm"
        clause = replace(clause, differences=(*clause.differences, *clause.quantities))
        clause = replace(clause, quantities=())
    named = frozenset(clause.names) - _SETTINGS
    measures = dict.fromkeys(
        _OF_UNIT[one.unit]
        for one in (*clause.quantities, *clause.differences)
        if one.unit in _OF_UNIT
    )
    if not (measures and named <= _MEASURES) or (named == measures.keys() and len(measures) == 1):
        yield clause
        return
    bare = [one for one in named if one not in measures]
    for name in (*bare, *measures) if any(not one.unit for one in clause.quantities) else measures:
        yield replace(
            clause,
            names=(name,),
            own_names=True,
            runs=(),
            quantities=_of(name, clause.quantities, is_bare=name in bare),
            differences=_of(name, clause.differences, is_bare=name in bare),
        )


def _of(name: str, values: Sequence[Quantity], *, is_bare: bool) -> tuple[Quantity, ...]:
    return tuple(
        one
        for one in values
        if (_OF_UNIT.get(one.unit) == name)
        or (one.unit not in _OF_UNIT and (is_bare or bool(one.unit)))
    )
