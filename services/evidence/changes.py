"""What differs between two states of a chart, as rows: new, changed, ended, resulted. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Literal, NamedTuple, TypeAlias

from data_models.chart_view import ChartView, ViewRow
from services.evidence.chart_states import PATIENT, RESULT_KINDS, ChartStates, state_of
from services.records.resources.dates import is_within
from services.records.resources.entry import Entry, end_of, label, one, text
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import BILLS
from services.records.views.course import course
from services.records.views.view import view_of

TOOL = "changes"
Change: TypeAlias = Literal["new", "changed", "ended", "resulted", "gone", "cannot compare"]
ORDER: tuple[Change, ...] = ("resulted", "new", "changed", "ended", "gone", "cannot compare")
"""As a reader needs them."""
_SAID = {"gone": "no longer in the record"}
_EVERY_ROW = 1_000_000
_STARTS = ("issued", "recordedDate", "authoredOn", "recorded", "dateAsserted", "created")
_ENDS = ("abatementDateTime",)
_PERIODS = ("abatementPeriod", "period", "effectivePeriod", "performedPeriod", "timingPeriod")
FIRST_LOOK = (
    "You have not looked at this chart before, so there is nothing to compare with. "
    "With a day I can tell what is new: what is new since 1 May?"
)


class Changed(NamedTuple):
    """One resource and what became of it."""

    ref: str
    change: Change


def changed_between(before: ChartStates, after: ChartStates) -> list[Changed]:
    """Return what changed, by kind of change; what could not be read is never called a change.

    A row set that was not whole proves no absence: what is there now may have been there before.
    """
    unread = {*before.unread, *after.unread}
    found = list[Changed]()
    for ref, row in after.rows.items():
        old = before.rows.get(ref)
        if ref in unread:
            continue
        if old is None:
            found += [] if before.incomplete else [Changed(ref, "new")]
        elif (change := _between(old.state, row.state, is_same=old.hash == row.hash)) is not None:
            found.append(Changed(ref, change))
    if not after.incomplete:
        gone = (ref for ref in before.rows if ref not in after.rows and ref not in unread)
        found += [Changed(ref, "gone") for ref in gone]
    found += [Changed(ref, "cannot compare") for ref in sorted(unread)]
    return sorted(found, key=lambda one: ORDER.index(one.change))


def _between(old: str, new: str, *, is_same: bool) -> Change | None:
    if old == "pending" and new == "final":
        return "resulted"
    if old != "over" and new == "over":
        return "ended"
    return None if is_same else "changed"


def changes_view(
    record: PatientRecord, before: ChartStates | None, after: ChartStates
) -> ChartView:
    """Return what changed since `before`; None: nobody looked before."""
    if before is None:
        return view_of(record, TOOL, "Changes since you last looked", [], nothing=FIRST_LOOK)
    when = said_time(before.taken_at)
    rows = _rows(record, changed_between(before, after), after.taken_at.date())
    return view_of(
        record,
        TOOL,
        f"Changes since you last looked ({when})",
        rows,
        nothing=f"Nothing in the chart changed since you last looked ({when}).",
        notes=_notes(before, after),
    )


def changes_of_days(
    record: PatientRecord, *, since: date | None, until: date | None, today: date
) -> ChartView:
    """Return what began, resulted or ended within some days, by the dates of the record."""
    told = [entry for entry in record.entries.values() if entry.kind not in BILLS]
    dated = [_within(entry, since, until or today) for entry in told]
    found = [one for one in dated if one is not None]
    undated = sum(not _dates(entry) for entry in record.entries.values())
    span = " ".join(
        filter(None, [f"since {since}" if since else "", f"until {until}" * bool(until)])
    )
    noun = "entry without a date" if undated == 1 else "entries without a date"
    return view_of(
        record,
        TOOL,
        f"Changes {span}",
        _rows(record, sorted(found, key=lambda one: ORDER.index(one.change)), today),
        nothing=f"The record dates nothing new {span}.",
        notes=[f"{undated} {noun}: cannot compare"] if undated else [],
    )


def _within(entry: Entry, since: date | None, until: date) -> Changed | None:
    state = state_of(entry, until)
    if any(is_within(said, since, until) for said in _dates(entry)):
        is_resulted = entry.kind in RESULT_KINDS and state == "final"
        is_late = not is_within(entry.date, since, until)
        return Changed(entry.ref, "resulted" if is_resulted and is_late else "new")
    ends = [text(entry.raw, name) for name in _ENDS] + [end_of(entry.raw, *_PERIODS)]
    if any(is_within(said, since, until) for said in ends):
        return Changed(entry.ref, "ended")
    return None


def _dates(entry: Entry) -> list[str]:
    return [said for said in (entry.date, *(text(entry.raw, name) for name in _STARTS)) if said]


def _rows(record: PatientRecord, changed: Sequence[Changed], today: date) -> list[ViewRow]:
    by_ref = rows_by_ref(record, today) if changed else {}
    rows = [_row(record, one, by_ref) for one in changed]
    return list(
        {(row.sources, row.name, row.status, row.value, row.date): row for row in rows}.values()
    )


def _row(record: PatientRecord, one_: Changed, by_ref: Mapping[str, ViewRow]) -> ViewRow:
    said = _SAID.get(one_.change, one_.change)
    ref = f"{PATIENT}/{record.patient.id}" if one_.ref == PATIENT else one_.ref
    if one_.change in ("gone", "cannot compare"):
        return ViewRow(kind="change", name=ref, status=said)
    row = by_ref.get(ref) or _plain_row(record, ref)
    status = f"{said} ({row.status})" if row.status else said
    return row.model_copy(update={"status": status})


def _plain_row(record: PatientRecord, ref: str) -> ViewRow:
    if (entry := record.entries.get(ref)) is None:
        death = record.patient.deceased_date_time or record.patient.deceased_boolean
        detail = f"deceased: {death}" if death else "name, numbers, address or contacts"
        return ViewRow(kind="personal", name="Person's own data", detail=detail, sources=(ref,))
    name = label(one(entry.raw, "code")) or text(entry.raw, "title") or entry.kind
    return ViewRow(kind="change", name=name, date=entry.date, status=entry.status, sources=(ref,))


def rows_by_ref(record: PatientRecord, today: date) -> dict[str, ViewRow]:
    """Return a row for each resource; of several parts the one row that names all of them."""
    found: dict[str, list[ViewRow]] = {}
    for row in course(record, today=today, kinds=["all"], limit=_EVERY_ROW).rows:
        for ref in row.sources:
            found.setdefault(ref, []).append(row)
    return {ref: _joined(ref, rows) for ref, rows in found.items()}


def _joined(ref: str, rows: Sequence[ViewRow]) -> ViewRow:
    own = [row for row in rows if row.sources[0] == ref] or list(rows)
    others = "; ".join(f"{row.name} {row.value} {row.unit}".strip() for row in own[1:])
    detail = "; ".join(filter(None, [own[0].detail, others]))
    return own[0].model_copy(update={"detail": detail, "sources": (ref,)})


def _notes(before: ChartStates, after: ChartStates) -> Iterator[str]:
    if before.incomplete:
        yield f"cannot compare what is new: the last look was at a part only ({before.incomplete})"
    if after.incomplete:
        yield f"cannot compare what is gone: a part only can be read ({after.incomplete})"


def line_of(before: ChartStates, after: ChartStates) -> str:
    """Return the one line that opens a chart."""
    counts = Counter(one.change for one in changed_between(before, after))
    when = said_time(before.taken_at)
    said = [f"{counts[name]} {_SAID.get(name, name)}" for name in ORDER[:-1] if counts[name]]
    if counts["cannot compare"] or before.incomplete or after.incomplete:
        said.append("some of it cannot be compared")
    return f"Since you last looked ({when}): {', '.join(said) or 'nothing changed'}."


def said_time(at: datetime) -> str:
    """Return a time for people."""
    return f"{at:%Y-%m-%d %H:%M} UTC"
