"""Which note a correction takes the place of: "correction: she lives with her son". Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from data_models.memory_blocks import NOTE, KeyPoint
from services.language.folding import words_of
from services.language.held_forms import StatementKind
from services.language.held_statements import HeldStatement
from services.language.quantities import Quantity, quantities_in

_SAME_WORDS = 2
"""A subject and its verb: "she lives"."""


def corrected_note(
    points: Sequence[KeyPoint], statement: HeldStatement, *, turn_id: int
) -> KeyPoint | None:
    """Return the newest held note that `statement` corrects; None if it corrects none.

    A bare quantity, "no, 200 m", speaks of the turn before it alone.
    """
    held = [one for one in points if one.quote and one.status == "active"]
    if counted := [one for one in held if _recounted(one, statement) is not None]:
        return next((one for one in reversed(counted) if one.turn_id == turn_id - 1), None)
    held = [one for one in held if one.kind == NOTE]
    if _bare_quantity(statement.value) is not None:
        held = [one for one in held if one.turn_id == turn_id - 1]
    return next((one for one in reversed(held) if _is_about(one, statement)), None)


def in_place_of(old: KeyPoint, statement: HeldStatement) -> HeldStatement:
    """Return what is held instead: a bare quantity stands where the note had its own."""
    if (recounted := _recounted(old, statement)) is not None:
        return recounted
    measured, new = _measured(old, statement), _bare_quantity(statement.value)
    if measured is None or new is None:
        return statement
    said = _said(old)
    value = f"{said[: measured.start]}{statement.value}{said[measured.end :]}"
    return replace(statement, value=value, about=value.casefold())


def _is_about(point: KeyPoint, statement: HeldStatement) -> bool:
    if _bare_quantity(statement.value) is not None:
        return _measured(point, statement) is not None
    words, held = words_of(statement.value)[:_SAME_WORDS], words_of(point.about)
    if len(words) < _SAME_WORDS:
        return False
    # German puts the verb last: "dass sie allein lebt", "sie lebt bei ihrer Tochter".
    return words in (held[:_SAME_WORDS], [*held[:1], *held[-1:]])


def _recounted(point: KeyPoint, statement: HeldStatement) -> HeldStatement | None:
    """Return a point with another number before the same words: "10 a day" of "smokes 5 a day"."""
    number, _, counted = statement.value.partition(" ")
    said = _said(point)
    before, found, after = said.rpartition(f" {counted}")
    kept, _, old = before.rpartition(" ")
    if not (number.isdecimal() and counted and found and old.isdecimal()):
        return None
    value = " ".join(filter(None, [kept, number])) + found + after
    return replace(
        statement,
        kind=cast(StatementKind, point.kind),
        polarity=point.polarity,
        value=value,
        about=value.casefold() if point.kind == NOTE else point.about,
    )


def _measured(point: KeyPoint, statement: HeldStatement) -> Quantity | None:
    """Return the one quantity of a note that is of the unit of a bare quantity."""
    new = _bare_quantity(statement.value)
    if new is None:
        return None
    same = [one for one in quantities_in(_said(point)) if one.unit and one.unit == new.unit]
    return same[0] if len(same) == 1 else None


def _said(point: KeyPoint) -> str:
    """Return what a note says, behind its label."""
    return point.text.partition(": ")[2]


def _bare_quantity(text: str) -> Quantity | None:
    found = quantities_in(text)
    is_bare = len(found) == 1 and not f"{text[: found[0].start]}{text[found[0].end :]}".strip()
    return found[0] if is_bare else None
