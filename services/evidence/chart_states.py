"""A chart as hashes: enough to say later what changed in it, and nothing to read. Pure."""

import hashlib
import json
from datetime import date, datetime
from typing import Literal, TypeAlias

from pydantic import AwareDatetime

from data_models.values import Value
from services.records.resources.dates import last_day
from services.records.resources.entry import Entry, Raw, codes, end_of, one, text
from services.records.resources.record import PatientRecord

RowState: TypeAlias = Literal["pending", "final", "going on", "over"]
RESULT_KINDS = frozenset(
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
PATIENT = "Patient"


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
    return {PATIENT: _digest(person)} | {
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
    if entry.kind in RESULT_KINDS:
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
