"""Repeats the stored answer of a message that was sent twice."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.conversation import AnsweredMessage
from data_models.conversation_accessor import ConversationAccessor
from data_models.errors import InterruptedTurnError, StoreError, user_message_of
from data_models.identifiers import PatientId
from data_models.patient_context_registry_accessor import PatientContextRegistryAccessor
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    RunFailed,
    RunFinished,
    RunStarted,
    Step,
    StepFinished,
    StepStarted,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
    TurnTiming,
)
from services.conversations.takeover import find_run
from services.runs.hub import Run

_GONE_TEXT = "This message was already answered, and the conversation has been cleared since."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """Turns what is stored of a turn back into its events."""

    contexts: ChatContextAccessor
    conversations: ConversationAccessor
    registries: PatientContextRegistryAccessor
    clock: Clock
    ids: IdSource
    facilitator: str

    async def repeat(self, run: Run, answered: AnsweredMessage) -> None:
        """Emit the stored turn's events into `run`, but not what it has shown already.

        A store that fails ends it with that error.
        """
        shown = Shown.of(run.past())
        if not shown.is_begun:
            run.emit(RunStarted(answered.run_id, run.conversation_id))
        try:
            turn = await self._turn(run.conversation_id, answered)
            elsewhere = None if turn is None else await self._elsewhere(run, answered)
        except StoreError as error:
            run.emit(RunFailed(error.code, error.user_message, answered.run_id))
            return
        if elsewhere is not None and not shown.is_begun:
            run.emit(elsewhere)
        messages = turn.agent_responses if turn is not None else [self._gone()]
        for event in shown.rest(messages, self.clock.now()):
            run.emit(event)
        if turn is not None and turn.turn_status == "FAILED":
            code = turn.error_code or InterruptedTurnError.code
            run.emit(RunFailed(code, user_message_of(code), answered.run_id))
            return
        stopped = turn is not None and turn.turn_status == "STOPPED"
        run.emit(RunFinished("cancelled" if stopped else "success", TurnTiming()))

    async def _elsewhere(self, run: Run, answered: AnsweredMessage) -> Notice | None:
        """Return what says whom a repeated answer is about, where another patient is active."""
        registry = await self.registries.read(run.conversation_id, epoch=answered.epoch, fresh=True)
        active = registry.document.active_patient_id
        if answered.patient_id is None or active == answered.patient_id:
            return None
        now = f"`{active}` is active now" if active else "no patient is active now"
        text = f"This repeats an earlier answer about `{answered.patient_id}`; {now}."
        return Notice("repeated", text)

    async def _turn(self, conversation_id: str, answered: AnsweredMessage) -> Turn | None:
        stored = await self.conversations.read(conversation_id)
        if stored is None or stored.document.epoch != answered.epoch or answered.turn_id is None:
            return None
        patient_id = None if answered.patient_id is None else PatientId(answered.patient_id)
        context = (
            await self.contexts.read(conversation_id, patient_id, epoch=answered.epoch)
        ).document
        turn = find_run(context, answered.run_id)
        if turn is not None:
            return await self.contexts.whole_turn(context, turn)
        return await self._find_archived(context, answered.run_id, answered.turn_id)

    async def _find_archived(self, context: ChatContext, run_id: str, turn_id: int) -> Turn | None:
        turns = await self.contexts.read_archived_turns(context, before=turn_id + 1, limit=1)
        turn = next((turn for turn in turns if turn.run_id == run_id), None)
        return None if turn is None else await self.contexts.whole_turn(context, turn)

    def _gone(self) -> AgentMessage:
        return AgentMessage(
            message_id=self.ids.new_id("msg"),
            agent=self.facilitator,
            text=_GONE_TEXT,
            timestamp=self.clock.now(),
            made_by="rules",
        )


@dataclass(slots=True)
class Shown:
    """The events so far, summed up.

    Attributes:
        texts: What was shown of each agent's message, by its id.
        agents: Who says it.
        whole: Messages that were shown to their end.
        steps: Steps that are not over.
        calls: Calls of tools that gave nothing back yet.
    """

    is_begun: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, events: Sequence[TurnEvent]) -> Self:
        """Sum up the events of a run from its first on."""
        shown = cls()
        for event in events:
            shown._add(event)
        return shown

    def rest_of(self, message: AgentMessage) -> Iterator[TurnEvent]:
        """Yield what was not shown of a stored message yet."""
        if message.message_id in self.whole:
            return
        text = self.texts.get(message.message_id)
        if text is None:
            yield AgentMessageStarted(message.message_id, message.agent)
        if rest := message.text.removeprefix(text or ""):
            yield AgentTextDelta(message.message_id, rest)
        yield AgentMessageFinished(message)

    def rest(self, messages: Sequence[AgentMessage], now: datetime) -> Iterator[TurnEvent]:
        """Yield what was not shown of a turn that is over, whose messages are stored."""
        yield from self.broken_off(now, stored=[message.message_id for message in messages])
        for message in messages:
            yield from self.rest_of(message)
        yield from self.loose_ends()

    def broken_off(self, now: datetime, *, stored: Collection[str] = ()) -> Iterator[TurnEvent]:
        """Yield the ends of messages that will not go on, but for those in `stored`, once."""
        for message_id, text in self.texts.items():
            if message_id not in self.whole and message_id not in stored:
                self.whole.add(message_id)
                agent = self.agents[message_id]
                yield AgentMessageFinished(
                    AgentMessage(message_id=message_id, agent=agent, text=text, timestamp=now)
                )

    def loose_ends(self) -> Iterator[TurnEvent]:
        """Yield the ends of what was cut off."""
        for call_id in self.calls:
            yield ToolCallResult(call_id, "cancelled", is_error=True, duration_ms=0.0)
        for step in self.steps:
            yield StepFinished(step)

    def _add(self, event: TurnEvent) -> None:
        match event:
            case RunStarted():
                self.is_begun = True
            case AgentMessageStarted(message_id=message_id, agent=agent):
                self.texts[message_id], self.agents[message_id] = "", agent
            case AgentTextDelta(message_id=message_id, text=text):
                self.texts[message_id] += text
            case AgentMessageFinished(message=message):
                self.whole.add(message.message_id)
            case _:
                self._add_work(event)

    def _add_work(self, event: TurnEvent) -> None:
        match event:
            case StepStarted(step=step):
                self.steps.append(step)
            case StepFinished(step=step):
                self.steps.remove(step)
            case ToolCallStarted(call_id=call_id):
                self.calls.append(call_id)
            case ToolCallResult(call_id=call_id):
                self.calls.remove(call_id)
            case _:
                pass
