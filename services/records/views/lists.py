"""Lists of one kind: problems, allergies, immunizations, procedures, encounters, care, history."""

from collections.abc import Iterable
from datetime import date
from typing import Literal, TypeAlias

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.records.concepts import table
from services.records.concepts.words import phrase_of, words_of
from services.records.resources.dates import is_within
from services.records.resources.entry import Entry, end_of, instant
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import BILLS
from services.records.resources.standing import is_directive
from services.records.rows.finding import means
from services.records.rows.measurements import row_of_part, series_of
from services.records.rows.rows import row_of
from services.records.views.needs import CARED_FOR
from services.records.views.papers import row_of_directive
from services.records.views.person import personal_rows
from services.records.views.view import newest_first, not_shown, view_of
from services.records.visits import NOT_MEANT

# `problems`: what the patient has and had, each once, with all its sources.

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


SOCIAL_SHOWN = 5
"""Values of each thing; older ones are told by `results`."""
_OPERATIONS = frozenset({("surgery",), ("operation",)})
_NOT_GIVEN = frozenset({"not-done"})


def allergies(record: PatientRecord) -> ChartView:
    """Return allergies and intolerances, active ones first; a recorded "none known" is a row."""
    entries = record.entries_of("AllergyIntolerance")
    rows = newest_first(row_of(record, entry) for entry in entries)
    rows.sort(key=lambda row: row.status != "active")
    notes = []
    kinds = {row.kind for row in rows if row.status == "active"}
    if kinds == {"allergy", "no known allergy"}:
        notes.append("the record states allergies and also that none is known: clarify")
    nothing = "Nothing is recorded about allergies; that is not a statement that there are none."
    return view_of(
        record, "allergies", "Allergies", rows, kind="facts", nothing=nothing, notes=notes
    )


def immunizations(record: PatientRecord, *, name: str | None = None) -> ChartView:
    """Return vaccinations, the newest first."""
    rows = newest_first(row_of(record, entry) for entry in record.entries_of("Immunization"))
    total = len(rows)
    if name:
        rows = [row for row in rows if means("vaccine", name, label=row.name, codes=row.code)]
    rows = [row.model_copy(update={"status": _given(row.status)}) for row in rows]
    nothing = "No immunization is recorded."
    if total:
        nothing = f"No immunization “{name}” in the record ({total} searched by code and name)."
    title = f"Immunizations: {name}" if name else "Immunizations"
    return view_of(record, "immunizations", title, rows, nothing=nothing)


def procedures(
    record: PatientRecord, *, name: str | None = None, since: date | None = None
) -> ChartView:
    """Return procedures, the newest first.

    Args:
        name: What was done; `operation` or `surgery` for all that may be operations, also of a
            part of the body (`knee operation`).
    """
    every = rows = newest_first(row_of(record, entry) for entry in record.entries_of("Procedure"))
    total = len(rows)
    others = 0
    if name and words_of(name) in _OPERATIONS:
        rows = [row for row in rows if is_operation(row)]
        others = total - len(rows)
    elif name:
        part = [word for word in words_of(name) if (word,) not in _OPERATIONS]
        is_any = len(part) == len(words_of(name))
        rows = [row for row in rows if is_any or is_operation(row)]
        what = name if is_any else " ".join(part)
        # What it was for tells of another thing: a biopsy for the rejection of a transplant.
        own = [row for row in rows if _is_named(row.model_copy(update={"detail": ""}), what)]
        is_for = [
            row for row in rows if not is_any and means("problem", what, label=row.detail, codes=())
        ]
        rows = [row for row in rows if row in own or row in is_for] or [
            row for row in rows if _is_named(row, what)
        ]
    kept = [row for row in rows if is_within(row.date, since, ended=row.end)]
    earlier = _before(len(rows) - len(kept))
    rows = [row.model_copy(update={"status": _given(row.status)}) for row in kept]
    nothing = "No procedure is recorded."
    if total:
        sought = f" “{name}”" if name else ""
        then = " of that time" if since is not None else ""
        nothing = f"No procedure{sought}{then} in the record ({total} searched)."
    title = f"Procedures: {name}" if name else "Procedures"
    left_out = [not_shown(others, "further procedures (no operations)", "no name"), earlier]
    return view_of(
        record, "procedures", title, rows, nothing=nothing, left_out=left_out, searched=every
    )


