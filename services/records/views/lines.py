"""A view as lines, the way a model reads it, within a budget that cuts nothing active."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.records.resources.entry import CODES
from services.records.resources.values import with_unit
from services.records.views.lists import ACTIVE

SOURCES_SHOWN = 2
_HEADED = frozenset({"chart_summary", "care", "history", "encounters", "problems"})
_MIXED = frozenset({"timeline", "search_record", "chart_summary"})
_SHARES = (0.95, 0.8, 0.6, 0.4, 0.2)
_REMARKS_SHOWN = 14


class Told(NamedTuple):
    """A view as a model gets it.

    Attributes:
        is_count: It is only how many rows there are, because even the active ones do not fit: the
            rows must be shown to the user.
    """

    text: str
    is_count: bool = False


def told(view: ChartView, *, limit_chars: int) -> Told:
    """Return the view as text of at most about `limit_chars`.

    What is old or resolved goes first, and what goes is counted with the argument that brings
    it. Allergies, active problems and drugs taken now stay: they shrink to name, dose and source,
    and where even these do not fit, the text says how many there are and that the user sees them.
    """
    whole = _text(view, view.rows, [])
    if len(whole) <= limit_chars:
        return Told(whole)
    kept, gone = list(view.rows), list[LeftOut]()
    for share in _SHARES:
        kept, gone = _cut(view, int(limit_chars * share))
        text = _text(view, kept, gone)
        if len(text) <= limit_chars:
            return Told(text)
    brief = [_brief(row) for row in kept]
    text = _text(view, brief, gone)
    if len(text) <= limit_chars:
        return Told(text)
    counts = Counter(row.kind for row in view.rows)
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    count = f"{said}: too many to show here; the whole list is shown to the user."
    return Told(f"{view.title}\n{count}", is_count=True)


def must_stay(row: ViewRow) -> bool:
    """Return whether a row is never cut: an allergy, an active problem, a drug taken now."""
    if row.kind in ("allergy", "no known allergy"):
        return row.status in ("", "active")
    if row.kind in ("problem", "encounter diagnosis"):
        return row.status in ACTIVE
    return row.kind == "medication" and row.status == "active"


def line_of(row: ViewRow, *, with_time: bool = False, says_active: bool = False) -> str:
    """Return `date  name  value unit (range) flag  [Type/id]`."""
    value = with_unit(row.value, row.unit)
    parts = [
        _date(row, with_time=with_time),
        row.name,
        f"{value} ({row.range})" if row.range and value else value,
        row.flag.upper() if row.flag == "critical" else row.flag,
        f"until {row.end[:10]}" if row.end and row.end[:10] != row.date[:10] else "",
        row.status if row.status not in _USUAL or (says_active and row.status == "active") else "",
        row.detail.replace(f"; {row.name.upper()} ", "; "),  # a report's text begins with its name
        _sources([ref for ref in row.sources if f"[{ref}]" not in row.detail] or row.sources[:1]),
    ]
    return "  ".join(" ".join(part.split()) for part in parts if part)


# A birth date is no date of a finding.
_WITHOUT_DATE = frozenset({"patient"})
_USUAL = frozenset({"", "active", "final", "completed", "finished", "current", "available",
                    "confirmed"})  # fmt: skip


def _date(row: ViewRow, *, with_time: bool) -> str:
    if row.kind in _WITHOUT_DATE:
        return ""
    if not row.date:
        return "undated"
    if with_time and "T" in row.date:
        return row.date[:16].replace("T", " ")
    return row.date[:10]


def _sources(refs: Sequence[str]) -> str:
    shown = "".join(f"[{ref}]" for ref in refs[:SOURCES_SHOWN])
    more = len(refs) - SOURCES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _text(view: ChartView, rows: Sequence[ViewRow], gone: Iterable[LeftOut]) -> str:
    lines = [view.title]
    if not rows and view.nothing:
        lines.append(view.nothing)
    lines += _passages(rows) if view.tool == "read_document" else _row_lines(view, rows)
    cut = (
        (f"{one.count} {one.what} are not shown", one.argument) for one in (*gone, *view.left_out)
    )
    lines += _some([f"({'; to see them: '.join(filter(None, each))})" for each in cut])
    lines += _some([f"Note: {note}" for note in view.notes])
    return "\n".join(lines)


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - _REMARKS_SHOWN
    return lines if more <= 0 else [*lines[:_REMARKS_SHOWN], f"(and {more} more of these)"]


def _row_lines(view: ChartView, rows: Sequence[ViewRow]) -> list[str]:
    rows = _with_studies(rows)
    same_day = Counter((row.name, row.date[:10]) for row in rows)
    is_mixed = view.tool in _MIXED or any(not must_stay(row) for row in rows if row.status)
    lines = list[str]()
    heading = ""
    for row in rows:
        if view.tool in _HEADED and row.kind != heading:
            heading = row.kind
            lines.append(f"{heading}:")
        with_time = same_day[row.name, row.date[:10]] > 1
        lines.append(line_of(row, with_time=with_time, says_active=is_mixed))
    return lines


def _with_studies(rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return rows with each imaging study told in the line of its report, where both are there."""
    place_of = {row.sources[0]: place for place, row in enumerate(rows) if row.sources}
    found: list[ViewRow | None] = list(rows)
    for place, study in enumerate(rows):
        at = [place_of[ref] for ref in study.sources[1:] if ref in place_of]
        report = found[at[0]] if study.kind == "imaging study" and at else None
        if report is None or (report.name, report.date) != (study.name, study.date):
            continue
        value = "" if study.value in report.detail else study.value
        told = [report.detail, value, study.detail]
        sources = (*report.sources, study.sources[0])
        detail = "; ".join(part.removesuffix(";") for part in told if part)
        found[at[0]] = report.model_copy(update={"detail": detail, "sources": sources})
        found[place] = None
    return [row for row in found if row is not None]


