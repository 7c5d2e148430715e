"""`problems`: what the patient has and had, each once, with all its sources."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.records.concepts.words import phrase_of
from services.records.resources.record import PatientRecord
from services.records.rows.rows import row_of
from services.records.views.view import newest_first, not_shown, view_of

ProblemStatus: TypeAlias = Literal["active", "resolved", "all"]

_EARLIER_SHOWN = 20
ACTIVE = frozenset({"active", "recurrence", "relapse"})


def problems(record: PatientRecord, *, status: ProblemStatus = "active") -> ChartView:
    """Return problems, active ones first, and diagnoses of single visits apart from them."""
    rows = problem_rows(record)
    active = [row for row in rows if row.status in ACTIVE]
    active.sort(key=lambda row: row.kind != "problem")
    rest = [row for row in rows if row.status not in ACTIVE]
    shown, left_out = [*active, *rest], LeftOut(count=0, what="")
    if status == "resolved":
        shown = rest
        left_out = not_shown(len(active), "active problems", "status=active")
    elif status == "active":
        shown = active
        left_out = not_shown(len(rest), "inactive and resolved problems", "status=all")
    none = "No problem or diagnosis is recorded."
    return view_of(
        record, "problems", "Problems", shown, kind="facts", left_out=[left_out],
        nothing=none if not rows else f"No {status} problem is recorded.",
    )  # fmt: skip


def problem_rows(record: PatientRecord) -> tuple[ViewRow, ...]:
    """Return every problem once, the newest first."""
    return record.derived(_rows)


def _rows(record: PatientRecord) -> tuple[ViewRow, ...]:
    rows = newest_first(row_of(record, entry) for entry in record.entries_of("Condition"))
    return tuple(newest_first(_merged(group) for group in _grouped(rows)))


def _grouped(rows: Iterable[ViewRow]) -> list[list[ViewRow]]:
    """Put together what has the same code or name, and is both active or both not."""
    groups: list[list[ViewRow]] = []
    by_key: dict[tuple[str, bool], list[ViewRow]] = {}
    for row in rows:
        is_active = row.status in ACTIVE
        keys = [(key, is_active) for key in (phrase_of(row.name), *row.code)]
        group = next((by_key[key] for key in keys if key in by_key), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(row)
        for key in keys:
            by_key.setdefault(key, group)
    return groups


def _merged(group: list[ViewRow]) -> ViewRow:
    """Return one row with what the newest entry says: what is active since its first onset.

    What is over was not there between two times of it: only the days of the last are told as one.
    """
    newest = group[0]
    is_active = newest.status in ACTIVE
    listed = any(row.kind == "problem" for row in group)
    dates = sorted(row.date for row in group if row.date)
    earlier = sorted(_days(row) for row in group if row.date)[:-1][::-1]
    ends = sorted(row.end for row in group if row.end)
    times = f"recorded {len(group)} times, last {newest.date[:10]}" if len(group) > 1 else ""
    before = ", ".join(earlier[:_EARLIER_SHOWN])
    times += f", before {before}" if times and before else ""
    details = dict.fromkeys(row.detail for row in group if row.detail)
    return newest.model_copy(
        update={
            "kind": "problem" if listed else newest.kind,
            "date": dates[0] if dates and is_active else newest.date,
            "end": (ends[-1] if ends else "") if is_active else newest.end,
            "detail": "; ".join(filter(None, [*details, times])),
            "code": tuple(dict.fromkeys(pair for row in group for pair in row.code)),
            "sources": tuple(ref for row in group for ref in row.sources),
        }
    )


def _days(row: ViewRow) -> str:
    """Return the days of one time of what was over again: 2014-11-22–2015-06-20."""
    return f"{row.date[:10]}–{row.end[:10]}" if row.end[:10] > row.date[:10] else row.date[:10]