def encounters(
    record: PatientRecord, *, now: str, since: date | None = None, last: int | None = None
) -> ChartView:
    """Return visits and stays, the newest first, after the appointments to come.

    Args:
        now: The present moment; appointments before it have passed.
        last: How many visits.
    """
    held = record.entries_of("Encounter", "Appointment")
    ordered = sorted(held, key=lambda entry: instant(entry.date), reverse=True)
    coming = [entry for entry in reversed(ordered) if _is_to_come(entry, now)]
    done = [entry for entry in ordered if not _is_to_come(entry, now)]
    kept = [
        entry for entry in done if is_within(entry.date, since, ended=end_of(entry.raw, "period"))
    ]
    # Visits that never were are told, and count for none.
    were = [number for number, entry in enumerate(kept, 1) if entry.status not in NOT_MEANT]
    shown = kept[: were[last - 1]] if last and len(were) >= last else kept
    # Rows of those that are shown only: there may be thousands.
    rows = [row_of(record, entry) for entry in (*coming, *shown)]
    nothing = f"No encounter or appointment{' of that time' if done else ''} is recorded."
    earlier = not_shown(len(kept) - len(shown), "earlier encounters", f"last={len(kept)}")
    left_out = [earlier, _before(len(done) - len(kept))]
    return view_of(record, "encounters", "Encounters", rows, nothing=nothing, left_out=left_out)


def _is_to_come(entry: Entry, now: str) -> bool:
    return entry.kind == "Appointment" and instant(entry.date) >= instant(now)


def care(record: PatientRecord) -> ChartView:
    """Return flags, directives, plans, goals, team, devices, orders, coverage and contacts."""
    rows: list[ViewRow] = []
    for kind in (*CARED_FOR, "ExplanationOfBenefit", "Claim"):
        found = newest_first(row_of(record, entry) for entry in record.entries_of(kind))
        if kind in BILLS:
            told = [f"{one.name} {one.detail}".casefold() for one in rows if one.kind == "coverage"]
            found = [row for row in found if not any(row.name.casefold() in one for one in told)]
        rows += sorted(found, key=lambda row: row.status not in _GOING_ON)
    done = (row_of(record, entry) for entry in record.entries_of("Procedure"))
    rows += [row for row in done if row.status == "preparation"]
    papers = [one for one in record.documents if is_directive(record.entries[one.ref].raw)]
    valid = [one for one in papers if not one.is_superseded]
    rows += [row_of_directive(record, paper) for paper in valid or papers]
    # Who cares for the patient may stand in the Patient resource alone.
    rows += [row for row in personal_rows(record) if row.name in _CARING]
    nothing = "No care plan, goal, team, device, directive, flag or order is recorded."
    return view_of(record, "care", "Care", rows, nothing=nothing)


_CARING = frozenset({"general practitioner", "contact person"})
_GOING_ON = frozenset({"active", "accepted", "in-progress", "on-hold", "planned", "draft", ""})


def history(record: PatientRecord) -> ChartView:
    """Return family history and social history."""
    rows = [row_of(record, entry) for entry in record.entries_of("FamilyMemberHistory")]
    social, older = list[ViewRow](), 0
    for series in series_of(record):
        if series.kind == "social history":
            parts = series.parts[-SOCIAL_SHOWN:]
            older += len(series.parts) - len(parts)
            social += [row_of_part(record, part) for part in reversed(parts)]
    rows += newest_first(social)
    nothing = "No family or social history is recorded as such; notes may speak of it."
    argument = "the tool results with category=social history and last"
    more, title = [not_shown(older, "older values", argument)], "Family and social history"
    return view_of(record, "history", title, rows, nothing=nothing, left_out=more)


def _given(status: str) -> str:
    return "" if status == "completed" else "not done" if status in _NOT_GIVEN else status


def is_operation(row: ViewRow) -> bool:
    """Whether a procedure may be an operation: what is plainly another thing is none."""
    return not table.words_listed("not_operations") & {*words_of(row.name)}


def _is_named(row: ViewRow, name: str) -> bool:
    return any(_says(row, each) for each in table.names_of_procedure(name))


def _says(row: ViewRow, name: str) -> bool:
    wanted = _apart(name)
    have = _apart(f"{row.name} {row.detail}")
    german = {word for word in have if word.endswith(_GREEK)}  # Cholezystektomie
    have |= {word.replace("z", "c").replace("k", "c") for word in german}
    return all(
        any(_is_in(each, have) for each in (word, *table.parts_of_body(word))) for word in wanted
    )


_GREEK = ("tomy", "copy", "plasty", "graphy", "gram")
"""Ends of words in longer ones that mean another thing: cystectomy, cholecystectomy."""
_STEM_CHARS, _FIRST_PART_CHARS = 5, 3


def _is_in(word: str, have: frozenset[str]) -> bool:
    """Whether a word, or a longer one with it, is there: Nierenbiopsie; no Sectio in resection."""
    stem = word[:-1]
    if len(stem) < _STEM_CHARS:  # "chole" is short for one of many words that begin so
        return word in have
    is_part = not word.endswith(_GREEK)
    return any(
        own.startswith(stem) or (is_part and own.find(stem) >= _FIRST_PART_CHARS) for own in have
    )


def _apart(said: str) -> frozenset[str]:
    """Return the words of `said`, those of one word that others write as two apart."""
    in_two = table.rows_called("said_in_two")
    return frozenset(part for word in words_of(said) for part in in_two.get(word, (word,)))


def _before(count: int) -> LeftOut:
    return not_shown(count, "earlier or undated ones", "an earlier since")
