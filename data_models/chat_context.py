"""The context document: everything a conversation knows about one patient, or about none."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from data_models import memory_blocks
from data_models.chart_view import ATTACHED_REF, ViewSource
from data_models.conversations.plan import Plan
from data_models.entities.entities import Entities
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext
from data_models.scenarios.scenario_session import PatientProfile, ScenarioSession
from data_models.tool_memory import ToolMemory
from data_models.values import Document, Part

# What code found about the statements of an agent's message.

StatementState: TypeAlias = Literal["supported", "unsupported", "contradicted"]


UNSUPPORTED = "(not supported by the record) "
"""What models and summaries are shown before a sentence that the record does not support."""


class CheckedStatement(Part):
    """One sentence of a message and what the record says of it.

    Sentences without a checkable statement are not listed.

    Attributes:
        start: Offset of its first character in the stored text.
        end: Offset behind its last.
        state: A contradicted one is not shown: its offsets are equal and `text` holds it.
        sources: Source ids that were compared.
        record_says: What the record says instead, for people; "" where it says nothing.
        text: The words of a sentence that was withheld.
        is_repair: It stands for sentences that were withheld; only figures count it.
    """

    start: int
    end: int
    state: StatementState
    sources: tuple[str, ...] = ()
    record_says: str = ""
    text: str = ""
    is_repair: bool = False


TurnStatus = Literal["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED", "STOPPED"]


class Citation(ViewSource):
    """Where a statement comes from: a resource of the patient's record.

    Its title has at most 80 characters; its quote, the words that were used, at most 160.
    """


class MessageView(Part):
    """A view that was shown with a message; its rows stand in the turn's `TurnRuns`."""

    view_id: str
    rows: int


class AgentMessage(Part):
    """What one agent said, as it was shown.

    Attributes:
        made_by: Who wrote it: a language model or code; None where that was not noted.
        statements: Sentences that state something of the patient, and what the record says.
        views: Rows of the chart that were shown with it.
    """

    message_id: str
    agent: str
    text: str
    timestamp: AwareDatetime
    citations: list[Citation] = Field(default_factory=list)
    plan_id: str | None = None
    plan_step: int | None = None
    """The plan and its step that this message carried out, if it did."""
    made_by: Literal["model", "rules"] | None = None
    statements: list[CheckedStatement] = Field(default_factory=list)
    views: list[MessageView] = Field(default_factory=list)
    shortened_from_chars: int | None = None
    """Set where `text` is head and tail; the whole is in the turn's own archive blob."""

    @property
    def marked_text(self) -> str:
        """Its text, and before each sentence that the record does not support that it does not."""
        text = self.text
        for one in reversed(self.statements if self.shortened_from_chars is None else []):
            if one.state == "unsupported":
                text = f"{text[: one.start]}{UNSUPPORTED}{text[one.start :]}"
        return text


class Turn(Part):
    """One message of the user and what the agents answered (field names of spec page 4.1)."""

    turn_id: int
    run_id: str
    timestamp: AwareDatetime
    user: str
    """Display name of the sender."""
    user_message: str
    agent_responses: list[AgentMessage] = Field(default_factory=list)
    turn_status: TurnStatus = "PENDING"
    error_code: str | None = None
    shortened_from_chars: int | None = None
    """Set where `user_message` is head and tail."""
    is_repeatable: bool = False
    """Whether asking the same again does nothing but answer; unset where that was not noted."""
    is_taken_back: bool = False
    """Whether its words were said to be about somebody else: nothing is told of the patient."""
    context_enrichment: memory_blocks.ContextEnrichment | None = None
    intent_classification: memory_blocks.IntentClassification | None = None

    @property
    def is_shortened(self) -> bool:
        """Whether only head and tail of one of its texts are here."""
        whole = [self.shortened_from_chars]
        whole += [one.shortened_from_chars for one in self.agent_responses]
        return any(one is not None for one in whole)


class Continuation(Part):
    """An agent that waits for the user; the next message resumes it.

    Attributes:
        plan_step: The step of the plan that is not finished.
        waits_for: Entity keys that the step needs; filling them lets the plan go on.
        asked_of: One-way name of the one user of a group who is waited for; "" for anybody.
    """

    agent: str
    plan_step: int | None = None
    waits_for: list[str] = Field(default_factory=list)
    asked_at: AwareDatetime
    asked_of: str = ""


