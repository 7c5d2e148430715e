"""What is kept of an entity's row: how people know it and when it is, in bounded size. Pure."""

from collections.abc import Mapping
from typing import Any

from services.tool_memory.shapes import KEPT_FIELDS

DATA_LIMIT_CHARS = 900
_MARKS = 6  # quotes, colon, comma and blanks around a field
_RANKS = {name: rank for rank, name in enumerate(KEPT_FIELDS)}
_TEXT_LIMIT_CHARS = 160
_ROWS_LIMIT = 12


def kept_data(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row` by which it is found again, the most telling first."""
    kept: dict[str, Any] = {}
    room = DATA_LIMIT_CHARS
    for name in sorted(_RANKS.keys() & row.keys(), key=_RANKS.__getitem__):
        value = row[name]
        if value is None or value in ("", [], {}):
            continue
        value = _shortened(value, depth=3)
        size = len(name) + _size(value) + _MARKS
        if size <= room:
            kept[name] = value
            room -= size
    return kept


def _size(value: Any) -> int:
    """Return about how many characters a value takes as JSON; exactness would cost more."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(name) + _size(one) + _MARKS for name, one in value.items()) + 2
    if isinstance(value, list):
        return sum(_size(one) + 2 for one in value) + 2
    return len(str(value))


def merged(old: Mapping[str, Any], new: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    """Return `old` with what `new` says; a whole record replaces, a short entry erases nothing."""
    return dict(new) if is_whole else {**old, **new}


def _shortened(value: Any, *, depth: int) -> Any:
    if isinstance(value, str):
        return value[:_TEXT_LIMIT_CHARS]
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        rows = list(value.items())[:_ROWS_LIMIT]
        return {str(name): _shortened(one, depth=depth - 1) for name, one in rows}
    if isinstance(value, list | tuple):
        return [_shortened(one, depth=depth - 1) for one in value[:_ROWS_LIMIT]]
    return str(value)[:_TEXT_LIMIT_CHARS]
