"""What happens in a turn, in order, said in our own words; transports render it.

One event is one frame on the wire, so an event's place in its run is the frame's `seq`.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Artifact, CheckedStatement
from data_models.conversations.plan import Plan
from data_models.patient_context_models import PatientIdentity, TimingInfo
from data_models.scenarios.scenario_session import ScenarioPlace

Step = Literal["load", "decide", "restore", "enrich", "ground", "chat", "save"]
NoticeKind = Literal[
    "restored", "interrupted", "queued", "limit", "evicted", "told", "progress", "repeated"
]
"""`told` is a line that stays beside the answer; `progress` is over once there is one."""
Outcome = Literal["success", "interrupt", "cancelled"]


@dataclass(frozen=True, slots=True)
class SharedState:
    """What clients may show of the conversation; sent whole once, then as JSON Patch.

    Attributes:
        patient: Who the active patient is: name, birth date and sex.
        question: The open question as `{"id", "kind", "text"}`, if there is one.
        undo: After a clear what brings it back: `{"say", "until"}`, the words to send and the last
            moment (UTC); None where nothing was just cleared.
        timing: What the decision took; the whole turn's comes with its end (`TurnTiming`).
    """

    conversation_id: str
    patient_id: str | None
    all_patient_ids: tuple[str, ...]
    patient_count: int
    patient: PatientIdentity | None = None
    decision: str | None = None
    plan: Plan | None = None
    question: dict[str, str] | None = None
    undo: dict[str, str] | None = None
    artifacts: tuple[Artifact, ...] = ()
    scenario: ScenarioPlace | None = None
    model_kind: Literal["language_model", "offline"] = "language_model"
    facilitator: str = ""
    timing: TimingInfo = field(default_factory=TimingInfo)


class TurnTiming(NamedTuple):
    """Figures of one turn; times in milliseconds on the monotonic clock.

    Tokens are as the models' servers counted them, 0 where they do not count.
    """

    total_ms: float = 0.0
    analyzer_ms: float | None = None
    storage_fallback_ms: float | None = None
    service_total_ms: float | None = None
    first_token_ms: float | None = None
    storage_ms: float = 0.0
    llm_calls: int = 0
    llm_prompt_chars: int = 0
    llm_prompt_tokens: int = 0
    llm_cached_tokens: int = 0
    llm_answer_tokens: int = 0
    llm_dollars: float = 0.0
    storage_ops: int = 0


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The turn begins."""

    run_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step of the pipeline begins."""

    step: Step


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step of the pipeline is over."""

    step: Step


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The shared state, whole; the transport sends the difference."""

    state: SharedState


@dataclass(frozen=True, slots=True)
class AgentMessageStarted:
    """An agent begins to speak."""

    message_id: str
    agent: str


@dataclass(frozen=True, slots=True)
class AgentTextDelta:
    """More text of an agent, already free of imitated snapshots and footers."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AgentMessageFinished:
    """An agent's message is complete; `message.text` is the sum of its deltas."""

    message: AgentMessage


@dataclass(frozen=True, slots=True)
class ClaimsChecked:
    """What code found about the statements of a message; comes before the message's end."""

    message_id: str
    claims: tuple[CheckedStatement, ...]


@dataclass(frozen=True, slots=True)
class ViewShown:
    """Rows of the chart that a message stands on; comes before the message's end."""

    message_id: str
    view: ChartView


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """An agent calls a tool."""

    call_id: str
    agent: str
    tool: str


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """The tool's arguments as JSON text."""

    call_id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallEnded:
    """The arguments are complete and the tool runs."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """What the tool gave back."""

    call_id: str
    content: str
    is_error: bool
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that is not an answer."""

    kind: NoticeKind
    text: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The turn is over and stored. `interrupt`: it waits for the user (gate or question).

    Attributes:
        is_repeatable: Whether asking the same again does nothing but answer.
    """

    outcome: Outcome
    timing: TurnTiming
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The turn ended with an error; the user's message is kept."""

    code: str
    text: str
    ref: str


_ToolCall: TypeAlias = ToolCallStarted | ToolCallArguments | ToolCallEnded | ToolCallResult
TalkEvent: TypeAlias = AgentMessageStarted | AgentTextDelta | AgentMessageFinished | _ToolCall
OfAgents: TypeAlias = TalkEvent | ClaimsChecked | ViewShown
_Begun: TypeAlias = RunStarted | StepStarted | StepFinished | StateChanged
TurnEvent: TypeAlias = _Begun | OfAgents | Notice | RunFinished | RunFailed
