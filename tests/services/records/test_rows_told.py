"""What is said to a question where a record has just these rows.

A row of the table holds those rows by their tools, or the name of a chart of the same file, and
questions with what their answers are like.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.services.records.test_said_otherwise import row, said
from tests.tables import tables_beside, with_cases

CHARTS: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]] = tables_beside(Path(__file__))[
    "charts"
]
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
        if not _is_so(how, told, part)
    ]


def _is_so(how: str, told: str, part: str) -> bool:
    of_line = how.removeprefix("first line ")
    return IS_SO[of_line](told if of_line == how else told.split("\n", 1)[0], part)


@with_cases("charts")
def test_rows_say(charts: Sequence[Mapping[str, Any]]) -> None:
    for chart in charts:
        given = CHARTS[chart["rows"]] if isinstance(chart["rows"], str) else chart["rows"]
        rows = {tool: tuple(row(**one) for one in them) for tool, them in given.items()}
        for text, like in chart["says"]:
            assert otherwise(said(text, rows), like) == [], text
