"""What watchers of a run are told of another attempt at it, behind what they have seen."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    RunFailed,
    RunFinished,
    RunStarted,
    TurnEvent,
)
from services.conversations.shown import Shown


class RetriedRun:
    """The events of a run that was begun anew, as those of the one run that its watchers know.

    The next attempt says again what the one before had stored, under the same ids. What that one
    had only begun to say ends where it broke off.

    Args:
        past: What was shown.
        now: When what broke off ends.
    """

    def __init__(self, *, past: Sequence[TurnEvent], now: datetime) -> None:
        self._shown = Shown.of(past)
        self._now = now

    def opening(self) -> Iterator[TurnEvent]:
        """Yield what ends before anything follows: steps, and calls of tools."""
        return self._shown.loose_ends()

    def rest_of(self, event: TurnEvent) -> Iterator[TurnEvent]:
        """Yield what is new of the next event."""
        match event:
            case RunStarted() if self._shown.is_begun:
                return
            case Notice(kind="queued"):
                return
            case AgentMessageStarted(message_id=message_id) | AgentTextDelta(message_id=message_id):
                if message_id in self._shown.texts:
                    return
            case AgentMessageFinished(message=message) if message.message_id in self._shown.texts:
                yield from self._shown.rest_of(message)
                self._shown.whole.add(message.message_id)
                return
            case _:
                pass
        if isinstance(event, AgentMessageStarted | RunFinished | RunFailed):
            yield from self._shown.broken_off(self._now)
        yield event
