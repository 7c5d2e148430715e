"""`timeline`: the course in order of time, of the kinds that are asked for."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial

from data_models.chart_view import ChartView, ViewRow
from services.records.concepts.words import phrase_of
from services.records.resources.dates import is_within
from services.records.resources.entry import instant
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import BILLS
from services.records.rows.measurements import kind_of, rows_of_observation, series_of
from services.records.rows.medications import drugs_of, row_of_drug
from services.records.rows.row_table import KIND_OF_ROW
from services.records.rows.rows import row_of
from services.records.views.lists import problem_rows
from services.records.views.papers import row_of_document
from services.records.views.view import not_shown, view_of

SHOWN = 200
EARLIER = "earlier events"
LEFT_TO_OTHERS = frozenset([
    "laboratory", "vital sign", "survey", "social history", "encounter", "laboratory report",
    "immunization", "coverage", "related person", "specimen", "care team", "questionnaire",
])  # fmt: skip
"""Kinds that a timeline shows only when they are asked for; other tools list them."""
_OF_A_SPAN = frozenset({"encounter", "immunization", "laboratory report"})
"""Of these, what happened in a span of days: few, and of a whole life too many."""

_KINDS = {kind: row for kind, row in KIND_OF_ROW.items()
          if kind not in (*BILLS, "Condition") and row != "medication"}  # fmt: skip
_Event = tuple[str, str, str, Callable[[], Sequence[ViewRow]]]


def course(
    record: PatientRecord,
    *,
    today: date,
    since: date | None = None,
    until: date | None = None,
    kinds: Sequence[str] = (),
    limit: int = SHOWN,
) -> ChartView:
    """Return what happened between `since` and `until`, oldest first, undated last.

    Args:
        kinds: `problem`, `medication`, `procedure`, `imaging`, `note`, `laboratory` … or `all`.
        limit: The newest are kept.
    """
    drugs = (row_of_drug(record, drug, today) for drug in drugs_of(record))
    taken = (("medication", row.date, instant(row.date), _ready(row)) for row in drugs)
    events = [*taken, *events_of(record)]
    wanted = [phrase_of(kind) for kind in kinds]
    left_to_others = LEFT_TO_OTHERS - (_OF_A_SPAN if since or until else frozenset())
    every = [event for event in events if is_within(event[1], since, until)]
    kinds_asked = {
        kind
        for kind in {event[0] for event in every}
        if (_is_asked(kind, wanted) if wanted else kind not in left_to_others)
    }
    inside = [event for event in every if event[0] in kinds_asked]
    inside.sort(key=lambda event: (event[2] == "", event[2]))
    dated = [event for event in inside if event[2]]
    undated = [event for event in inside if not event[2]]
    kept = [*dated[max(0, len(dated) - limit) :], *undated[:limit]]
    rows = [row for event in kept for row in event[3]()]
    others = Counter(kind for kind, *_ in every if kind not in kinds_asked)
    bringing = f"until={kept[0][1][:10]}" if kept else "until"
    left_out = [
        not_shown(len(dated) - min(len(dated), limit), EARLIER, bringing),
        *(not_shown(others[kind], f"of kind {kind}", f"kinds=[{kind}]") for kind in sorted(others)),
    ]
    return view_of(
        record,
        "timeline",
        "Timeline",
        rows,
        kind="timeline",
        left_out=left_out,
        nothing="The record holds nothing of that time and kind.",
    )


def events_of(record: PatientRecord) -> tuple[_Event, ...]:
    """Return all events but those of drugs, which depend on the day; made once for a record."""
    return record.derived(_fixed_events)


def _fixed_events(record: PatientRecord) -> tuple[_Event, ...]:
    series_of(record)
    return tuple(_events(record))


def _events(record: PatientRecord) -> Iterator[_Event]:
    for row in problem_rows(record):
        yield row.kind, row.date, instant(row.date), _ready(row)
    for document in record.documents:
        when = record.entries[document.ref].date
        yield document.kind, when, instant(when), _later(record, row_of_document, document)
    for entry in record.entries_of("Observation"):
        rows = partial(rows_of_observation, record, entry)
        yield kind_of(entry), entry.date, instant(entry.date), rows
    for entry in record.entries_of(*_KINDS):
        yield _KINDS[entry.kind], entry.date, instant(entry.date), _later(record, row_of, entry)


def _ready(row: ViewRow) -> Callable[[], Sequence[ViewRow]]:
    return lambda: (row,)


def _later(
    record: PatientRecord, make: Callable[..., ViewRow], thing: object
) -> Callable[[], Sequence[ViewRow]]:
    return lambda: (make(record, thing),)


def _is_asked(kind: str, wanted: Sequence[str]) -> bool:
    own = phrase_of(kind)
    return "all" in wanted or any(one == own or one in own.split() or own in one for one in wanted)
