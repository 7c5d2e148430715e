"""`medications`: what the patient takes, and what has ended."""

from datetime import date
from typing import Literal, TypeAlias

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.records.concepts.table import class_taken_for, concept_table
from services.records.resources.record import PatientRecord
from services.records.rows.finding import means
from services.records.rows.medications import drugs_of, row_of_drug, stated_absences
from services.records.views.view import coded_only, not_shown, view_of

MedicationStatus: TypeAlias = Literal["now", "stopped", "all"]
_FOR = "for "
_PAUSED = "on-hold"


def medications(
    record: PatientRecord, *, today: date, status: MedicationStatus = "now", name: str | None = None
) -> ChartView:
    """Return one row for each drug, those taken now first; asked for by name, ended ones too.

    What is paused stands behind what is taken now: whoever lists drugs has to know of it.

    Args:
        today: A course with an end before it has ended.
        status: `now`, `stopped` (whatever is not taken now) or `all`.
        name: A drug, a brand, a class such as `anticoagulant`, or what drugs are taken for.
    """
    every = [row_of_drug(record, drug, today) for drug in drugs_of(record)]
    rows = _named(every, name) if name else every
    now = [row for row in rows if row.status == "active"]
    ended = [row for row in rows if row.status != "active"]
    shown, left_out = _chosen(now, ended, status=status, named=bool(name))
    shown += [] if name or status == "stopped" else stated_absences(record)
    title = {"now": "Medications now", "stopped": "Medications not taken now"}.get(
        status, "Medications"
    )
    return view_of(
        record,
        "medications",
        f"{title}: {name}" if name else title,
        shown,
        kind="facts",
        left_out=left_out,
        nothing=_nothing(record, name, status),
        # What is taken by a code alone may be it, whatever of the name has ended.
        notes=(
            *_notes(now, ended, status=status, name=name),
            *coded_only(every if name and not now else ()),
        ),
    )


def _named(rows: list[ViewRow], name: str) -> list[ViewRow]:
    """Return the drugs of that name; where no drug is called so, those that are taken for it."""
    kind = class_taken_for(name)
    found = [row for row in rows if means("drug", kind or name, label=row.name, codes=row.code)]
    if found and not kind:
        return found
    return [
        row
        for row in rows
        if row in found
        or any(means("problem", name, label=reason, codes=()) for reason in _reasons(row))
    ]


def _reasons(row: ViewRow) -> list[str]:
    """Return what the drug of a row is taken for, as its order says."""
    parts = row.detail.split("; ")
    said = [part.removeprefix(_FOR) for part in parts if part.startswith(_FOR)]
    return [reason for each in said for reason in each.split(", ")]


def _chosen(
    now: list[ViewRow], ended: list[ViewRow], *, status: MedicationStatus, named: bool
) -> tuple[list[ViewRow], list[LeftOut]]:
    if status == "all" or (named and not (now if status == "now" else ended)):
        return [*now, *ended], []  # whether it was ever taken or stopped is what is asked then
    if status == "stopped":
        return ended, [not_shown(len(now), "drugs taken now", "status=now")]
    paused = [row for row in ended if row.status == _PAUSED and not named]
    return [*now, *paused], _left_out([row for row in ended if row not in paused])


def _notes(
    now: list[ViewRow], ended: list[ViewRow], *, status: MedicationStatus, name: str | None
) -> list[str]:
    said = f" of “{name}”" if name else ""
    if status == "now" and name and not now and ended:
        return [f"none{said} is taken now; these are not taken now"]
    if status == "stopped" and name and now and not ended:
        return [f"none{said} is recorded as stopped; these are taken now"]
    if status == "now" and not name and not now:
        return ["no drug is recorded as taken now"]
    return []


def _left_out(ended: list[ViewRow]) -> list[LeftOut]:
    paused = sum(row.status in ("on-hold", "unknown", "status not recorded") for row in ended)
    return [
        not_shown(paused, "drugs on hold or of unknown status", "status=stopped"),
        not_shown(len(ended) - paused, "drugs not taken now", "status=stopped"),
    ]


def _nothing(record: PatientRecord, name: str | None, status: str) -> str:
    count = len(drugs_of(record))
    if name:
        if class_taken_for(name):
            said = f"No drug that is taken for “{name}” in the record"
            return f"{said} ({count} drugs searched by class and by the reason recorded)."
        searched = f"No drug “{name}” in the record ({count} drugs searched"
        if concept_table().named("drug", name) is None:
            return f"{searched} by name; what else it is called, and its class, is not known here)."
        return f"{searched} by code, class and name)."
    if count:
        return f"No drug is recorded as {'stopped' if status == 'stopped' else 'taken now'}."
    return "No medication is recorded; that is not a statement that none is taken."
