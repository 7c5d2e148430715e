"""A chart as hashes, and what differs between two states of it, as rows. Pure.

The hashes are enough to say later what changed, and nothing to read.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Literal, NamedTuple, TypeAlias

from pydantic import AwareDatetime

from data_models.chart_view import ChartView, ViewRow
from data_models.values import Value
from services.records.resources.dates import is_within, last_day
from services.records.resources.entry import Entry, Raw, codes, end_of, label, one, text
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import BILLS
from services.records.views.course import course
from services.records.views.view import view_of

RowState: TypeAlias = Literal["pending", "final", "going on", "over"]
_RESULT_KINDS = frozenset(
    {"Observation", "DiagnosticReport", "DocumentReference", "ImagingStudy", "ServiceRequest",
     "Specimen", "QuestionnaireResponse"}
)  # fmt: skip
"""Types that wait for a result; the others go on and end."""
_PENDING = frozenset(
    {"registered", "preliminary", "partial", "in-progress", "requested", "received", "draft",
     "pending"}
)  # fmt: skip
_ORDERED = frozenset({"active", "on-hold", "draft"})
_NO_RESULT = frozenset({"revoked", "cancelled", "stopped", "not-done", "entered-in-error"})
_OVER = frozenset(
    {"completed", "stopped", "resolved", "inactive", "remission", "ended", "cancelled", "revoked",
     "finished", "fulfilled", "noshow", "not-done", "abandoned", "superseded"}
)  # fmt: skip
_PERIODS = (
    "abatementPeriod", "onsetPeriod", "period", "effectivePeriod", "performedPeriod",
    "timingPeriod",
)  # fmt: skip
_NOT_CONTENT = frozenset({"meta", "text"})
_HASH_CHARS = 16
_PATIENT = "Patient"


class RowHash(Value):
    """One resource: what it is hashed to, and where it stands."""

    hash: str
    state: RowState


class ChartStates(Value):
    """A chart at one time: ids, hashes and states only.

    Attributes:
        rows: By source id.
        unread: Source ids of what could not be read then.
        incomplete: Why a row that is missing here may have been in the chart; "" if it was whole.
    """

    taken_at: AwareDatetime
    rows: dict[str, RowHash]
    unread: tuple[str, ...] = ()
    incomplete: str = ""


def chart_states(record: PatientRecord, *, at: datetime) -> ChartStates:
    """Return the chart as it is `at`; its texts do not count, nor who stored it when."""
    today = at.date()
    rows = {
        ref: RowHash(hash=digest, state=_state(record, ref, today))
        for ref, digest in record.derived(_hashes).items()
    }
    gone = record.left_out
    reasons = [f"not offered: {kind}" for kind in gone.not_offered]
    reasons += ["cut off"] if gone.truncated else []
    reasons += ["narrowed"] if gone.narrowed else []
    unread = {why.split(": ")[0] for why in gone.unreadable}
    unread |= {
        f"{entry.kind} without an id" for entry in filter(is_unnamed, record.entries.values())
    }
    return ChartStates(
        taken_at=at, rows=rows, unread=tuple(sorted(unread)), incomplete="; ".join(reasons)
    )


def is_unnamed(entry: Entry) -> bool:
    """Whether a resource came without an id: its place alone names it, and places shift."""
    return not text(entry.raw, "id") and entry.ref.partition("/")[2].startswith("entry-")


def _hashes(record: PatientRecord) -> dict[str, str]:
    person = json.loads(record.patient.model_dump_json(exclude={"meta", "text"}))
    named = {ref: each.raw for ref, each in record.entries.items() if not is_unnamed(each)}
    return {_PATIENT: _digest(person)} | {
        ref: _digest({name: raw[name] for name in raw if name not in _NOT_CONTENT})
        for ref, raw in named.items()
    }


def _digest(content: object) -> str:
    said = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:_HASH_CHARS]


def _state(record: PatientRecord, ref: str, today: date) -> RowState:
    entry = record.entries.get(ref)
    return "going on" if entry is None else state_of(entry, today)


def state_of(entry: Entry, today: date) -> RowState:
    """Return where a resource stands on a day: one whose end has passed is over by itself."""
    status = text(entry.raw, "docStatus") or entry.status
    if entry.kind in _RESULT_KINDS:
        if status in _NO_RESULT:
            return "over"
        if entry.kind == "ServiceRequest":
            return "pending" if status in _ORDERED else "final"
        if entry.kind == "Observation" and not _has_value(entry.raw):
            return "pending"
        return "pending" if status in _PENDING else "final"
    said = {status, *codes(one(entry.raw, "clinicalStatus"))}
    said |= {text(entry.raw, "lifecycleStatus")}
    return "over" if said & _OVER or _has_ended(entry.raw, today) else "going on"


def _has_value(raw: Raw) -> bool:
    if any(name.startswith("value") for name in raw):
        return True
    return any(raw.get(name) for name in ("component", "hasMember", "dataAbsentReason"))


def _has_ended(raw: Raw, today: date) -> bool:
    ends = (text(raw, "abatementDateTime"), end_of(raw, *_PERIODS))
    days = (last_day(end[:10]) for end in ends if end)
    return any(day is not None and day < today for day in days)


TOOL = "changes"
Change: TypeAlias = Literal["new", "changed", "ended", "resulted", "gone", "cannot compare"]
ORDER: tuple[Change, ...] = ("resulted", "new", "changed", "ended", "gone", "cannot compare")
"""As a reader needs them."""
_SAID = {"gone": "no longer in the record"}
_EVERY_ROW = 1_000_000
_STARTS = ("issued", "recordedDate", "authoredOn", "recorded", "dateAsserted", "created")
_ENDS = ("abatementDateTime",)
_ENDING_PERIODS = (
    "abatementPeriod",
    "period",
    "effectivePeriod",
    "performedPeriod",
    "timingPeriod",
)
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
        is_resulted = entry.kind in _RESULT_KINDS and state == "final"
        is_late = not is_within(entry.date, since, until)
        return Changed(entry.ref, "resulted" if is_resulted and is_late else "new")
    ends = [text(entry.raw, name) for name in _ENDS] + [end_of(entry.raw, *_ENDING_PERIODS)]
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
    ref = f"{_PATIENT}/{record.patient.id}" if one_.ref == _PATIENT else one_.ref
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
