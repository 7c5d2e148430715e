"""What is said to a question where a record has just these rows.

A row of the table holds those rows by their tools, and questions with what their answers are like.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

IS_SO: Mapping[str, Callable[[str, str], bool]] = {
    "is": str.__eq__,
    "is not": str.__ne__,
    "begins": str.startswith,
    "does not begin": lambda told, part: not told.startswith(part),
    "ends": str.endswith,
    "does not end": lambda told, part: not told.endswith(part),
    "has": str.__contains__,
    "lacks": lambda told, part: part not in told,
}


def otherwise(told: str, like: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return what an answer is not of what it shall be."""
    return [
        f"{how} {part!r}: {told}"
        for how, parts in like.items()
        for part in ([parts] if isinstance(parts, str) else parts)
        if not IS_SO[how](told, part)
    ]


@with_cases("charts")
def test_rows_say(charts: Sequence[Mapping[str, Any]]) -> None:
    for chart in charts:
        rows = {tool: tuple(row(**one) for one in them) for tool, them in chart["rows"].items()}
        for text, like in chart["says"]:
            assert otherwise(said(text, rows), like) == [], text