class Artifact(Part):
    """A file an agent made for this patient, kept beside the document."""

    artifact_id: str
    file_name: str
    media_type: str
    size_bytes: int
    created_at: AwareDatetime
    run_id: str


class Attachment(Part):
    """A paper that a user gave to the conversation about this patient; never the record.

    Attributes:
        attachment_id: Made of its bytes: `att-…`; cited as `Attachment/att-…`.
        pages: How many it has; 1 where its form knows none.
        gap: What of it could not be read, for people; "" where nothing is missing.
        added_by: The principal who gave it.
    """

    attachment_id: str
    file_name: str
    media_type: str
    size_bytes: int
    pages: int = 1
    gap: str = ""
    added_at: AwareDatetime
    added_by: str

    @property
    def ref(self) -> str:
        """Its source id."""
        return f"{ATTACHED_REF}{self.attachment_id}"

    @property
    def text_id(self) -> str:
        """The name of the file beside it that holds its text, a form feed between two pages."""
        return f"{self.attachment_id}.txt"


class ChatContext(Document):
    """One patient's context document, or the session's (`patient_id` None).

    Attributes:
        patient_contexts: The roster, hydrated from the registry each turn and never stored here.
        chat_history: The newest turns, oldest first; older ones are in numbered blobs beside it.
        told: Older ones in which users told something in passing: those words and no answers.
        next_turn_id: Counted here and never reused; ids have no gaps.
        recent_runs: What the newest turns left (`TurnRuns`), packed: no turn reads it. It moves
            into a blob beside the document, several turns together.
        fence: Raised whenever somebody takes the document over from a dead turn.
    """

    patient_id: PatientId | None = None
    patient_contexts: dict[PatientId, PatientContext] = Field(default_factory=dict, exclude=True)
    chat_history: list[Turn] = Field(default_factory=list)
    told: list[Turn] = Field(default_factory=list)
    next_turn_id: int = 1
    recent_runs: dict[int, str] = Field(default_factory=dict)
    plan: Plan | None = None
    continuation: Continuation | None = None
    artifacts: list[Artifact] = Field(default_factory=list)
    attachments: list[Attachment] = Field(default_factory=list)
    scenario: ScenarioSession | None = None
    left_scenarios: list[ScenarioSession] = Field(default_factory=list)
    """Begun and left for another one; each can be resumed."""
    profile: PatientProfile = Field(default_factory=PatientProfile)
    """What scenarios learnt and declare to outlive their runs."""
    fence: int = 0
    entities: Entities = Field(default_factory=Entities)
    tool_memory: ToolMemory = Field(default_factory=ToolMemory)
    memory_changes: memory_blocks.MemoryChanges = Field(default_factory=memory_blocks.MemoryChanges)
    memory: memory_blocks.MemoryBlocks = Field(default_factory=memory_blocks.MemoryBlocks)

    @property
    def heard(self) -> list[Turn]:
        """The turns in which users may have told something, oldest first."""
        return [*self.told, *self.chat_history]

    @property
    def sessions(self) -> list[ScenarioSession]:
        """The patient's runs of scenarios: the open one first, then the newest that were left."""
        held = [self.scenario, *reversed(self.left_scenarios)]
        return [session for session in held if session is not None]


# The course of a turn: PENDING, IN_PROGRESS, then one of three ends, and never back.

NEXT: Mapping[TurnStatus, frozenset[TurnStatus]] = {
    "PENDING": frozenset({"IN_PROGRESS"}),
    "IN_PROGRESS": frozenset({"COMPLETED", "FAILED", "STOPPED"}),
    "COMPLETED": frozenset(),
    "FAILED": frozenset(),
    "STOPPED": frozenset(),
}


def is_open(turn: Turn) -> bool:
    """Whether `turn` has not ended."""
    return bool(NEXT[turn.turn_status])


def advance(turn: Turn, to: TurnStatus, *, error_code: str | None = None) -> bool:
    """Move `turn` on to `to`, through IN_PROGRESS; False if it has ended and stays as it is."""
    if turn.turn_status == "PENDING":
        turn.turn_status = "IN_PROGRESS"
    if to not in NEXT[turn.turn_status]:
        return to == turn.turn_status
    turn.turn_status, turn.error_code = to, error_code
    return True
