"""What is kept of an entity's row: how people know it and when it is, in bounded size. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from services.tool_memory.shapes import KEPT_FIELDS

DATA_LIMIT_CHARS = 900
_TEXT_LIMIT_CHARS = 160
_ROWS_LIMIT = 12


def kept_data(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row` by which it is found again, the most telling first."""
    kept: dict[str, Any] = {}
    room = DATA_LIMIT_CHARS
    for name in KEPT_FIELDS:
        if name not in row or row[name] in (None, "", [], {}):
            continue
        value = _shortened(row[name], depth=3)
        size = len(json.dumps({name: value}, ensure_ascii=False, default=str))
        if size <= room:
            kept[name] = value
            room -= size
    return kept


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
