"""Tool memory of one patient: the runs of tools, and what they returned as entities."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from data_models.chart_view import ChartView
from data_models.identifiers import PatientId
from data_models.values import Document, Part

EntityType = Literal[
    "calendar_event", "contact", "email", "document", "plan", "task", "location", "generic"
]
EntityStatus = Literal["active", "deleted", "expired"]

PERSONAL_KINDS: frozenset[EntityType] = frozenset({"calendar_event", "email", "contact", "task"})
"""Kinds that a clinician's own back ends hold; those of a patient's record are that patient's."""
PERSONAL_TOOLS = frozenset(
    {
        *("list_events", "find_free_time", "create_event", "move_event", "cancel_event"),
        *("search_mail", "read_mail", "draft_mail", "send_mail", "search_contacts"),
        *("add_contact", "change_contact", "delete_contact", "list_tasks", "add_task"),
        *("complete_task", "move_task", "delete_task", "search_documents", "read_own_document"),
        "delete_document",
    }
)
"""Tools over the user's own calendar, mail, contacts, tasks and documents."""

OUTPUT_HEAD_CHARS = 500
OUTPUT_LIMIT_BYTES = 200_000


class EntityContext(Part):
    """Something that a tool returned and that a user may speak of.

    Attributes:
        entity_id: Id at its source; what a user may type and what a tool takes.
        source: The tool's back end, so that equal ids of two back ends stay apart.
        data: What the tool gave, bounded; read through `services/tool_memory/extractors.py`.
        last_turn: Number of the turn in which it was last mentioned.
        user_references: Words that led to it, newest last, at most 10.
        is_private: It names another patient; models see its time only.
        is_personal: It is its principal's own, and stored with them, not with the patient.
        principal: One-way name of whose mailbox, calendar, contacts or tasks it is from; empty for
            what is the patient's. Nobody else's turn sees it.
    """

    entity_id: str
    entity_type: EntityType
    display_name: str
    data: dict[str, Any] = Field(default_factory=dict)
    source: str = ""
    created_at: AwareDatetime
    last_accessed: AwareDatetime
    access_count: int = 0
    last_turn: int = 0
    user_references: list[str] = Field(default_factory=list)
    source_execution_id: str = ""
    status: EntityStatus = "active"
    is_private: bool = False
    is_personal: bool = False
    principal: str = ""


class ToolExecutionContext(Part):
    """One run of one tool.

    Attributes:
        parameters: As given, secrets masked.
        raw_output: The first 500 characters; the whole is in the turn's run blob.
        output_chars: Length of the whole.
        result: Summary in a few words.
        principal: One-way name of whose turn it was.
        is_personal: It ran over the principal's own calendar, mail, contacts, tasks or documents.
    """

    execution_id: str
    tool_name: str
    agent_name: str
    user_request: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    raw_output: str = ""
    output_chars: int = 0
    principal: str = ""
    result: str = ""
    success: bool = True
    error_message: str | None = None
    execution_time_ms: float = 0.0
    timestamp: AwareDatetime
    turn_id: int = 0
    entity_ids: list[str] = Field(default_factory=list)
    is_personal: bool = False


class ToolMemory(Part):
    """What one patient's document keeps of its tools (at most 12 kB).

    Attributes:
        focus: Id of the entity that was really used last.
        last_list: Ids as they were last shown to the user, in that order.
        personal_of: One-way names of users whose own part lies in their own documents.
    """

    entities: list[EntityContext] = Field(default_factory=list)
    executions: list[ToolExecutionContext] = Field(default_factory=list)
    focus: str | None = None
    last_list: list[str] = Field(default_factory=list)
    personal_of: list[str] = Field(default_factory=list)


class RunOutput(Part):
    """The whole output of one run.

    Attributes:
        call_id: Of the call.
        full_chars: Length before it was cut at 200,000 bytes.
    """

    execution_id: str
    call_id: str = ""
    tool_name: str
    output: str
    full_chars: int


class TurnRuns(Document):
    """What of one turn no other reads: held with the newest turns, else in `…_runs/`.

    Attributes:
        runs: Outputs of tools, but of those whose whole view is below.
        views: Rows of the chart that were shown with the turn's messages.
        receipt: The turn's, in canonical form; "" where it left none.
    """

    patient_id: PatientId | None
    turn_id: int
    runs: list[RunOutput] = Field(default_factory=list)
    views: list[ChartView] = Field(default_factory=list)
    receipt: str = ""
