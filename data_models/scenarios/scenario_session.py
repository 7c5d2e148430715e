"""A patient's way through one scenario, and what is known about the patient meanwhile."""

from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field, JsonValue

from data_models.values import Part

MigrationScenario: TypeAlias = Literal["clean_graft", "gap_fill", "re_route", "relocate"]
ReconciliationAction: TypeAlias = Literal[
    "continue", "teleport", "collect", "execute_action", "exit_scenario"
]


class StepVisit(Part):
    """A step the session was in, or was led past by a migration (`skipped`)."""

    step_id: str
    step_name: str = ""
    transition: str | None = None
    """The target of the transition that was taken out of it."""
    visited_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    skipped: bool = False
    spoken: bool = False
    """Whether an agent has said what the step says; a step that asks nothing is left then."""


class CompletedCheckpoint(Part):
    """Something that cannot be undone.

    Attributes:
        version: The version whose step id `step_id` is; older than the session's where a later
            version has no such step.
        idempotency_key: Under which its action ran.
    """

    step_id: str
    version: int
    description: str = ""
    idempotency_key: str = ""
    completed_at: AwareDatetime


class PendingMigration(Part):
    """A mark inside a document. None is written: marks live in the index, what waits is `progress`.

    Every landing clears the field, whoever put one there.
    """

    target_version: int
    anchor_content_hash: str
    migration_plan_id: str
    marked_at: AwareDatetime


class Pin(Part):
    """Holds a session on its version until a plan to a version above `decided_for` decides."""

    version: int
    decided_for: int
    reason: str


class ReviewFlag(Part):
    """Why a person must look at the session; holds no patient text."""

    target_version: int
    reason: str
    flagged_at: AwareDatetime


class WorkItem(Part):
    """One thing that a session must make up for before it lands, in the order of the route."""

    step_id: str
    kind: Literal["field", "action"]
    field: str | None = None


class ExecutedAction(Part):
    """A required action that ran because a migration asked for it."""

    idempotency_key: str
    step_id: str
    version: int


class Extracted(Part):
    """What extraction found in the user's own words."""

    value: JsonValue
    confidence: float
    quote: str = ""


class MigrationProgress(Part):
    """Where a migration stands that waits for answers or actions."""

    target_version: int
    work: list[WorkItem] = Field(default_factory=list)
    attempts: dict[str, int] = Field(default_factory=dict)
    confirming: list[str] = Field(default_factory=list)
    denied: list[str] = Field(default_factory=list)
    extracted: dict[str, Extracted] = Field(default_factory=dict)
    running: str | None = None
    """The step whose required action was handed out."""


class MigrationAppliedEvent(Part):
    """One session's jump from one version to another, for the audit trail.

    It names steps, fields and versions, never a value.
    """

    event_id: str
    session_id: str
    scenario_id: str
    plan_ids: list[str]
    from_version: int
    to_version: int
    migration_scenario: MigrationScenario | None = None
    composite: bool = False
    relocated: bool = False
    exited: bool = False
    pinned: bool = False
    anchor_hash: str
    step_before: str
    action_taken: ReconciliationAction
    step_after: str | None = None
    fields_gap_filled: dict[str, str] = Field(default_factory=dict)
    fields_collected: list[str] = Field(default_factory=list)
    actions_executed: list[str] = Field(default_factory=list)
    blocked_by_checkpoint: bool = False
    checkpoint_id: str | None = None
    checkpoint_description: str | None = None
    timestamp: AwareDatetime


class Evidence(Part):
    """Who said a value, and where.

    Attributes:
        source: `0.1` is what a run of that version held, which kept no evidence.
        turn: The turn whose message holds `quote`; 0 where no message does.
        quote: The user's own words, at most 160 characters.
    """

    source: Literal["user", "record", "tool", "operator", "0.1"] = "user"
    turn: int = 0
    quote: str = ""


class ProfileField(Part):
    """One fact about the patient."""

    value: JsonValue
    source: str = "user"
    confidence: float = 1.0
    expires_at: AwareDatetime | None = None
    evidence: Evidence | None = None


class PatientProfile(Part):
    """What outlives the runs of one patient in one conversation: only what is declared to."""

    fields: dict[str, ProfileField] = Field(default_factory=dict)


class ScenarioPlace(Part):
    """Where a session is, as people are shown it; the author's words and counts only."""

    scenario: str
    step: str
    done: int
    total: int
    needs: list[str] = Field(default_factory=list)
    keys: list[str] = Field(default_factory=list)
    """Names of the fields that the step collects or uses."""


class ScenarioSession(Part):
    """One run of a scenario with one patient.

    Attributes:
        step: The step the session is in; None after it ended.
        completed_checkpoints: Never trimmed, whatever happens to `step_history`.
        variables: What this run knows, by field; `evidence` says who said it.
        spent: Words that gave a value which holds no more; they give none a second time.
        to_confirm: Lasting values of earlier runs, which count once the user says that they do.
        refused: How often a field was given no value that it takes, since it was asked.
        executed: Required actions that migrations ran; they never run again.
        outbox: Audit events that were decided in the write that stored them and are on their
            way to the trail.
        begun_in: The turn in which it began; earlier words are no answers to it.
        is_left: Whether the user left it; it is resumed when they ask for it.
        place: What is shown of it, made anew whenever it moves.
        left_out_visits: So many of the oldest visits are no longer in `step_history`.
        notices: What the user is told at their next turn of what operators did.
        awaiting: The key of the run of the step's tool that asked the user; "" for none.
    """

    session_id: str
    scenario_id: str
    version: int
    checksum: str
    step: str | None
    step_history: list[StepVisit] = Field(default_factory=list)
    completed_checkpoints: list[CompletedCheckpoint] = Field(default_factory=list)
    variables: dict[str, JsonValue] = Field(default_factory=dict)
    evidence: dict[str, Evidence] = Field(default_factory=dict)
    spent: list[Evidence] = Field(default_factory=list)
    to_confirm: dict[str, ProfileField] = Field(default_factory=dict)
    refused: dict[str, int] = Field(default_factory=dict)
    channel: str = "web"
    tenant_id: str = ""
    agent_id: str = ""
    created_at: AwareDatetime
    updated_at: AwareDatetime
    pending_migration: PendingMigration | None = None
    pinned_to: Pin | None = None
    progress: MigrationProgress | None = None
    review: ReviewFlag | None = None
    executed: list[ExecutedAction] = Field(default_factory=list)
    outbox: list[MigrationAppliedEvent] = Field(default_factory=list)
    is_left: bool = False
    begun_in: int = 0
    place: ScenarioPlace | None = None
    left_out_visits: int = 0
    notices: list[str] = Field(default_factory=list)
    awaiting: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it guides the conversation now."""
        return self.step is not None and not self.is_left

    @property
    def shown_place(self) -> ScenarioPlace | None:
        """What people are shown of it; nothing of one that was left."""
        return None if self.is_left else self.place

    @property
    def path(self) -> list[str]:
        """The ids of the visited steps, oldest first; the last one is the current one."""
        return [visit.step_id for visit in self.step_history]
