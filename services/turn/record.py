"""What accumulates while a turn runs: what was said and asked, what is under way and stored."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.conversations import turn_events
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.plan import Plan
from services.entities.session import EntitySession
from services.evidence.looks import LookTaken
from services.language.utterance import Utterance
from services.memory_blocks.plain_reading import Understanding
from services.runs.hub import Run, show_whole
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.tool_memory.session import ToolMemorySession

if TYPE_CHECKING:  # a phase holds the record, which notes the last one
    from services.turn.phases import ClaimedTurn

TurnT = TypeVar("TurnT", bound="ClaimedTurn")


@dataclass(slots=True)
class TurnSessions:
    """What this turn has opened and read of the document; each is one file's to open."""

    tool_memory: ToolMemorySession | None = None
    entities: EntitySession | None = None
    scenario: ScenarioRuntime | None = None
    utterance: Utterance | None = None
    understanding: Understanding | None = None
    look: LookTaken | None = None


@dataclass(slots=True)
class TurnRecord:
    """The one thing of a turn that changes; only its own methods change it.

    Attributes:
        reached: The last phase, for whoever stores a turn that was cut off.
        question: What the server asks at the end of this turn.
        changed_chart: Whether another chart was opened: what was asked of the one before is over.
        leaves_no_turn: After a clear there is nothing to keep the turn in.
        is_of_team: Whether the team answered the message as it stands, and not code before it.
        is_call_for_help: Whether the fixed safety answer was given.
        language: In which the user is answered, ISO 639-1; "" until somebody asked.
        views: Rows of the chart that were shown with messages; stored beside the document.
        etag: The stored version of the document that is written.
        open_steps: Steps that have begun and not ended.
    """

    reached: "ClaimedTurn | None" = None
    question: OpenQuestion | None = None
    changed_chart: bool = False
    leaves_no_turn: bool = False
    is_of_team: bool = False
    is_call_for_help: bool = False
    outcome: turn_events.Outcome = "success"
    language: str = ""
    first_text_at: float | None = None
    views: list[ChartView] = field(default_factory=list)
    etag: str | None = None
    open_steps: list[turn_events.Step] = field(default_factory=list)
    _open_calls: list[str] = field(default_factory=list)
    _speaking: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    _unkept: list[AgentMessage] = field(default_factory=list)
    _document: ChatContext | None = None
    _row: Turn | None = None
    _is_unsaved: bool = False

    def reach(self, turn: TurnT) -> TurnT:
        """Note how far the turn has come, and return it."""
        self.reached = turn
        return turn

    def last_reached(self) -> "ClaimedTurn | None":
        """Return the last phase and let go of it: a turn that is over is freed at once."""
        turn, self.reached = self.reached, None
        return turn

    # -- decisions of code --------------------------------------------------------------------

    def ask(self, question: OpenQuestion | None) -> None:
        """Have this be asked at the end of the turn; None: nothing is."""
        self.question = question

    def change_chart(self) -> None:
        """Note that another chart was opened."""
        self.changed_chart = True

    def leave_no_turn(self) -> None:
        """Have nothing be kept of this turn."""
        self.leaves_no_turn = True

    def answer_by_team(self) -> None:
        """Note that no code has answered, so that the team does."""
        self.is_of_team = True

    def note_call_for_help(self) -> None:
        """Note that the message is a call for help."""
        self.is_call_for_help = True

    @contextmanager
    def step(self, step: turn_events.Step, run: Run) -> Iterator[None]:
        """Show in `run` that a step begins and ends; one that is cut off stays open."""
        run.emit(turn_events.StepStarted(step))
        self.open_steps.append(step)
        yield
        self.open_steps.remove(step)
        run.emit(turn_events.StepFinished(step))

    def answer_in(self, language: str) -> None:
        """Note the language in which the user is answered."""
        self.language = language

    def end(self, outcome: turn_events.Outcome) -> None:
        """Note how the turn ends."""
        self.outcome = outcome

    # -- what is said -------------------------------------------------------------------------

    @property
    def answers(self) -> list[AgentMessage]:
        """What agents said in this turn, kept already or not yet."""
        return self._unkept if self._row is None else self._row.agent_responses

    @property
    def has_unsaved_answers(self) -> bool:
        """Whether an agent has finished a message that is not stored yet."""
        return self._is_unsaved and self._row is not None and bool(self.answers)

    def follow(self, event: turn_events.TurnEvent, *, at: float) -> None:
        """Keep what was said and what is under way; `at` is now in monotonic seconds."""
        match event:
            case turn_events.AgentMessageStarted():
                self._speaking[event.message_id] = (event.agent, [])
            case turn_events.AgentTextDelta():
                self.hear(event.text, at=at, message_id=event.message_id)
            case turn_events.ViewShown():
                self.views.append(event.view)
            case turn_events.AgentMessageFinished():
                self.add_answer(event.message)
            case turn_events.ToolCallStarted():
                self._open_calls.append(event.call_id)
            case turn_events.ToolCallResult():
                self._open_calls.remove(event.call_id)
            case _:
                pass

    def hear(self, text: str, *, at: float, message_id: str = "") -> None:
        """Take in more text of a message that an agent has begun."""
        self.first_text_at = at if self.first_text_at is None else self.first_text_at
        if message_id in self._speaking:
            self._speaking[message_id][1].append(text)

    def add_answer(self, message: AgentMessage) -> None:
        """Keep what an agent said; of steps that ran side by side in the plan's order."""
        self._speaking.pop(message.message_id, None)
        plan = self._document.plan if self._document is not None else None
        self.answers.insert(place_of(message, self.answers, plan), message)
        self._is_unsaved = True

    def cut_calls(self) -> Iterator[turn_events.ToolCallResult]:
        """Yield the end of each call that was cut off."""
        for call_id in self._open_calls:
            yield turn_events.ToolCallResult(call_id, "cancelled", is_error=True, duration_ms=0.0)

    def cut_messages(self, *, at: datetime, is_model: bool) -> Iterator[AgentMessage]:
        """Yield each message that was cut off, kept as far as it was shown."""
        for message_id, (agent, pieces) in list(self._speaking.items()):
            message = AgentMessage(
                message_id=message_id,
                agent=agent,
                text="".join(pieces),
                timestamp=at,
                made_by="model" if is_model else "rules",
            )
            self.add_answer(message)
            yield message

    # -- where it is kept ---------------------------------------------------------------------

    def keep_in(self, document: ChatContext, row: Turn, *, etag: str | None) -> None:
        """Keep what is said in `row` of `document` from now on."""
        row.agent_responses += self._unkept
        self._unkept, self._is_unsaved = [], True
        self._document, self._row, self.etag = document, row, etag

    def save(self, etag: str) -> None:
        """Note that the document is stored as it is now."""
        self.etag, self._is_unsaved = etag, False


