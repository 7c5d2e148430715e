"""What people are shown of a conversation."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, Field

from data_models.chart_view import ChartView
from data_models.chat_context import Artifact, ChatContext, Turn
from data_models.conversations.conversation import BranchOrigin, Conversation
from data_models.conversations.plan import Plan
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext, PatientIdentity, identity_noted
from data_models.scenarios.scenario_session import ScenarioPlace
from services.language.words.own_texts import in_own_language
from services.patient_context.answers import waiting_in

# Who the patients of a conversation are, for its list of them.


class RosterRow(BaseModel):
    """A patient of the conversation; name, birth date and sex are "" where none was noted."""

    patient_id: PatientId
    last_used_at: AwareDatetime
    name: str = ""
    birth_date: str = ""
    sex: str = ""


def roster_rows(roster: Iterable[PatientContext]) -> list[RosterRow]:
    """Return the patients in the order in which they were first opened."""
    return [_row(one) for one in sorted(roster, key=lambda row: (row.created_at, row.patient_id))]


def _row(row: PatientContext) -> RosterRow:
    who = identity_noted(row.facts) or PatientIdentity("", "", "")
    return RosterRow(patient_id=row.patient_id, last_used_at=row.updated_at, **who._asdict())


class ConversationSummary(BaseModel):
    """One row of the caller's list; who its patients are, as noted when they were opened.

    Attributes:
        epoch: How often it was cleared; shown to nobody.
        problem: Why nothing of it can be read, as an error code; its times are those of the list.
    """

    chat_id: str
    patient_ids: list[PatientId]
    patients: list[RosterRow]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    epoch: int = Field(default=0, exclude=True)
    problem: str = ""


class RunningRow(BaseModel):
    """The turn that runs now."""

    run_id: str
    started_at: AwareDatetime


class Progress(BaseModel):
    """What a second screen needs to know to catch up; ids only."""

    running_run_id: str | None
    last_run_id: str | None


class QuestionRow(BaseModel):
    """The question that waits for an answer, and the reader's messages that wait with it."""

    id: str
    kind: str
    text: str
    waiting: tuple[str, ...] = ()


def question_row(
    conversation: Conversation, now: datetime, *, principal: str, active: PatientId | None
) -> QuestionRow | None:
    """Return the question that waits for this reader and may be answered now."""
    question = conversation.question_of(principal)
    if question is None or not question.is_alive(epoch=conversation.epoch, now=now):
        return None
    if question.is_set_aside(active):
        return None
    text = in_own_language(question.text, conversation.language)
    waiting = waiting_in(question)
    return QuestionRow(id=question.question_id, kind=question.kind, text=text, waiting=waiting)


class ConversationView(BaseModel):
    """A conversation as it stands; its patients in the order in which they were first opened."""

    chat_id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    patient_id: PatientId | None
    patients: list[RosterRow]
    plan: Plan | None
    artifacts: list[Artifact]
    scenario: ScenarioPlace | None = None
    question: QuestionRow | None
    running_turn: RunningRow | None
    queued: int
    branched_from: BranchOrigin | None = None
    visit: "VisitRow | None" = None


class VisitRow(BaseModel):
    """The visit for which a record system launched the conversation, in that system's words."""

    patient_id: PatientId
    text: str
    begins: str


class ToolRow(BaseModel):
    """A run of a tool as it stands beside the answer that came of it."""

    tool: str
    agent: str
    parameters: dict[str, Any]
    is_error: bool
    duration_ms: float
    at: AwareDatetime


def tool_rows(context: ChatContext, turn: Turn) -> list[ToolRow]:
    """Return what ran in a turn, of the newest hundred runs; nothing over what is a user's own."""
    return [
        ToolRow(
            tool=one.tool_name,
            agent=one.agent_name,
            parameters=one.parameters,
            is_error=not one.success,
            duration_ms=one.execution_time_ms,
            at=one.timestamp,
        )
        for one in context.tool_memory.executions
        if one.turn_id == turn.turn_id and not one.is_personal
    ]


class HistoryPage(BaseModel):
    """Some turns of one patient, oldest first, with their whole texts.

    Attributes:
        views: Rows that were shown with their messages, by view; those that can be read.
        tools: What ran in them, by turn.
    """

    patient_id: PatientId | None
    turns: list[Turn]
    next_before: int | None
    patient: PatientIdentity | None = None
    views: dict[str, ChartView] = Field(default_factory=dict)
    tools: dict[int, list[ToolRow]] = Field(default_factory=dict)
