"""Clauses that list or deny things, of which another clause says what is so of all. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from services.language.clauses import Clause
from services.language.statement_tables import saying, stems_told

_TOLD_OF_ALL = frozenset({"no", "asserts", "takes", "ended", "current"})


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
        if end is None or not is_listed(clause) or not end.own_names:
            yield clause
            continue
        polar = frozenset(end.exclusive) | stems_told("denying") | saying("without")
        yield replace(
            clause,
            words=clause.words | (end.words & polar),
            exclusive=end.exclusive,
            cues=clause.cues | (end.cues & _TOLD_OF_ALL),
        )


def _is_denied_name(clause: Clause) -> bool:
    """Whether a clause only denies something, so that a later one tells where."""
    is_named = bool(clause.names or clause.topics)
    return is_named and "no" in clause.cues and "asserts" not in clause.cues


def _is_denied_kind(clause: Clause) -> bool:
    """Whether a clause denies a kind of things: "no allergies", "no medications on record"."""
    return "no" in clause.cues and bool(clause.topics) and not clause.names


def is_listed(clause: Clause) -> bool:
    """Whether a clause only names something, so that the next tells what is said of it."""
    said = {one for one in clause.cues if not one.startswith(("same:", "means:", "topic:"))}
    return (
        bool(clause.names)
        and not clause.has_values
        and not said - {"splits", "no", "apart", "in_capitals"}
        and not (clause.exclusive or "no" in said)
        and clause.words.isdisjoint(stems_told("denying") | saying("without"))
    )
