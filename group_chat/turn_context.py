"""What tools may know of the turn that they run in; each turn has its own, in its own task."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, TypeVar

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Citation
from data_models.conversations.conversation import Effect
from data_models.conversations.plan import Plan
from data_models.errors import ModelError, ToolInputError
from data_models.identifiers import PatientId
from services.group_chat_port import GroupChatEvent, GroupChatRequest, QuestionAsked
from services.language.utterance import ChartQuestion, TeamMember
from services.language.words.detection import WELL_READ, language_of
from services.language.words.talk_texts import talk_text
from services.scenarios.session.progress import ToolAction, ToolRan
from services.tool_memory.session import FinishedRun

if TYPE_CHECKING:
    from group_chat.drafts.statement_checking import StatementChecking


_CHARS_PER_TOKEN = 3.5
_RESULT_SHARE = 8


@dataclass(frozen=True, slots=True)
class GroupChatLimits:
    """How much one turn may do before it ends with an offer to continue.

    Attributes:
        window_chars: Characters of history that a prompt may hold.
        agent_messages: Messages of agents, those written by code among them.
        tool_rounds: Times one agent may call tools before it has to answer.
        tool_calls: Tool calls of all agents.
        tool_seconds: Longest run of one tool.
        tool_result_chars: Longest result of one tool.
        window_tokens: The model's window as it is known now; None where nobody says.
        output_bytes: UTF-8 bytes that all agents may write.
        link_hosts: Hosts that links in answers may lead to.
        answers_directly: Whether a plain look-up is answered without a call of the model.
    """

    window_chars: int = 6_000
    agent_messages: int = 30
    tool_rounds: int = 8
    tool_calls: int = 20
    tool_seconds: float = 30.0
    tool_result_chars: int = 6_000
    output_bytes: int = 200_000
    link_hosts: frozenset[str] = frozenset()
    answers_directly: bool = False
    window_tokens: Callable[[], int | None] = lambda: None

    @property
    def result_chars(self) -> int:
        """The longest result of one tool: at most an eighth of the model's window.

        So what was looked up before an agent is asked fits as it is, and rows are left out by a
        view, which keeps what is active, not by the cutting of a request that is too long.
        """
        if (window := self.window_tokens()) is None:
            return self.tool_result_chars
        return min(self.tool_result_chars, int(window * _CHARS_PER_TOKEN) // _RESULT_SHARE)


# Calls that run side by side end in the order in which they were asked for.


@dataclass(slots=True)
class CallLine:
    """The calls of one agent's message that are under way.

    What comes of them is kept in the order of the line, so that the same prompt leads to the same
    views and the same results whichever tool was quicker.
    """

    _last: asyncio.Event = field(default_factory=asyncio.Event)
    _is_begun: bool = False

    @contextmanager
    def place(self) -> Iterator[Callable[[], Awaitable[object]]]:
        """Stand in line; yield what waits until all who stood before are done."""
        before = self._last.wait if self._is_begun else _wait_for_none
        own = self._last = asyncio.Event()
        self._is_begun = True
        try:
            yield before
        finally:
            own.set()


async def _wait_for_none() -> None:
    """Wait for nobody."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The facilitator's order that `agent` does `task`, given by its tool."""

    agent: str
    task: str


Order: TypeAlias = HandedOver | Literal["confirm", "cancel", "show"]
"""What the facilitator ordered by a tool; for the plan, or that it is shown again."""


@dataclass(slots=True)
class CallsMade:
    """Counts the tool calls of one turn, whoever makes them."""

    count: int = 0


