"""Clauses that list or deny things together, and values of a body, each for itself. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words

_OF_A_THING = frozenset({"ordinal", "form", "route"})
_TOLD_OF_ALL = frozenset(
    {"normal", "no", "asserts", "takes", "ended", "current", "recorded", "planned"}
)


def denied_together(clauses: list[Clause]) -> Iterator[Clause]:
    """Yield clauses, those of a list with what the last says: "ALK and ROS1 are negative"."""
    for at, clause in enumerate(clauses):
        rest = clauses[at + 1 :]
        end = next((one for one in rest if not is_listed(one)), None)
        is_kind = end is None and _is_denied_kind(clause) and _is_denied_kind(clauses[-1])
        others = (one for one in rest if "recorded" in one.cues or not _is_denied_name(one))
        told = clauses[-1] if is_kind else next(others, None)
        is_name = _is_denied_name(clause)
        if told is not None and (is_kind or is_name) and "recorded" in told.cues:
            yield replace(clause, cues=clause.cues | {"recorded"})
            continue
        is_of_list = end is not None and is_listed(clause) and end.own_names
        if is_of_list and end is not None:  # "BRAF V600E; NRAS and KIT without mutation"
            is_of_list = all("apart" not in one.cues for one in rest[: rest.index(end) + 1])
        yield _as_told(clause, end) if is_of_list and end is not None else clause


def _as_told(clause: Clause, end: Clause) -> Clause:
    """Return a clause of a list with what its end says of each."""
    told_of_each = _without_ordinals(end.exclusive)
    kinds = [{*map(kind_of_name, one.names)} for one in (clause, end)]  # "cancer, off a drug"
    apart = {"takes", "ended", "current"} if "medication" in kinds[1] - kinds[0] else set[str]()
    polar = frozenset(told_of_each) | stems_told("denying") | saying("without")
    return replace(
        clause,
        words=clause.words | (end.words & polar),
        exclusive=(*clause.exclusive, *told_of_each),
        cues=clause.cues | (end.cues & (_TOLD_OF_ALL - apart)),
    )


def told_ahead(segments: Sequence[Clause]) -> Iterator[Clause]:
    """Yield segments, the first of a list behind a fact as its end says: "…; A and B were …"."""
    is_behind, polar = False, statement_words().polar | {"no"}
    for at, one in enumerate(segments):
        end = next((each for each in segments[at + 1 :] if not is_listed(each)), None)
        is_next = at > 0 and "asserts" in segments[at - 1].cues and "splits" not in one.cues
        is_found = end is not None and not polar.isdisjoint((*end.exclusive, *end.cues))
        is_next = (is_found and is_next) or "apart" in one.cues
        is_behind = is_listed(one) and (is_behind or is_next)
        yield _as_told(one, end) if is_behind and end is not None and end.names else one


def _without_ordinals(words: Sequence[str]) -> tuple[str, ...]:
    """Return words of which one alone can be so: "a fifth dose" is of a thing, as is "patch"."""
    return tuple(one for one in words if group_of(one) not in _OF_A_THING)


def _is_denied_name(clause: Clause) -> bool:
    """Whether a clause only denies something, so that a later one tells where."""
    is_named = bool(clause.names or clause.topics)
    return is_named and "no" in clause.cues and "asserts" not in clause.cues


def _is_denied_kind(clause: Clause) -> bool:
    """Whether a clause denies a kind of things: "no allergies", "no medications on record"."""
    return "no" in clause.cues and bool(clause.topics) and not clause.names


def is_listed(clause: Clause) -> bool:
    """Whether a clause only names something, so that the next tells what is said of it."""
    said = {
        one for one in clause.cues if not one.startswith(("same:", "means:", "topic:", "wider:"))
    }
    return (
        bool(clause.names)
        and not clause.has_values
        and not said - {"splits", "no", "apart", "in_capitals"}
        and not (_without_ordinals(clause.exclusive) or "no" in said)
        and clause.words.isdisjoint(stems_told("denying") | saying("without"))
    )


def told_before(done: list[Clause], clause: Clause) -> Clause | None:
    """Return of what a clause is where those before only say something beside.

    What healed is the illness, and no drug or value: "anemia was found, with an Hb of 11.6, treated
    with iron and resolved in June"; "aspirin, given for the stent, is …".
    """
    told = [one for one in done[:-1] if one.names and one.own_names]
    if clause.says("got_over", "lasted") and not _may_heal(done[-1]):
        return next(filter(_may_heal, reversed(told)), None)
    return told[-1] if "behind_bracket" in clause.cues and told and told[-1] is done[-2] else None


def _may_heal(clause: Clause) -> bool:
    kinds = [*map(kind_of_name, clause.names)]
    return "problem" in kinds or not (clause.quantities or "medication" in kinds)


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
    is_change = bool(clause.differences) and not clause.says("from")
    if is_change and "asserts" not in clause.cues:  # "put on 3 kg and 6 cm"
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


def each_its_value(clauses: list[Clause]) -> list[Clause]:
    """Return those of "sodium and potassium were 143 and 4.3", or of segments, each its value."""
    is_of_parts = bool(clauses) and clauses[0].says("numbered_parts")
    named = [one for one in clauses if (one.stages if is_of_parts else one.own_names and one.names)]
    values = [each for one in clauses for each in one.quantities]
    is_so = len(named) == len(values) > 1 and clauses[: len(named)] == named
    is_so = is_so and not any(one.cues >= {"apart", "asserts"} for one in named)
    plain = [replace(one, stages=() if is_of_parts else one.stages, dates=()) for one in named[:-1]]
    if not is_so or any(one.has_values for one in plain):
        return clauses
    behind = [one.words for one in clauses[len(named) :] if one.quantities]
    if any(len([w for w in words if w.isalpha() and len(w) > 3]) > 2 for words in behind):
        return clauses  # "ratio 4.6, mean copy number 9.1"
    if any(one.says("between", "from", "without") for one in named):
        return clauses
    told, days = named[-1], named[-1].dates or named[0].dates
    return [
        replace(one, quantities=(value,), dates=one.dates or days, cues=one.cues | told.cues)
        for one, value in zip(named, values, strict=True)
    ] + [one for one in clauses[len(named) :] if not one.quantities]
