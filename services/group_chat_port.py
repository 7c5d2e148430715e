"""What the pipeline needs from a team of agents, said without naming a library."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Artifact, Continuation, Turn
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientIdentity
from services.attachments.papers import AttachedPapers
from services.conversations.turn_effects import TurnEffects
from services.entities.session import EntitySession
from services.evidence.looks import LookTaken
from services.language.utterance import TeamMember, Utterance
from services.memory_blocks.recall import PatientArtifacts, PatientPast
from services.scenarios.session.progress import ToolAction, ToolRan
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.tool_memory.session import ToolMemorySession


@dataclass(frozen=True, slots=True)
class MessageMeaning:
    """What memory says beside the user's own words; all of this patient, none of it stored here.

    Attributes:
        summary: Of the conversation, at most 2,000 characters; for what the window leaves out.
        interpretation: The message said in full, where it does not stand for itself.
        intended_agent: Who the message is for by its intent, if that is sure.
        first_shown: The place in the history of the oldest turn that agents are shown.
    """

    summary: str = ""
    interpretation: str = ""
    intended_agent: str | None = None
    first_shown: int = 0


@dataclass(frozen=True, slots=True)
class GroupChatRequest:
    """One turn, for the team. Holds one patient's state and nothing of any other.

    Attributes:
        patient_id: The patient every tool works on; tools never take it from a model.
        active: Whose chart is open, where the turn is in nobody's document: it asks about all.
        all_patient_ids: The roster, for questions about it (at most 50, page 1.6).
        snapshot: The server's own `PATIENT_CONTEXT_JSON: {…}` line, message 0 of the history.
        history: This patient's earlier turns, oldest first, already bounded (page 1.7).
        told: What users told in passing in turns before these.
        text: The user's words, as typed.
        mentions: Agents that the channel marked as addressed.
        addressed_agent: The agent whose own bot received the message.
        plan: The patient's plan as stored.
        continuation: The agent that waits for the user, if one does.
        press: A pressed plan button, already checked to belong to `plan`.
        principal_id: Who asks, for the audit trail; no model sees it.
        may_order: Whether they have the role `order`.
        grounding: Lines of the server's own, shown after the snapshot, never stored; "" for none.
        entities: What this patient's user wants and what tools found, for each agent its own.
        past: Looks up earlier turns of this patient; None where none are kept.
        tool_memory: Where runs are recorded and references resolved, for this patient only.
        meaning: How the message is understood after all that was said before.
        scenario: The scenario of this patient: what its lead is told, and what tools change.
        effects: Where tools put on record what they change outside; None: nobody takes over.
        utterance: The message as it was read, once, for all who act on it.
        held: What users said of the patient and memory holds, in their words.
        identity: Who the patient is by the records; None where nobody knows.
        identities: The same of all patients of the conversation; no model sees it.
        others_named: Folded words by which a text names a patient who is not this one.
        notes: What workflows noted of the patient, from the users' answers.
        look: The chart in hashes, now and as the asker had last seen it; None: nobody keeps it.
        said: What the team had said of this answer before the replica died that was at it.
        is_group: Whether others read along: nothing that is the user's alone is shown.
        is_asked: Whether a question of the server's own waits for this user's yes or no.
        is_awaited: Whether a message waits for this turn's end: a plan lets it through.
        papers: What users gave of this patient, to be read by tools; None: nothing was looked for.
        received_at: When the message came in; it may have waited since. None: nobody knows.
        now: When the turn began, aware UTC.
        deadline: Monotonic seconds at which the turn must be over.
    """

    conversation_id: str
    run_id: str
    patient_id: PatientId | None
    all_patient_ids: Sequence[str]
    snapshot: str
    history: Sequence[Turn]
    text: str
    user: str
    now: datetime
    deadline: float
    artifacts: PatientArtifacts
    active: PatientId | None = None
    told: Sequence[Turn] = ()
    principal_id: str = "unknown"
    may_order: bool = False
    mentions: Sequence[str] = ()
    addressed_agent: str | None = None
    plan: Plan | None = None
    continuation: Continuation | None = None
    press: Press | None = None
    grounding: str = ""
    tool_memory: ToolMemorySession | None = None
    entities: EntitySession | None = None
    past: PatientPast | None = None
    scenario: ScenarioRuntime | None = None
    meaning: MessageMeaning = field(default_factory=MessageMeaning)
    effects: TurnEffects | None = None
    utterance: Utterance | None = None
    held: Sequence[str] = ()
    identity: PatientIdentity | None = None
    identities: Mapping[str, PatientIdentity | None] = field(default_factory=dict)
    notes: Sequence[str] = ()
    others_named: Callable[[str], frozenset[str]] = field(default=lambda _: frozenset())
    look: LookTaken | None = None
    said: Sequence[AgentMessage] = ()
    is_group: bool = False
    is_asked: bool = False
    is_awaited: Callable[[], bool] = field(default=lambda: False)
    papers: AttachedPapers | None = None
    received_at: datetime | None = None

    @property
    def heard(self) -> tuple[Turn, ...]:
        """The turns in which users may have told something, oldest first."""
        return (*self.told, *self.history)

    @property
    def plan_asked_by(self) -> str:
        """Who else of a group asked for the plan; "" where the user did, or nobody knows."""
        run_id = self.plan.run_id if self.is_group and self.plan is not None else None
        asked = (one.user for one in self.history if one.run_id == run_id)
        return next((one for one in asked if one != self.user), "")


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The plan of this patient is now `plan`."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class ContinuationChanged:
    """Who waits for the user from now on, if anybody."""

    continuation: Continuation | None


@dataclass(frozen=True, slots=True)
class ArtifactMade:
    """An agent stored a file for this patient."""

    artifact: Artifact


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A tool asks the user before it does something; the newest question of a turn counts.

    Attributes:
        text: What the user reads, after what the agents said.
        payload: What is done on a yes, or what may be picked; no model sees it again.
    """

    kind: Literal["destructive_tool", "which_entity"]
    text: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionFinished:
    """The tool that was asked for has run, or failed; always the last event of `act`.

    Attributes:
        view: The rows that it returned, if it reads the chart.
    """

    ran: ToolRan
    view: ChartView | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the tool gave a result."""
        return self.ran.succeeded


@dataclass(frozen=True, slots=True)
class NoteWritten:
    """A tool wrote a note about the patient, which the team reads from then on.

    Attributes:
        by: What wrote it, for people.
    """

    text: str
    by: str


@dataclass(frozen=True, slots=True)
class ChatFinished:
    """The team has nothing more to say; always the last event.

    Attributes:
        reason: `answered`; `gate`: a proposed plan waits for the user; `question`: an agent
            asked the user; `limit`: a cap of the turn was reached (a notice told the user).
        is_beside: Whether an agent waits for an answer that this message was not.
    """

    reason: Literal["answered", "gate", "question", "limit"]
    is_beside: bool = False


GroupChatEvent: TypeAlias = (
    turn_events.OfAgents
    | turn_events.Notice
    | PlanChanged
    | ContinuationChanged
    | ArtifactMade
    | QuestionAsked
    | ActionFinished
    | NoteWritten
    | ChatFinished
)


class GroupChat(Protocol):
    """The team. Built once per process; holds no state of any turn."""

    @property
    def agents(self) -> Sequence[TeamMember]:
        """The team, facilitator first."""
        ...

    @property
    def facilitator(self) -> str:
        """Name of the agent who speaks for the server."""
        ...

    @property
    def is_language_model(self) -> bool:
        """False while the offline rules answer in place of a language model."""
        ...

    def act(self, request: GroupChatRequest, action: ToolAction) -> AsyncIterator[GroupChatEvent]:
        """Run one tool as agents' calls run; no agent speaks and no model is asked."""
        ...

    def run(self, request: GroupChatRequest) -> AsyncIterator[GroupChatEvent]:
        """Answer one message.

        Cancelling the consumer cancels model and tool calls. What was streamed of an
        unfinished message is the sum of its deltas.

        Raises:
            ModelError: no agent could answer; what was finished before stands.
            RecordsError: never raised here: a failing tool is the agent's to report.
        """
        ...