@dataclass(slots=True)
class TurnContext:
    """One turn of one patient.

    Attributes:
        emit: Hands an event to the reader of the turn.
        agent: Who speaks now.
        said: Finished messages of this turn, oldest first.
        sources: What the tools of this turn gave and earlier answers cited, by source id.
        views: Rows of the chart that tools of this turn returned, oldest first.
        proofs: Rows that were looked up to tell whether a statement holds; they are not drawn.
        ran: Tools that ran in this turn, the failed ones too.
        checking: What a message is checked with before it is shown; None where nothing is.
        link_hosts: Hosts that links in answers may lead to.
        team: Everybody who may speak, the facilitator first.
        proposed: The plan that was proposed in this turn; from then on no tool runs (R24).
        order: What the facilitator ordered in the message that is being written.
        calls: Made so far in this turn.
        line: Calls under way of who speaks; what comes of them is kept in their order.
        tools_ok: Calls of the current message that gave a result.
        tools_failed: Calls of the current message that gave an error.
        asked_by: The agent whose tool asked the user something: it waits for the answer.
        act: Runs a tool for a scenario's step; every tool of the team is at hand.
        questions: How many the tools of this turn asked the user.
        out_of_calls: A call was refused because the turn had no more.
        has_looked_up: What the message asks of the chart was fetched before an agent was asked.
        looked: What was fetched so, and what came of it: rows, or what was wrong.
        strangers: Whom the proposed plan asked besides, and the team does not have.
        out_of_rounds: A call of the current message was refused because it had no more rounds.
        is_cut: The model broke off within the current message, and rows say the rest.
        works_beside_others: Other agents work meanwhile: what tools found is filed afterwards.
        unfiled: Files the runs of tools that are not filed yet, in their order.
    """

    request: GroupChatRequest
    emit: Callable[[GroupChatEvent], None]
    agent: str = ""
    said: list[AgentMessage] = field(default_factory=list)
    sources: dict[str, Citation] = field(default_factory=dict)
    views: list[ChartView] = field(default_factory=list)
    proofs: list[ChartView] = field(default_factory=list)
    ran: list[FinishedRun] = field(default_factory=list)
    checking: "StatementChecking | None" = None
    link_hosts: frozenset[str] = frozenset()
    team: Sequence[TeamMember] = ()
    proposed: Plan | None = None
    strangers: Sequence[str] = ()
    order: Order | None = None
    calls: CallsMade = field(default_factory=CallsMade)
    line: CallLine = field(default_factory=CallLine)
    tools_ok: int = 0
    tools_failed: int = 0
    asked_by: str | None = None
    act: Callable[[ToolAction], Awaitable[ToolRan]] | None = None
    questions: int = 0
    out_of_calls: bool = False
    out_of_rounds: bool = False
    is_cut: bool = False
    has_looked_up: bool = False
    looked: list[tuple[ChartQuestion, ChartView | str]] = field(default_factory=list)
    works_beside_others: bool = False
    unfiled: list[Callable[["TurnContext"], Awaitable[None]]] = field(default_factory=list)

    def beside_others(self, agent: str) -> Self:
        """Return the turn as one of several agents has it that work side by side.

        What it says and finds is its own until `take_in`; calls are counted together.
        """
        return replace(
            self,
            agent=agent,
            said=list(self.said),
            sources=dict(self.sources),
            views=[],
            proofs=[],
            looked=[],
            ran=[],
            order=None,
            line=CallLine(),
            tools_ok=0,
            tools_failed=0,
            out_of_rounds=False,
            works_beside_others=True,
            unfiled=[],
        )

    async def take_in(self, other: "TurnContext") -> None:
        """Take over what a turn of `beside_others` found, and have it filed."""
        for file in other.unfiled:
            await file(self)
        self.sources.update(other.sources)
        self.views += other.views
        self.proofs += other.proofs
        self.ran += other.ran
        self.out_of_calls = self.out_of_calls or other.out_of_calls

    @property
    def has_order(self) -> bool:
        """Whether the facilitator called a tool that says who goes on."""
        return self.order is not None or self.proposed is not None

    @property
    def calls_of_message(self) -> int:
        """How many tools the current message has called."""
        return self.tools_ok + self.tools_failed

    def begin_message(self, agent: str) -> None:
        """Let `agent` speak; its tool calls count anew."""
        self.agent = agent
        self.tools_ok = self.tools_failed = 0
        self.out_of_rounds = False
        self.is_cut = False

    @property
    def is_spent(self) -> bool:
        """Whether a call was refused because there were no more, of the turn or of the message."""
        return self.out_of_calls or self.out_of_rounds

    def ask(self, question: QuestionAsked) -> None:
        """Ask the user before something is done; the agent that speaks waits for the answer."""
        self.asked_by = self.agent
        self.questions += 1
        self.emit(question)

    @property
    def language(self) -> str:
        """In which language the user is answered where no model does, ISO 639-1."""
        read = self.request.utterance
        spoken = language_of(self.request.text) if read is None else read.language
        return spoken if spoken in WELL_READ else WELL_READ[0]

    def text(self, name: str, /, **parts: object) -> str:
        """Return one of our own texts in that language."""
        return talk_text(self.language, name, **parts)

    @property
    def patient_id(self) -> PatientId:
        """The patient that every tool of this turn works on.

        Raises:
            ToolInputError: the turn has no patient.
        """
        if self.request.patient_id is None:
            raise ToolInputError("no patient is active; ask the user for a patient id")
        return self.request.patient_id


@dataclass(slots=True)
class CurrentTurn:
    """Holds the turn while it lasts.

    Timers and connections keep a copy of the context they were made in, long after the turn;
    what they keep is an empty current.
    """

    turn: TurnContext | None


_CURRENT: ContextVar[CurrentTurn] = ContextVar("group_chat_turn")


def enter_turn(turn: TurnContext) -> CurrentTurn:
    """Make `turn` the one of this task and its children; `leave_turn` takes the current."""
    current = CurrentTurn(turn)
    _CURRENT.set(current)
    return current


def leave_turn(current: CurrentTurn) -> None:
    """Forget the turn, in every copy of this context."""
    current.turn = None


def current_turn() -> TurnContext:
    """Return the turn that this task works for.

    Raises:
        ToolInputError: the turn is over; whatever still runs has nobody to work for.
    """
    if (turn := _CURRENT.get().turn) is None:
        raise ToolInputError("the turn is over")
    return turn


_ACTION_KEY: ContextVar[str] = ContextVar("group_chat_action_key", default="")
_EFFECT: ContextVar[Effect] = ContextVar("group_chat_effect")
Held = TypeVar("Held")


@contextmanager
def _held(place: ContextVar[Held], value: Held) -> Iterator[None]:
    token = place.set(value)
    try:
        yield
    finally:
        place.reset(token)


def acting_under(key: str) -> AbstractContextManager[None]:
    """Have the calls of this task be a scenario's own run, which has its key already."""
    return _held(_ACTION_KEY, key)


def action_key() -> str:
    """Return the key of the scenario's run that is under way; "" for an agent's own call."""
    return _ACTION_KEY.get()


def changing(effect: Effect) -> AbstractContextManager[None]:
    """Let the tool that runs in this task change what `effect` names."""
    return _held(_EFFECT, effect)


def current_effect() -> Effect:
    """Return what the tool that runs in this task may change.

    Raises:
        LookupError: the tool does not say that it changes anything (`Tool.changes`).
    """
    return _EFFECT.get()


# How one of the steps ended that agents work on side by side.

Outcome: TypeAlias = Literal["done", "failed", "asked", "broke"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step's end.

    Attributes:
        outcome: `failed`: every tool failed, or nothing was said; `asked`: the agent asks the user;
            `broke`: the model could not be had.
        turn: The turn as the step's agent had it, to be taken in.
    """

    number: int
    agent: str
    outcome: Outcome
    turn: TurnContext
    error: ModelError | None = None
