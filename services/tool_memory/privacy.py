"""Keeps secrets out of what is stored, and other patients out of what models see of own items."""

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"
_TEXT_LIMIT_CHARS = 200
_ROWS_LIMIT = 20
_SECRET = re.compile(
    r"token|passw|passphrase|secret|authori[sz]ation|api[_-]?key|credential|cookie|private[_-]?key"
    r"|session[_-]?key|bearer|signature|^pin$|^otp$",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*")


def masked(value: Any, *, depth: int = 5) -> Any:
    """Return `value` with secrets hidden by the names they stand under, and by their form."""
    if isinstance(value, dict):
        return {
            str(name): MASK if _SECRET.search(str(name)) else masked(one, depth=depth - 1)
            for name, one in list(value.items())[:_ROWS_LIMIT]
            if depth > 0
        }
    if isinstance(value, list | tuple):
        return [masked(one, depth=depth - 1) for one in value[:_ROWS_LIMIT] if depth > 0]
    if isinstance(value, str):
        return _JWT.sub(MASK, _BEARER.sub(rf"\1 {MASK}", value))[:_TEXT_LIMIT_CHARS]
    return value if isinstance(value, bool | int | float) or value is None else MASK


OTHER_APPOINTMENT = "other appointment"
_TIME_FIELDS = ("id", "kind", "start", "end", "is_all_day", "received", "due")


def with_time_only(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model may see of an item that names another patient."""
    return {
        "title": OTHER_APPOINTMENT,
        **{name: row[name] for name in _TIME_FIELDS if row.get(name)},
    }
