"""What a context document keeps for its memory blocks (spec page 4).

The turns of the block `conversation_history` are the document's own; the blocks themselves are
made from all this by `services/memory_blocks/blocks.py`, so that no figure is stored twice.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from data_models.identifiers import PatientId
from data_models.values import Document, Part

RING = 10
"""Lists that only tell the recent past hold so many."""
MEMORY_LIMIT_BYTES = 14_000


def _turn_number(value: Any) -> Any:
    """Accept `"turn_7"` of other writers for 7."""
    return value.removeprefix("turn_") if isinstance(value, str) else value


TurnReference: TypeAlias = Annotated[int, BeforeValidator(_turn_number)]


class ContextEnrichment(Part):
    """How a message was understood in the light of what came before.

    Attributes:
        previous_context: What was going on, in a sentence.
        enriched_message: The message said in full; shown to agents beside the user's own words.
        relevant_history: Numbers of the turns that it refers to, here or in the archive.
        source: Who wrote it.
    """

    previous_context: str = ""
    enriched_message: str = ""
    relevant_history: list[TurnReference] = Field(default_factory=list)
    source: Literal["model", "rules"] = "rules"


class IntentClassification(Part):
    """What the user wants, by the team's list of intents."""

    intent: str
    confidence: float = Field(ge=0.0, le=1.0)
    reasoning: str = ""


class TopicTransition(Part):
    """From this turn on the talk was about `topic`; `trigger` says what led there."""

    turn: int
    topic: str
    trigger: str


class FlowEntry(Part):
    """One turn as the summary tells it, in at most three short lines.

    Attributes:
        said: What the user said, understood in context.
        routed: Who answered, and by which confidence they were chosen.
        answered: What the agent did.
    """

    turn_id: int
    at: AwareDatetime
    said: str
    routed: str = ""
    answered: str = ""
    topic: str = ""


class TopicSpan(Part):
    """Turns that left the flow, and what they were about."""

    first: int
    last: int
    topic: str


NOTE = "note"
"""The kind of what a workflow noted of the user's answers."""


class KeyPoint(Part):
    """A statement about the patient that somebody made in this conversation.

    Attributes:
        point_id: Unique in the document and never used again.
        text: The statement as people read it, such as `Allergy: penicillin`.
        turn_id: The turn it comes from; None for what a person added.
        kind: What it is about; "" for what 0.1 noted.
        about: What two statements must share to be about the same thing, folded.
        polarity: Whether it says that something is so, or that it is not.
        quote: The user's own sentence that says it; "" for what a person added in the panel.
        said_by: Display name of who said or corrected it last.
        said_on: The day on which it was said, ISO; "" for what was held before that was noted.
        status: An `active` one is held. A `superseded` one gave way to a newer one, a `retired` one
            to a person. An `unverified` one was noted by 0.1 without a quote; people see it in the
            panel and may confirm it, no prompt holds it.
        was: What it said before a person corrected it.
        supersedes: Ids of the statements that gave way to it.
    """

    point_id: str
    text: str
    turn_id: TurnReference | None = None
    source: Literal["model", "rules", "person"] = "rules"
    status: Literal["active", "retired", "superseded", "unverified"] = "active"
    kind: str = ""
    about: str = ""
    polarity: Literal["present", "absent"] = "present"
    quote: str = ""
    said_by: str = ""
    said_on: str = ""
    was: str = ""
    supersedes: list[str] = Field(default_factory=list)


class MemoryCounts(Part):
    """Counted since the conversation with this patient began; never reset.

    Attributes:
        exchanges: Turns that ended COMPLETED with at least one answer.
        updates: Turns after which the blocks were brought up to date.
        failed_updates: Those of them whose extraction failed or came too late.
        generation_seconds: How long the last extractions took, newest last.
    """

    exchanges: int = Field(default=0, ge=0)
    updates: int = Field(default=0, ge=0)
    failed_updates: int = Field(default=0, ge=0)
    generation_seconds: list[float] = Field(default_factory=list)


class MemoryBlocks(Part):
    """What a document keeps that its turns do not say (at most 14,000 bytes as stored).

    Attributes:
        user_id: Principal of who wrote last.
        started_at: When the first turn came; None until one did.
        topic_transitions: The last 10.
        flow: The newest turns for the summary, oldest first.
        earlier: What the turns before `flow` were about.
        next_points: Number of the next key point.
    """

    user_id: str = ""
    started_at: AwareDatetime | None = None
    active_topic: str = ""
    conversation_phase: str = ""
    topic_transitions: list[TopicTransition] = Field(default_factory=list)
    flow: list[FlowEntry] = Field(default_factory=list)
    earlier: list[TopicSpan] = Field(default_factory=list)
    key_points: list[KeyPoint] = Field(default_factory=list)
    next_points: int = 1
    last_archival: AwareDatetime | None = None
    counts: MemoryCounts = Field(default_factory=MemoryCounts)

    @model_validator(mode="before")
    @classmethod
    def _without_what_turns_say(cls, stored: Any) -> Any:
        """Leave out what earlier versions kept beside the turns that say it."""
        if not isinstance(stored, dict):
            return stored
        return {name: value for name, value in stored.items() if name not in _SAID_BY_TURNS}


_SAID_BY_TURNS = frozenset(
    {"last_activity", "last_intent", "last_updated", "next_topics", "routing_history"}
)


Block: TypeAlias = Mapping[str, Any]
"""A JSON block with the seed's field names."""


# What people changed in a patient's memory: by whom, from what, to what.

CHANGES_LIMIT_BYTES = 2_000
MemoryAction: TypeAlias = Literal["correct", "retire", "restore", "undo"]


class MemoryChange(Part):
    """One change.

    Attributes:
        change_id: Counted in the document and never used again.
        by: Principal id of the person.
        item: Id of what was changed, as the memory view names it.
        label: What it is called, for people.
        before: Its state as it was stored; None if it was not there.
        after: Its state since then; None if it was removed.
        undone: Whether a later change took it back.
    """

    change_id: int
    at: AwareDatetime
    by: str
    action: MemoryAction
    item: str
    label: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    undone: bool = False


class MemoryChanges(Part):
    """The newest changes, oldest first; older ones are in blobs beside the document."""

    changes: list[MemoryChange] = Field(default_factory=list)
    next_change: int = 1

    def leaving(self) -> list[MemoryChange]:
        """Take out and return what no longer fits; the newest stays whatever its size."""
        sizes = [one.stored_bytes() for one in self.changes]
        count = 0
        while len(sizes) - count > 1 and sum(sizes[count:]) > CHANGES_LIMIT_BYTES:
            count += 1
        gone, self.changes = self.changes[:count], self.changes[count:]
        return gone


class ArchivedChanges(Document):
    """`…_changes/{first}-{last}.json`: changes that left the document."""

    patient_id: PatientId | None
    changes: list[MemoryChange]
