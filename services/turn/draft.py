"""One turn while it runs: what was loaded, what was decided, what will be written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.claim import Change, Claim
from data_models.conversation import (
    QUESTION_MINUTES,
    AnsweredMessage,
    Conversation,
    Interruption,
    OpenQuestion,
    QuestionKind,
)
from data_models.documents import Stored
from data_models.errors import ClaimLostError
from data_models.identifiers import PatientId
from data_models.incoming_message import Press
from data_models.patient_context_models import Decision, Registry, TimingInfo
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Outcome,
    Step,
)
from services.conversations.turn_effects import TurnEffects
from services.entities.session import EntitySession
from services.evidence.looks import LookTaken
from services.identity.index import PersonIndex
from services.identity.person import Person
from services.language.utterance import Utterance
from services.memory_blocks.understanding import Understanding
from services.patient_context.snapshot import ShownRoster
from services.runs.hub import Run
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.tool_memory.session import ToolMemorySession
from services.turn.open_questions import waiting_after
from services.turn.plan_order import place_of
from services.turn.spoken_part import SpokenPart


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What the conversation document records of a finished turn."""

    answered: AnsweredMessage
    commit: Change


@dataclass(slots=True)
class TurnDraft:
    """The state of one turn; nothing else holds any of it.

    Attributes:
        started: Monotonic seconds.
        registry: As stored; replaced when the decision changes it.
        context: The document this turn writes, None until it is known which.
        speaking: Messages that agents have begun and not finished, by id.
        question: What the server asks at the end of this turn.
        asked_result: What came of the answer to a clinic's question: `agreed`, and what was done.
        pending_request: What the user asked for before it was clear for whom, and is done now.
        changed_chart: Whether another chart was opened: what was asked of the one before is over.
        leaves_no_turn: After a clear there is nothing to keep the turn in.
        told_interruption: Whether the user was told of a turn that died before this one.
        understanding: What the message means in its conversation, once it is read.
        is_call_for_help: Whether the fixed safety answer was given.
        scenario: The scenario of the document's patient, once opened.
        shown_roster: What is shown of a registry, chosen once: a large one takes a while to sort.
        views: Rows of the chart that were shown with messages; stored beside the document.
        is_of_team: Whether the team answered the message as it stands, and not code before it.
        utterance: The words of `text` as they were read, once.
        person: Who the active patient is, as far as the directory or the registry knows.
        people: Whom the directory told of; None where it was not asked.
        look: The chart as this turn took it in; None: nobody keeps that.
        language: In which the user is answered, ISO 639-1; "" until somebody asked.
        kept_answers: How many messages a replica had stored that died over this turn.
    """

    claim: Claim
    run: Run
    now: datetime
    started: float
    registry: Stored[Registry] | None = None
    registry_ms: float | None = None
    context: Stored[ChatContext] | None = None
    turn: Turn | None = None
    unsaved: bool = False
    speaking: dict[str, SpokenPart] = field(default_factory=dict)
    decision: Decision | None = None
    timing: TimingInfo = field(default_factory=TimingInfo)
    question: OpenQuestion | None = None
    asked_result: Mapping[str, Any] | None = None
    pending_request: str = ""
    changed_chart: bool = False
    leaves_no_turn: bool = False
    is_of_team: bool = False
    tells_interruption: bool = False
    outcome: Outcome = "success"
    first_text_at: float | None = None
    unkept_answers: list[AgentMessage] = field(default_factory=list)
    open_steps: list[Step] = field(default_factory=list)
    open_calls: list[str] = field(default_factory=list)
    tool_memory: ToolMemorySession | None = None
    entities: EntitySession | None = None
    understanding: Understanding | None = None
    is_call_for_help: bool = False
    scenario: ScenarioRuntime | None = None
    shown_roster: tuple[Registry, ShownRoster] | None = None
    effects: TurnEffects | None = None
    views: list[ChartView] = field(default_factory=list)
    look: LookTaken | None = None
    kept_answers: int = 0
    language: str = ""
    person: Person | None = None
    people: PersonIndex | None = None
    utterance: Utterance | None = None
    hides_active: bool = False  # the open chart is closed to the sender: nobody is named

    @property
    def text(self) -> str:
        """The user's words; the request that they complete, once that is known."""
        return self.pending_request or self.claim.message.text

    @property
    def said(self) -> str:
        """What stands in the history: the user's words, with the request that they complete."""
        return ": ".join(part for part in (self.claim.message.text, self.pending_request) if part)

    @property
    def answer(self) -> str:
        """What the user says to the open question: the pressed button's word, else the text."""
        press = self.question_press()
        return self.claim.message.text if press is None else press.answer

    @property
    def is_press_elsewhere(self) -> bool:
        """Whether this is a button, but not the open question's: a plan's, or a stale one."""
        return self.claim.message.press is not None and self.question_press() is None

    @property
    def conversation_id(self) -> str:
        """The conversation of this turn."""
        return self.claim.conversation.conversation_id

    @property
    def patient_id(self) -> PatientId | None:
        """The patient whose document this turn writes, if any."""
        return self.context.document.patient_id if self.context is not None else None

    @property
    def has_unsaved_answers(self) -> bool:
        """Whether an agent has finished a message that is not stored yet."""
        return self.unsaved and self.turn is not None and bool(self.turn.agent_responses)

    @property
    def kept(self) -> list[AgentMessage]:
        """What a replica had stored of the team's answer that died over this turn."""
        return self.answers[: self.kept_answers]

    def effects_log(self) -> TurnEffects:
        """Return the log of what tools change outside, one for the whole of this attempt."""
        if self.effects is None:
            self.effects = TurnEffects(
                claim=self.claim, patient_id=self.patient_id, answered=self.kept_answers
            )
        return self.effects

    def document(self) -> ChatContext:
        """Return the document this turn writes; it has been opened by then."""
        if self.context is None:
            raise ClaimLostError("the turn has no document")
        return self.context.document

    def loaded_registry(self) -> Registry:
        """Return the registry; before it is loaded an empty one."""
        if self.registry is None:
            return Registry(conversation_id=self.conversation_id, epoch=self.claim.epoch)
        return self.registry.document

    @property
    def had_switched(self) -> bool:
        """Whether a replica that died over this message had made the active patient active."""
        running = self.claim.conversation.running_turn
        active = self.loaded_registry().active_patient_id
        return running is not None and running.decided and running.patient_id == active

    def question_press(self) -> Press | None:
        """Return the pressed button if it is the open question's; a plan's is the team's."""
        press, asked = self.claim.message.press, self.open_question()
        is_its = press is not None and asked is not None and press.target_id == asked.question_id
        return press if is_its else None

    def ask(
        self,
        kind: QuestionKind,
        text: str,
        *,
        patient_id: PatientId | None,
        question_id: str,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a question at the end of this turn; it is this user's to answer for 30 minutes."""
        self.question = OpenQuestion(
            question_id=question_id,
            kind=kind,
            run_id=self.run.run_id,
            user=self.claim.message.sender.principal_id,
            patient_id=patient_id,
            epoch=self.claim.epoch,
            text=text,
            payload=dict(payload or {}),
            expires_at=self.now + timedelta(minutes=QUESTION_MINUTES),
        )

    def hear(self, text: str, *, at: float, message_id: str = "") -> None:
        """Take in more text of a message that an agent has begun."""
        self.first_text_at = at if self.first_text_at is None else self.first_text_at
        if message_id in self.speaking:
            self.speaking[message_id].pieces.append(text)

    def open_question(self) -> OpenQuestion | None:
        """Return the question this message may answer: asked of this user, alive, of this epoch."""
        question, message = self._question_of_sender(), self.claim.message
        if question is None or message.press is not None:
            return question
        if question.patient_id is not None and message.is_seen_beside_another(question.patient_id):
            return None  # the yes of a second window, which shows another patient's question
        return question if question.words in ("", message.words_hash) else None

    def _question_of_sender(self) -> OpenQuestion | None:
        question = self.claim.conversation.question_of(self.claim.message.sender.principal_id)
        if question is None or question.is_set_aside(self.loaded_registry().active_patient_id):
            return None
        return question if question.is_alive(epoch=self.claim.epoch, now=self.now) else None

    def adopt(self, context: Stored[ChatContext]) -> None:
        """Write this turn into `context` from now on."""
        self.context = context
        self.turn = self._left_open(context.document) or self._begun(context.document)
        self.unsaved = True

    def _left_open(self, document: ChatContext) -> Turn | None:
        """Return this turn as a replica left it that died over it; show what it had stored."""
        last = document.chat_history[-1] if document.chat_history else None
        if last is None or last.run_id != self.run.run_id or not last.agent_responses:
            return None
        last.turn_status, last.error_code = "IN_PROGRESS", None
        self.kept_answers = len(last.agent_responses)
        for message in last.agent_responses:
            self.run.emit(AgentMessageStarted(message.message_id, message.agent))
            self.run.emit(AgentTextDelta(message.message_id, message.text))
            self.run.emit(AgentMessageFinished(message))
        last.agent_responses += self.unkept_answers
        self.unkept_answers = []
        return last

    def _begun(self, document: ChatContext) -> Turn:
        """Begin the row of this turn, in the place of one in which nobody had answered."""
        last = document.chat_history[-1] if document.chat_history else None
        if last is not None and last.run_id == self.run.run_id:
            document.chat_history.pop()
            document.next_turn_id = last.turn_id
        turn = Turn(
            turn_id=document.next_turn_id,
            run_id=self.run.run_id,
            timestamp=self.now,
            user=self.claim.message.sender.display_name,
            user_message=self.said,
            agent_responses=self.unkept_answers,
            turn_status="IN_PROGRESS",
        )
        self.unkept_answers = []
        document.next_turn_id += 1
        document.chat_history.append(turn)
        return turn

    @property
    def answers(self) -> list[AgentMessage]:
        """What agents said in this turn, kept already or not yet."""
        return self.unkept_answers if self.turn is None else self.turn.agent_responses

    def add_answer(self, message: AgentMessage) -> None:
        """Keep what an agent said; of steps that ran side by side in the plan's order."""
        self.speaking.pop(message.message_id, None)
        plan = self.context.document.plan if self.context is not None else None
        self.answers.insert(place_of(message, self.answers, plan), message)
        self.unsaved = self.unsaved or self.turn is not None

    def result(self, *, answered_at: datetime) -> TurnOutcome:
        """Return what the conversation document records of this turn."""
        kept = None if self.leaves_no_turn or self.turn is None else self.turn.turn_id
        answered = AnsweredMessage(
            message_hash=self.claim.message.message_hash,
            run_id=self.run.run_id,
            patient_id=self.patient_id,
            epoch=self.claim.epoch,
            turn_id=kept,
            answered_at=int(answered_at.timestamp()),
        )
        return TurnOutcome(answered=answered, commit=self._commit())

    def _commit(self) -> Change:
        was_asked = self._question_of_sender() is not None and not self.is_press_elsewhere

        def change(draft: Conversation) -> None:
            begun = self._begun_in_vain(draft)
            if self.tells_interruption or begun is not None:
                draft.interruption = begun
            waiting = waiting_after(
                draft.questions,
                user=self.claim.message.sender.principal_id,
                asked=self.question,
                was_answered=was_asked,
                changed_chart=self.changed_chart,
                active=self.loaded_registry().active_patient_id,
            )
            draft.keep_questions(waiting)
            draft.language = self.language or draft.language

        return change

    def _begun_in_vain(self, conversation: Conversation) -> Interruption | None:
        """Return what this turn began to change, if it did not end well: it may be asked again."""
        running, turn = conversation.running_turn, self.turn
        if running is None or not running.deeds or turn is None or turn.turn_status == "COMPLETED":
            return None
        died = conversation.interrupted(running, kept_with=self.patient_id)
        return died.model_copy(update={"was_told": True, "asked": ""})
