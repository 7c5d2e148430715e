"""Keeps other patients out of what models see of a clinician's own calendar and mail."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from services.tool_memory.folding import plain

OTHER_APPOINTMENT = "other appointment"
_TIME_FIELDS = ("id", "start", "end", "is_all_day", "received", "due")


def names_other(row: Mapping[str, Any], others: Collection[str]) -> bool:
    """Whether `row` holds an id or a name of another patient, as a whole word, case ignored."""
    if not others:
        return False
    text = plain(json.dumps(row, ensure_ascii=False, default=str))
    return _pattern(tuple(sorted(others))).search(text) is not None


def with_time_only(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model may see of an item that names another patient."""
    return {
        "title": OTHER_APPOINTMENT,
        **{name: row[name] for name in _TIME_FIELDS if row.get(name)},
    }


def shielded(rows: Sequence[Mapping[str, Any]], others: Collection[str]) -> list[dict[str, Any]]:
    """Return rows of which those that name another patient keep their time only."""
    return [with_time_only(row) if names_other(row, others) else dict(row) for row in rows]


@lru_cache(maxsize=64)
def _pattern(others: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(re.escape(plain(one)) for one in others if one.strip())
    return re.compile(
        rf"(?<![\w]){'(?:' + words + ')' if words else '(?!)'}(?![\w])", re.IGNORECASE
    )
