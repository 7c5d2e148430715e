"""The conversation document: owner, epoch, claim, open questions, answered messages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Self

from pydantic import AwareDatetime, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from data_models.conversations.incoming_message import ROUNDS, IncomingMessage
from data_models.identifiers import PatientId
from data_models.values import Document, Part

# What tools change outside our documents: it happens once however often it is tried.


@dataclass(frozen=True, slots=True)
class Effect:
    """One change outside, as a back end is told of it.

    Attributes:
        key: The same at every attempt at the same change, and no other change has it.
        is_repeated: An earlier attempt may have made the change: look before making it.
    """

    key: str
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that may go on now.

    Attributes:
        arguments: What to run with.
        is_other: Whether that is what an earlier attempt had begun, and not what was called.
    """

    effect: Effect
    arguments: Mapping[str, Any]
    is_other: bool = False


class OutsideChange(Part):
    """A tool's run that changes something outside, on record before it begins.

    Attributes:
        arguments: As the tool took them; None where they are too long to keep.
        message: How many messages of its turn were finished before it; -1 for a run that has a
            key of its own and that no agent asked for.
        patient_id: In whose turn; its arguments are shown in no other's.
    """

    key: str
    tool: str
    arguments: dict[str, Any] | None = None
    message: int = -1
    patient_id: PatientId | None = None


ANSWERED_INLINE = 64
"""Each turn writes them twice."""
ANSWERED_HOURS = 24
QUESTION_MINUTES = 30
UNDO_HOURS = 24

QuestionKind = Literal[
    "clear", "destructive_tool", "which_patient", "subject", "compare", "scenario_value",
    "which_entity", "new_history", "retire_statement", "break_glass", "undo_clear",
]  # fmt: skip

WHO_KINDS = frozenset({"which_patient", "subject"})
"""Questions whose answer says whom a message is about, and does nothing else."""


class RunningTurn(Part):
    """The claim: the lock on the conversation and the write-ahead record of the user's message.

    Attributes:
        patient_id: Whose document this turn writes: the active patient when the turn began, then
            the decided one.
        decided: Whether the patient decision is made; until then the text belongs to nobody.
        expires_at: Renewed while the turn runs; past it and the grace anybody may take over.
        purpose: `upkeep` for work that answers nobody: a person's correction, a move, a deletion.
        attempts: How many replicas have begun to answer it, the one that does now included.
        deeds: What its tools have begun to change outside, by whichever replica.
    """

    run_id: str
    purpose: Literal["turn", "upkeep"] = "turn"
    attempts: int = 1
    message: IncomingMessage
    replica: str
    patient_id: PatientId | None
    decided: bool = False
    started_at: AwareDatetime
    expires_at: AwareDatetime
    deeds: list[OutsideChange] = Field(default_factory=list)


DRAFT_ACTION = "draft_order"
"""What the payload of a question of drafts of orders names."""


class OpenQuestion(Part):
    """What the server asked of one user and has not seen answered (spec page 1.8).

    Attributes:
        words: If a turn died over the answer, the message's `words_hash`: the same words answer
            still, or the question's button, and nothing else does.
        is_over: Another user ended it; it stands here so that a late answer is told so.
        asked_at: When the turn that asked first was over. What was sent before answers something
            else; None: nobody knows.
    """

    question_id: str
    kind: QuestionKind
    run_id: str
    user: str
    patient_id: PatientId | None = None
    epoch: int
    text: str
    payload: dict[str, Any] = Field(default_factory=dict)
    expires_at: AwareDatetime
    words: str = ""
    is_over: bool = False
    asked_at: AwareDatetime | None = None

    def is_alive(self, *, epoch: int, now: datetime) -> bool:
        """Whether it may still be answered: asked since the last clear, and not too long ago."""
        return not self.is_over and self.epoch == epoch and now < self.expires_at

    def noting(self, more: Mapping[str, Any]) -> Self:
        """Return it with more in its payload."""
        return self.model_copy(update={"payload": {**self.payload, **more}})

    def ended(self) -> Self:
        """Return it as what nobody may answer any more."""
        return self.model_copy(update={"is_over": True})

    def is_set_aside(self, active: PatientId | None) -> bool:
        """Whether it is of a draft of an order for a patient who is not open: it waits for them."""
        return self.payload.get("action") == DRAFT_ACTION and self.patient_id != active


class AnsweredMessage(NamedTuple):
    """An answered message, stored as a JSON array because there are many (DESIGN, State)."""

    message_hash: str
    run_id: str
    patient_id: str | None
    epoch: int
    turn_id: int | None
    answered_at: int
    """Unix seconds."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Write it as the tuple that it is: looked at field by field, it takes eight times that."""
        row = handler.generate_schema(tuple[str, str, str | None, int, int | None, int])
        return core_schema.no_info_after_validator_function(cls._make, row)


class AnsweredPage(Part):
    """A numbered blob of older answered messages; it may go once `newest_at` is a day old."""

    number: int
    newest_at: int


class AnsweredBlob(Document):
    """`answered/{number}.json`: answered messages that left the conversation document."""

    messages: list[AnsweredMessage]


class QueuedMessage(Document):
    """`inbox/{n}.json`: a message that met a running turn, durable before it is acknowledged."""

    number: int
    run_id: str
    message: IncomingMessage


