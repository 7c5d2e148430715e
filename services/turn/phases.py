"""A turn in phases: frozen values, each with what is known by then.

    ClaimedTurn ─ LoadedTurn ─ UnderstoodTurn ─ GroundedTurn ─ AnsweredTurn ─ StoredTurn

Each of the first four is also all that came before it. A step takes the earliest that it can do
with: what needs the patient's document takes a grounded turn, and mypy checks the order.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from data_models.chat_context import AgentMessage, ChatContext, Continuation, Turn
from data_models.clock import IdSource
from data_models.conversations import conversation
from data_models.conversations.claim import Change, Claim
from data_models.conversations.incoming_message import IncomingMessage, Press
from data_models.conversations.turn_events import Step
from data_models.documents import Stored
from data_models.errors import RoundsError
from data_models.identifiers import PatientId, hashed
from data_models.patient_context_models import Registry, TimingInfo
from services.conversations.turn_effects import TurnEffects
from services.language.replies.commands import command_in
from services.language.several_requests import apart, behind_opening
from services.patient_context.reading.snapshot import ShownRoster, shown_roster
from services.patient_context.roster import without
from services.patient_context.verdict import PatientVerdict
from services.runs.hub import Run
from services.turn.record import TurnRecord, TurnSessions, open_row


@dataclass(frozen=True, kw_only=True, eq=False)
class ClaimedTurn:
    """A message that is this replica's to answer; of its conversation nothing is loaded.

    Attributes:
        started: Monotonic seconds.
    """

    claim: Claim
    run: Run
    now: datetime
    started: float
    ids: IdSource
    record: TurnRecord = field(default_factory=TurnRecord)

    @property
    def message(self) -> IncomingMessage:
        """What the user sent."""
        return self.claim.message

    @property
    def conversation_id(self) -> str:
        """The conversation of this turn."""
        return self.claim.conversation.conversation_id

    @property
    def text(self) -> str:
        """The user's words; the request that they complete, once that is known."""
        return self.message.text

    @property
    def answer(self) -> str:
        """What the user says to the open question: the pressed button's word, else the text."""
        press = self.question_press()
        return self.message.text if press is None else press.answer

    @property
    def command(self) -> str | None:
        """The command that the user's words are; a button is none."""
        return None if self.message.press is not None else command_in(self.text)

    @property
    def active_patient_id(self) -> PatientId | None:
        """Whose chart is open to the sender, once that is loaded."""
        return None

    @property
    def opened_patient_id(self) -> PatientId | None:
        """Whose chart is open, to the sender or not, once that is loaded."""
        return None

    @property
    def is_press_elsewhere(self) -> bool:
        """Whether this is a button, but not the open question's: a plan's, or a stale one."""
        return self.message.press is not None and self.question_press() is None

    def question_press(self) -> Press | None:
        """Return the pressed button if it is the open question's; a plan's is the team's."""
        press = self.message.press
        asked = self.open_question() if press is not None else None
        return press if press and asked and press.target_id == asked.question_id else None

    def open_question(self) -> conversation.OpenQuestion | None:
        """Return the question this message may answer: asked of this user, alive, of this epoch."""
        question, message = self.question_of_sender(), self.message
        if question is None or message.press is not None:
            return question
        if question.patient_id is not None and message.is_seen_beside_another(question.patient_id):
            return None  # the yes of a second window, which shows another patient's question
        return question if question.words in ("", message.words_hash) else None

    def question_of_sender(self) -> conversation.OpenQuestion | None:
        """Return what this user was asked and may still answer, whatever this message says."""
        question = self.claim.conversation.question_of(self.message.sender.principal_id)
        if question is None or question.is_set_aside(self.active_patient_id):
            return None
        return question if question.is_alive(epoch=self.claim.epoch, now=self.now) else None

    def ask(
        self,
        kind: conversation.QuestionKind,
        text: str,
        *,
        patient_id: PatientId | None,
        payload: Mapping[str, Any] | None = None,
        question_id: str = "",
    ) -> None:
        """Open a question at the end of this turn; it is this user's to answer for 30 minutes.

        Args:
            question_id: Of one that is asked again, so that its buttons go on to answer it.
        """
        self.record.ask(
            conversation.OpenQuestion(
                question_id=question_id or self.ids.new_id("question"),
                kind=kind,
                run_id=self.run.run_id,
                user=self.message.sender.principal_id,
                patient_id=patient_id,
                epoch=self.claim.epoch,
                text=text,
                payload=dict(payload or {}),
                expires_at=self.now + timedelta(minutes=conversation.QUESTION_MINUTES),
            )
        )

    def step(self, step: Step) -> AbstractContextManager[None]:
        """Show that a step of the path begins, and ends."""
        return self.record.step(step, self.run)

    def load(
        self,
        registry: Stored[Registry],
        *,
        registry_ms: float = 0.0,
        closed: frozenset[PatientId] = frozenset(),
    ) -> "LoadedTurn":
        """Go on with what is stored of the conversation's patients, but for `closed` charts."""
        shown = without(registry.document, closed)
        loaded = LoadedTurn(
            **_known(self, ClaimedTurn),
            registry=shown,
            stored=registry,
            registry_ms=registry_ms,
            roster=_roster_of(shown),
        )
        return self.record.reach(loaded)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedTurn(ClaimedTurn):
    """A turn that knows its patients, and which of them is active.

    Attributes:
        registry: What the sender is told of: a chart that is closed to them is not there at all.
        stored: The whole registry.
        roster: What is shown of the registry, chosen once: a large one takes a while to sort.
    """

    registry: Registry
    stored: Stored[Registry]
    registry_ms: float
    roster: ShownRoster

    @property
    def active_patient_id(self) -> PatientId | None:
        """Whose chart is open to the sender."""
        return self.registry.active_patient_id

    @property
    def closed(self) -> frozenset[PatientId]:
        """Whose charts of this conversation are closed to the sender."""
        whole = self.stored.document.patient_registry
        return frozenset(whole.keys() - self.registry.patient_registry.keys())

    @property
    def opened_patient_id(self) -> PatientId | None:
        """Whose chart is open in the conversation, to the sender or not."""
        return self.stored.document.active_patient_id

    @property
    def had_switched(self) -> bool:
        """Whether a replica that died over this message had made the active patient active."""
        running = self.claim.conversation.running_turn
        if running is None or not running.decided:
            return False
        return running.patient_id == self.active_patient_id

    def with_registry(self, registry: Registry, stored: Stored[Registry]) -> Self:
        """Go on with another registry, which is stored as part of `stored`."""
        roster = _roster_of(registry)
        return self.record.reach(replace(self, registry=registry, stored=stored, roster=roster))

    def stay(self) -> "UnderstoodTurn":
        """Go on with the active patient: code answers, or has answered, whatever is meant."""
        return self.understand(PatientVerdict("UNCHANGED", self.active_patient_id))

    def understand(
        self, verdict: PatientVerdict, timing: TimingInfo | None = None
    ) -> "UnderstoodTurn":
        """Go on with what the message does to the active patient."""
        understood = UnderstoodTurn(
            **_known(self, LoadedTurn), verdict=verdict, timing=timing or TimingInfo()
        )
        return self.record.reach(understood)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnderstoodTurn(LoadedTurn):
    """A turn that knows whom its message is about."""

    verdict: PatientVerdict
    timing: TimingInfo

    @property
    def text(self) -> str:
        """The user's words; the request that they complete."""
        return self.verdict.pending[0] if self.verdict.pending else self.message.text

    def apart(self) -> "UnderstoodTurn":
        """Go on with a question and an order of one message as two requests, each by itself."""
        verdict, said = self.verdict, self.message.text
        is_opened = verdict.registry is not None or (verdict.patient_id or "\0") in said
        wanted = verdict.pending or (behind_opening(said) if is_opened else said,)
        has_patient = verdict.patient_id is not None
        each = tuple(one for said in wanted for one in apart(said, has_patient=has_patient))
        is_same = each == (verdict.pending or (self.message.text,))
        if self.message.press is not None or verdict.reply is not None or is_same:
            return self
        verdict = replace(verdict, pending=each, read=None)
        return self.record.reach(replace(self, verdict=verdict))

    def ground(self, context: Stored[ChatContext]) -> "GroundedTurn":
        """Go on in the patient's document, to which the turn is written from now on."""
        text, pending = self.message.text, self.verdict.pending
        said = "\n".join(pending)
        if all(one in text for one in pending):
            said = text  # which says all of it
        elif text not in pending[-1:]:
            said = ": ".join(filter(None, (text, said)))
        document, run = context.document, self.run
        row = open_row(document, run=run, message=self.message, said=said, now=self.now)
        kept = tuple(row.agent_responses)
        self.record.keep_in(document, row, etag=context.etag)
        effects = TurnEffects(claim=self.claim, patient_id=document.patient_id, answered=len(kept))
        grounded = GroundedTurn(
            **_known(self, UnderstoodTurn), document=document, row=row, kept=kept, effects=effects
        )
        return self.record.reach(grounded)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroundedTurn(UnderstoodTurn):
    """A turn in the document of its patient, or of the session where it has none.

    Attributes:
        document: Is written at the end; steps and tools change it in place until then.
        row: The turn in the document's history.
        kept: What a replica had stored of the team's answer that died over this turn.
        went_before: What waited with the request that is answered now, and is answered.
        effects: What tools change outside, one log for the whole of this attempt.
    """

    document: ChatContext
    row: Turn
    kept: tuple[AgentMessage, ...]
    effects: TurnEffects
    sessions: TurnSessions = field(default_factory=TurnSessions)
    went_before: tuple[str, ...] = ()

    @property
    def patient_id(self) -> PatientId | None:
        """The patient whose document this turn writes, if any."""
        return self.document.patient_id

    @property
    def continuation(self) -> Continuation | None:
        """Who waits for this user: of a group another one's form is not theirs to fill in."""
        waits = self.document.continuation
        return waits if waits is None or waits.asked_of in ("", self._sender) else None

    def wait_for(self, continuation: Continuation | None) -> None:
        """Have an agent wait for this user from now on; for nobody if it is None.

        A step of a plan is everybody's.
        """
        if continuation is not None and self.message.is_group and continuation.plan_step is None:
            continuation = continuation.model_copy(update={"asked_of": self._sender})
        self.document.continuation = continuation

    def is_of_turn_before(self, at: datetime) -> bool:
        """Whether what was done `at` in this conversation was done in the turn before this one."""
        last = {one.run_id for one in self.claim.conversation.answered[-1:]}
        return any(one.run_id in last and at >= one.timestamp for one in self.document.chat_history)

    @property
    def _sender(self) -> str:
        return hashed(self.message.sender.principal_id)

    def following(self) -> "GroundedTurn":
        """Go on with the request that waited behind the one that is answered."""
        done, *rest = self.verdict.pending
        verdict = replace(self.verdict, pending=tuple(rest))
        went_before = (*self.went_before, done)
        self.sessions.entities = None  # it has heard the words of the request before
        return self.record.reach(replace(self, verdict=verdict, went_before=went_before))


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What came of the answer to the server's question.

    Attributes:
        text: What the user is told.
        result: Of a clinic's question: `agreed`, and what was done; for the step that asked.
    """

    turn: GroundedTurn
    text: str
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """A turn whose work is over, as far as it came; nothing more is said in it."""

    turn: ClaimedTurn
    failure: RoundsError | None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn that is written, and what the conversation document records of it.

    Attributes:
        turn: None where nothing is kept of it.
    """

    turn: GroundedTurn | None
    answered: conversation.AnsweredMessage
    commit: Change


def _known(turn: ClaimedTurn, phase: type[ClaimedTurn]) -> dict[str, Any]:
    """Return what `turn` knows that a turn of `phase` knows: a later one may begin anew."""
    known = vars(turn)
    return {name: known[name] for name in phase.__dataclass_fields__}


def _roster_of(registry: Registry) -> ShownRoster:
    return shown_roster(registry.patient_registry, registry.active_patient_id)


LoadedTurnT = TypeVar("LoadedTurnT", bound=LoadedTurn)
