"""Keeps other patients out of what models see of a clinician's own calendar and mail."""

from collections.abc import Mapping
from typing import Any

OTHER_APPOINTMENT = "other appointment"
_TIME_FIELDS = ("id", "kind", "start", "end", "is_all_day", "received", "due")


def with_time_only(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model may see of an item that names another patient."""
    return {
        "title": OTHER_APPOINTMENT,
        **{name: row[name] for name in _TIME_FIELDS if row.get(name)},
    }
