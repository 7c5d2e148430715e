"""What people are shown of a round: its lists, and a card for each patient."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from pydantic import AwareDatetime, BaseModel

from data_models.chart_view import ChartView, LeftOut, ViewRow
from data_models.chat_context import AgentMessage
from data_models.identifiers import PatientId
from data_models.values import Value
from services.evidence.changes import ChartStates, changes_view, chart_states, rows_by_ref, state_of
from services.records.resources.dates import is_within
from services.records.resources.entry import Entry
from services.records.resources.record import PatientRecord
from services.records.views.demographics import Demographics, demographics
from services.records.views.lists import allergies, encounters, problems
from services.records.views.medications import medications
from services.records.views.results import results
from services.records.views.view import newest_first, view_of
from services.records.visits import goes_on
from services.rounds.round_list import Note, RoundList, RoundPatient, SignOut, State

RECENT_DAYS = 7
"""Where nobody looked before, results of so many days are to be looked at."""
_WAITS_FOR_RESULT = ("ServiceRequest", "Observation", "DiagnosticReport", "ImagingStudy")


class CardParts(Value):
    """What the chart says, by code.

    Attributes:
        open_items: What waits: orders and results that are pending.
    """

    who: Demographics
    why: ChartView
    changes: ChartView
    to_look_at: ChartView
    open_items: ChartView
    medications: ChartView
    allergies: ChartView

    @property
    def views(self) -> tuple[tuple[str, ChartView], ...]:
        """The parts by name, in the order in which a card shows them."""
        return (
            ("why", self.why),
            ("changes", self.changes),
            ("results", self.to_look_at),
            ("open", self.open_items),
            ("medications", self.medications),
            ("allergies", self.allergies),
        )


def card_parts(
    record: PatientRecord, *, now: datetime, before: ChartStates | None, keeps_looks: bool
) -> CardParts:
    """Return the parts of the card as the chart is now.

    Args:
        before: The chart at the end of the user's last look; None: nobody knows.
        keeps_looks: Whether looks are kept at all.
    """
    today = now.date()
    return CardParts(
        who=demographics(record, today=today),
        why=_why(record, now),
        changes=_changes(record, now, before, keeps_looks=keeps_looks),
        to_look_at=_to_look_at(record, today, before),
        open_items=_open_items(record, today),
        medications=medications(record, today=today),
        allergies=allergies(record),
    )


def _why(record: PatientRecord, now: datetime) -> ChartView:
    """The visit that goes on or was last, what is planned, and the active problems."""
    visits, has = encounters(record, now=now.isoformat(), last=1), problems(record)
    is_here = any(goes_on("Encounter", row.status) for row in visits.rows)
    return view_of(
        record,
        "encounters",
        "Why here",
        [*visits.rows, *has.rows],
        left_out=[*visits.left_out, *has.left_out],
        nothing="Neither a visit nor an active problem is recorded.",
        notes=[] if is_here or not visits.rows else ["no visit is recorded as going on now"],
    )


def _changes(
    record: PatientRecord, now: datetime, before: ChartStates | None, *, keeps_looks: bool
) -> ChartView:
    if not keeps_looks:
        nothing = "This server does not keep when you last looked (SINCE_LAST_LOOKED)."
        return view_of(record, "changes", "Changes since you last looked", [], nothing=nothing)
    return changes_view(record, before, chart_states(record, at=now))


def _to_look_at(record: PatientRecord, today: date, before: ChartStates | None) -> ChartView:
    """What is flagged among the newest values, and what came since the user's last look."""
    newest = results(record)
    since = today - timedelta(days=RECENT_DAYS)

    def is_new(row: ViewRow) -> bool:
        if before is None:
            return is_within(row.date, since)
        return any(ref not in before.rows for ref in row.sources)

    shown = [row for row in newest.rows if row.flag or is_new(row)]
    rest = len(newest.rows) - len(shown)
    than = "since you last looked" if before else f"in the last {RECENT_DAYS} days"
    looked_at = f"Of {len(newest.rows)} newest values none is flagged, and none came {than}."
    return view_of(
        record,
        "results",
        "Results to look at",
        newest_first(shown),
        left_out=[LeftOut(count=rest, what="newest values without a flag", argument="results")],
        nothing=looked_at if newest.rows else newest.nothing,
    )


def _open_items(record: PatientRecord, today: date) -> ChartView:
    waiting = [
        entry
        for entry in record.entries.values()
        if entry.kind in _WAITS_FOR_RESULT and state_of(entry, today) == "pending"
    ]
    by_ref = rows_by_ref(record, today) if waiting else {}
    return view_of(
        record,
        "open",
        "Open questions",
        newest_first(_waiting_rows(waiting, by_ref)),
        nothing="No order or result of the record is pending.",
    )


def _waiting_rows(waiting: Sequence[Entry], by_ref: dict[str, ViewRow]) -> Iterator[ViewRow]:
    for entry in waiting:
        if (row := by_ref.get(entry.ref)) is None:
            name = entry.kind
            row = ViewRow(kind="open", name=name, date=entry.date, sources=(entry.ref,))
        status = ", ".join(filter(None, [row.status, "pending" * (row.status != "pending")]))
        yield row.model_copy(update={"status": status})


class RoundSummary(BaseModel):
    """One row of the caller's lists; counts only.

    Attributes:
        is_mine: Whether the caller made it; else a colleague handed patients of it over.
    """

    round_id: str
    created_at: AwareDatetime
    day: str
    is_mine: bool
    patients: int
    waiting: int
    ready: int
    failed: int
    closed: int
    ticked: int


class RoundRow(BaseModel):
    """One patient of a list.

    Attributes:
        who: None where the chart is not open to the caller, or cannot be read just now.
        problem: Why there is no `who`, or why the preparation failed; "" for no reason.
    """

    patient_id: PatientId
    state: State
    who: Demographics | None = None
    problem: str = ""
    ticked_at: AwareDatetime | None = None
    handed_to: str = ""
    accepted_at: AwareDatetime | None = None


class RoundView(BaseModel):
    """A list as it stands."""

    summary: RoundSummary
    patients: list[RoundRow]


class RoundCard(BaseModel):
    """One patient's card.

    Attributes:
        place: Counts from 1.
        parts: None where the chart cannot be read now; `row.problem` says why.
        said: What the agents said when it was prepared, checked as any answer is.
        chat_id: The conversation of the preparation, for further questions; "" for a colleague.
    """

    round_id: str
    place: int
    of: int
    row: RoundRow
    parts: CardParts | None = None
    said: list[AgentMessage] = []
    chat_id: str = ""
    notes: tuple[Note, ...] = ()
    sign_outs: tuple[SignOut, ...] = ()


def summary_of(found: RoundList, principal: str) -> RoundSummary:
    """Return the row of a list for who looks at it."""
    rows = found.seen_by(principal)
    counts = {"waiting": 0, "ready": 0, "failed": 0, "closed": 0}
    for one in rows:
        counts[one.state] += 1
    return RoundSummary(
        round_id=found.round_id,
        created_at=found.created_at,
        day=found.day,
        is_mine=found.owner == principal,
        patients=len(rows),
        ticked=sum(one.ticked_at is not None for one in rows),
        **counts,
    )


def row_of(patient: RoundPatient, *, who: Demographics | None, problem: str) -> RoundRow:
    """Return the row of a patient."""
    return RoundRow(**patient.model_dump(exclude={"problem"}), who=who, problem=problem)