def open_row(
    document: ChatContext, *, run: Run, message: IncomingMessage, said: str, now: datetime
) -> Turn:
    """Return the row of this turn, as a replica left it that died over it, else begun."""
    last = document.chat_history[-1] if document.chat_history else None
    if last is not None and last.run_id == run.run_id:
        if last.agent_responses:
            return _left_open(last, run)
        document.chat_history.pop()  # nobody had answered in it
        document.next_turn_id = last.turn_id
    row = Turn(
        turn_id=document.next_turn_id,
        run_id=run.run_id,
        timestamp=now,
        user=message.sender.display_name,
        user_message=said,
        turn_status="IN_PROGRESS",
    )
    document.next_turn_id += 1
    document.chat_history.append(row)
    return row


def _left_open(row: Turn, run: Run) -> Turn:
    """Open a row again; show what was stored in it."""
    row.turn_status, row.error_code = "IN_PROGRESS", None
    for message in row.agent_responses:
        show_whole(run, message)
    return row


# Where a message of a plan's step stands among those of its turn. Pure.


def place_of(message: AgentMessage, said: Sequence[AgentMessage], plan: Plan | None) -> int:
    """Return where in `said` a finished message goes: behind all, steps in the plan's order.

    Steps that run side by side end in any order; the history is the same whichever it was.
    """
    order = [step.number for step in plan.steps] if plan is not None else []
    at = len(said)
    while at > 0 and _is_behind(said[at - 1], message, order):
        at -= 1
    return at


def _is_behind(other: AgentMessage, message: AgentMessage, order: Sequence[int]) -> bool:
    if other.plan_id is None or other.plan_id != message.plan_id:
        return False
    theirs, ours = other.plan_step, message.plan_step
    return theirs in order and ours in order and order.index(theirs) > order.index(ours)
