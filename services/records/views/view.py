"""Making a `ChartView` of rows: sources, columns, gaps."""

from collections.abc import Iterable, Sequence
from datetime import date

from data_models.chart_view import ChartView, LeftOut, ViewKind, ViewRow, ViewSource
from services.records.resources.entry import instant
from services.records.resources.record import PatientRecord
from services.records.resources.standing import FUTURE, NEVER, NOT_YET
from services.records.rows.rows import row_of

_ORDER = ("date", "end", "name", "value", "range", "flag", "status", "detail")
QUOTE_LIMIT_CHARS = 160
_OF_NOW = frozenset(
    {"problem", "encounter diagnosis", "allergy", "procedure", "immunization", "encounter",
     "laboratory", "vital sign", "survey", "social history", "imaging measurement", "exam"}
)  # fmt: skip
_NOT_SO = NEVER | NOT_YET
CODED_ONLY = "recorded by a code only, and perhaps it: "
_CODES_SHOWN = 5


def view_of(
    record: PatientRecord,
    tool: str,
    title: str,
    rows: Sequence[ViewRow],
    *,
    kind: ViewKind = "table",
    left_out: Iterable[LeftOut] = (),
    nothing: str = "",
    notes: Iterable[str] = (),
    searched: Iterable[ViewRow] = (),
) -> ChartView:
    """Return the view; what the whole record lacks is among its notes.

    Args:
        searched: Where a name was looked for; what is a code alone may be it.
    """
    notes = [*notes, *([] if rows else coded_only(searched))]
    gap = record.left_out.sentence()
    return ChartView(
        tool=tool,
        patient_id=record.patient_id,
        kind=kind,
        title=title,
        columns=tuple(name for name in _ORDER if any(row.__dict__[name] for row in rows)),
        rows=tuple(rows),
        sources=sources_of(record, rows),
        left_out=tuple(row for row in left_out if row.count > 0),
        nothing=nothing if not rows else "",
        notes=(*notes, *([gap] if gap else [])),
    )


def not_shown(count: int, what: str, argument: str) -> LeftOut:
    """Return what is said of rows that are left out, and what brings them."""
    return LeftOut(count=count, what=what, argument=argument)


def sources_of(record: PatientRecord, rows: Iterable[ViewRow]) -> tuple[ViewSource, ...]:
    """Return every source that rows stand on, each once."""
    found: dict[str, ViewSource] = {}
    for row in rows:
        for ref in row.sources:
            entry = record.entries.get(ref)
            date = entry.date if entry is not None else row.date
            if ref not in found:
                found[ref] = ViewSource(ref=ref, date=date[:10] or None, title=row.name)
    return tuple(found.values())


def quoted(view: ChartView) -> ChartView:
    """Return the view with the words of its rows beside the sources that they stand in."""
    quotes = {row.sources[0]: row.detail for row in reversed(view.rows) if row.sources}
    sources = (
        source.model_copy(update={"quote": quotes.get(source.ref, "")[:QUOTE_LIMIT_CHARS] or None})
        for source in view.sources
    )
    return view.model_copy(update={"sources": tuple(sources)})


def with_future_marked(view: ChartView, today: date) -> ChartView:
    """Return the view; what is told as done, measured or ill on a day to come says so."""
    rows = (
        row.model_copy(update={"status": FUTURE})
        if row.date[:10] > today.isoformat() and row.kind in _OF_NOW and row.status not in _NOT_SO
        else row
        for row in view.rows
    )
    return view.model_copy(update={"rows": tuple(rows)})


def coded_only(rows: Iterable[ViewRow]) -> list[str]:
    """Return a note on what no name finds, as it is recorded by a code that nobody here knows."""
    bare = [row.name for row in rows if any(pair.endswith(f"|{row.name}") for pair in row.code)]
    return [f"{CODED_ONLY}{', '.join(dict.fromkeys(bare[:_CODES_SHOWN]))}"] if bare else []


def with_refuted(record: PatientRecord, view: ChartView, kind: str) -> ChartView:
    """Return the view with what was thought and is not so behind the rest, for who asks for it."""
    found = (each for each in record.refuted.values() if each.kind == kind)
    rows = (*view.rows, *newest_first(row_of(record, each) for each in found))
    made = {"rows": rows, "sources": sources_of(record, rows)}
    return view.model_copy(update=made | ({"nothing": ""} if rows else {}))


def newest_first(rows: Iterable[ViewRow]) -> list[ViewRow]:
    """Return the rows, the newest first, undated last."""
    return sorted(rows, key=lambda row: instant(row.date), reverse=True)
