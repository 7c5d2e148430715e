"""What a run's watchers have seen of a turn, and what of its stored answer they have not."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from data_models.chat_context import AgentMessage
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    RunStarted,
    Step,
    StepFinished,
    StepStarted,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
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
