"""Rows of two charts as one table, each in its own column under both identifiers. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data_models.chart_view import ChartView, LeftOut, ViewRow

ROWS_LIMIT = 60
NOT_READ = "could not be read"
_COLUMNS = ("name", "value", "detail")
_SHOWN_CHARS = 160


@dataclass(frozen=True, slots=True)
class ChartRead:
    """What was read of one chart, by itself.

    Attributes:
        heading: Name, birth date and id: what stands over the column.
        views: One for each question, None where it could not be read.
    """

    patient_id: str
    heading: str
    views: Sequence[ChartView | None]


def side_by_side(left: ChartRead, right: ChartRead, *, view_id: str) -> ChartView:
    """Return a table of what both charts hold of the same questions, at most 60 rows.

    `value` of a row is of the left chart and `detail` of the right one; `labels` says whose. A
    row names no source: ids of two charts stand nowhere together.
    """
    rows = [row for pair in zip(left.views, right.views, strict=True) for row in _laid(*pair)]
    more = len(rows) - ROWS_LIMIT
    return ChartView(
        view_id=view_id,
        tool="compare",
        kind="table",
        title=f"{left.heading} beside {right.heading}",
        columns=_COLUMNS,
        labels=("", left.heading, right.heading),
        rows=tuple(rows[:ROWS_LIMIT]),
        left_out=(LeftOut(count=more, what="rows"),) if more > 0 else (),
        notes=tuple(_notes((left, right))),
    )


def _laid(left: ChartView | None, right: ChartView | None) -> Iterator[ViewRow]:
    title = next((one.title for one in (left, right) if one is not None), "")
    of_left, of_right = _by_name(left), _by_name(right)
    if not of_left and not of_right:
        yield _row(title, _nothing(left), _nothing(right))
        return
    for name in dict.fromkeys([*of_left, *of_right]):
        absent = NOT_READ if left is None else "–", NOT_READ if right is None else "–"
        yield _row(name, of_left.get(name, absent[0]), of_right.get(name, absent[1]))


def _by_name(view: ChartView | None) -> Mapping[str, str]:
    """Return what a view says of each thing, the newest first where it says several."""
    said: dict[str, list[str]] = {}
    for row in view.rows if view is not None else ():
        said.setdefault(row.name, []).append(_said(row))
    return {name: "; ".join(dict.fromkeys(filter(None, texts)) or ["yes"])[:_SHOWN_CHARS]
            for name, texts in said.items()}  # fmt: skip


def _said(row: ViewRow) -> str:
    value = f"{row.value} {row.unit}".strip() if row.value else row.detail
    since = row.date[:10]
    parts = (value, row.flag, row.status, f"({since})" if since else "")
    return " ".join(filter(None, parts))


def _nothing(view: ChartView | None) -> str:
    return NOT_READ if view is None else (view.nothing or "nothing in the record")


def _row(name: str, left: str, right: str) -> ViewRow:
    return ViewRow(kind="comparison", name=name, value=left, detail=right)


def _notes(charts: Iterable[ChartRead]) -> Iterator[str]:
    for one in charts:
        for view in one.views:
            if view is not None:
                yield from (f"{one.heading}: {note}" for note in view.notes)
