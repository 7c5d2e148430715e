"""What people are shown of a round."""

from pydantic import AwareDatetime, BaseModel

from data_models.chat_context import AgentMessage
from data_models.identifiers import PatientId
from services.records.views.demographics import Demographics
from services.rounds.round_card import CardParts
from services.rounds.round_list import Note, RoundList, RoundPatient, SignOut, State


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