class Interruption(Part):
    """A turn that died with its replica, or failed after it had begun to change something.

    Attributes:
        words: The message's `words_hash`: who says the same again means what was begun.
        deeds: What it had begun to change outside; nobody knows whether it was done.
        deeds_for: The patient whose turn it was, wherever its words are kept.
        effects_of: The run whose keys those changes have.
        asked: The question that the message may have said yes to.
        was_told: Whether the user knows of it; else the next turn says so, once.
    """

    run_id: str
    patient_id: PatientId | None
    interrupted_at: AwareDatetime
    words: str = ""
    deeds: list[OutsideChange] = Field(default_factory=list)
    deeds_for: PatientId | None = None
    effects_of: str = ""
    asked: str = ""
    was_told: bool = False


class LastClear(Part):
    """The newest clear, which who made it may undo for 24 hours; a forget takes it out.

    Attributes:
        timestamp: Names the archive.
        by: Principal of who cleared.
    """

    timestamp: str
    by: str
    at: AwareDatetime


class BranchOrigin(Part):
    """Where a branch comes from: what was said in `conversation_id` before that turn."""

    conversation_id: str
    before_turn: int


class Conversation(Document):
    """`conversation.json`: small, never archived, the commit record of everything.

    Attributes:
        owner: Principal (web) or `bot:` and the channel's conversation (Teams).
        open_question: The newest; servers before 0.3 know this one alone.
        other_questions: What other users of a group were asked before, the oldest first.
        inbox_head: Number of the oldest queued message; equal to `inbox_tail` when none waits.
        pending_clear: Archive timestamp of a clear whose originals are not deleted yet.
        pending_restore: Archive timestamp of an undone clear that is not copied back yet.
        language: In which its last user was answered, ISO 639-1; "" where nobody was.
        branched_from: None where it is no branch.
    """

    owner: str
    channel: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    running_turn: RunningTurn | None = None
    open_question: OpenQuestion | None = None
    other_questions: list[OpenQuestion] = Field(default_factory=list)
    answered: list[AnsweredMessage] = Field(default_factory=list)
    answered_pages: list[AnsweredPage] = Field(default_factory=list)
    next_answered_page: int = 1
    inbox_head: int = 0
    inbox_tail: int = 0
    interruption: Interruption | None = None
    pending_clear: str | None = None
    last_clear: LastClear | None = None
    pending_restore: str | None = None
    branched_from: BranchOrigin | None = None
    language: str = ""

    @property
    def kind(self) -> Literal["talk", "rounds"]:
        """Whether somebody began it by talking, or a round prepares a patient in it."""
        return "rounds" if self.channel == ROUNDS else "talk"

    @property
    def questions(self) -> list[OpenQuestion]:
        """What waits for an answer, the newest last; of each user at most one."""
        newest = self.open_question
        return [*self.other_questions, *([] if newest is None else [newest])]

    def question_of(self, principal: str) -> OpenQuestion | None:
        """Return what waits for this principal's answer, alive or not."""
        found = [one for one in self.questions if one.user == principal]
        return found[0] if found else None

    def keep_questions(self, questions: Iterable[OpenQuestion]) -> None:
        """Let these wait, the newest last, and no others."""
        # What is over stands where servers before 0.3 do not look: they would let it be answered.
        kept = sorted(questions, key=lambda one: not one.is_over)
        self.open_question = kept.pop() if kept and not kept[-1].is_over else None
        self.other_questions = kept

    def undoable_clear(self, principal: str, *, now: datetime) -> LastClear | None:
        """Return the last clear if it is this principal's, and not too long ago to be undone."""
        last = self.last_clear
        is_theirs = last is not None and last.by == principal
        return last if last and is_theirs and now < last.at + timedelta(hours=UNDO_HOURS) else None

    def begun_before(
        self, message: IncomingMessage, patient_id: PatientId | None
    ) -> Interruption | None:
        """Return the turn that died, if `message` says for the same patient what it answered."""
        died = self.interruption
        if died is None or not died.effects_of or died.words != message.words_hash:
            return None
        return died if died.deeds_for == patient_id else None

    def interrupted(self, turn: RunningTurn, *, kept_with: PatientId | None) -> Interruption:
        """Return what the next turn tells of `turn`, and needs to do nothing a second time."""
        before = self.begun_before(turn.message, turn.patient_id)
        deeds = [*(before.deeds if before is not None else ()), *turn.deeds]
        question = self.question_of(turn.message.sender.principal_id)
        was_asked = question is not None and question.kind == "destructive_tool"
        return Interruption(
            run_id=turn.run_id,
            patient_id=kept_with,
            interrupted_at=turn.started_at,
            words=turn.message.words_hash,
            deeds=list({change.key: change for change in deeds}.values()),
            deeds_for=turn.patient_id,
            effects_of=turn.run_id if before is None else before.effects_of,
            asked=question.text if question is not None and was_asked else "",
        )

    def questions_after(self, dead: RunningTurn) -> list[OpenQuestion]:
        """Return the questions as they stand once `dead` is buried.

        Whose a request is may be answered again: nothing is done twice by that. Any other question
        ends with the message that may have answered it, and those of others with the chart that
        it may have left.
        """
        user = dead.message.sender.principal_id
        others = [one.ended() for one in self.questions if one.user != user]
        question = self.question_of(user)
        if question is None or question.kind not in WHO_KINDS or dead.purpose != "turn":
            return others
        return [*others, question.model_copy(update={"words": dead.message.words_hash})]

    def draft(self) -> Self:
        """Return a copy to change: what a turn changes in place is copied, the rest is shared."""
        running = self.running_turn
        return self.model_copy(
            update={
                "answered": list(self.answered),
                "answered_pages": list(self.answered_pages),
                "running_turn": None if running is None else running.model_copy(),
            }
        )