def _passages(rows: Sequence[ViewRow]) -> list[str]:
    """A document keeps its own lines."""
    lines = list[str]()
    for row in rows:
        if row.number is None and row.detail:
            head = row.model_copy(update={"detail": ""})
            lines += [line_of(head), row.detail]
        else:
            lines.append(line_of(row))
    return lines


def _cut(view: ChartView, room: int) -> tuple[list[ViewRow], list[LeftOut]]:
    """Drop the least needed rows until the rest fits; those that must stay are not touched."""
    kept = list(view.rows)
    dropped: list[ViewRow] = []
    # Resolved ones go before others, old ones before new ones.
    rows = [row for row in view.rows if not must_stay(row)]
    newest_last = view.kind == "timeline"
    ordered = rows if newest_last else list(reversed(rows))
    order = sorted(ordered, key=lambda row: row.status not in _OVER)
    lengths = {id(row): len(line_of(row, with_time=True)) + 1 for row in view.rows}
    size = len(_text(view, (), [])) + sum(lengths.values())
    for row in order:
        if size <= room:
            break
        size -= lengths[id(row)]
        dropped.append(row)
    gone = {id(row) for row in dropped}
    kept = [row for row in kept if id(row) not in gone]
    counts = Counter(row.kind or "rows" for row in dropped)
    return kept, [
        LeftOut(count=count, what=f"more: {kind}", argument=_argument(view, kind))
        for kind, count in counts.items()
    ]


_OVER = frozenset({"resolved", "inactive", "remission", "stopped", "completed", "ended",
                   "cancelled", "revoked", "superseded"})  # fmt: skip


def _argument(view: ChartView, kind: str) -> str:
    if view.tool == "chart_summary":
        others = "documents" if "report" in kind else "care"
        return f"the tool {CODES['tool_of_kind'].get(kind, others)}"
    return CODES["brings"].get(view.tool, "")


def _brief(row: ViewRow) -> ViewRow:
    """Return name, dose and newest source of a row."""
    if not must_stay(row):
        return row
    return ViewRow(
        kind=row.kind, name=row.name, value=row.value, unit=row.unit, status=row.status,
        sources=row.sources[:1], date=row.date,
    )  # fmt: skip
