"""What is shown before an answer is complete: that somebody types, and the text so far."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from bots.reference import Activity
from bots.rendering import TurnRenderer
from bots.text_stream import TextStream
from data_models.chat_context import AgentMessage
from data_models.turn_events import (
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    ToolCallStarted,
    TurnEvent,
)

OpenStream = Callable[[], TextStream]


class LiveAnswer:
    """One message after another, each in a stream of its own.

    Of several that are written at once one is shown as it grows; the others come whole after it.
    """

    def __init__(self, *, open_stream: OpenStream, renderer: TurnRenderer) -> None:
        self._open_stream = open_stream
        self._renderer = renderer
        self._stream: TextStream | None = None
        self._agents, self._pieces = dict[str, str](), dict[str, list[str]]()
        self._shown = ""
        self.is_stopped_by_user = False

    @property
    def is_writing(self) -> bool:
        """Whether the user sees a part of an agent's message."""
        return self._stream is not None and bool(self._shown)

    def is_behind(self, message_id: str) -> bool:
        """Whether a finished message has to wait for another one that is shown as it grows."""
        return self.is_writing and message_id != self._shown

    def watch(self, event: TurnEvent) -> None:
        """Show what `event` says of the message that comes."""
        match event:
            case ToolCallStarted(agent=agent):
                self._current().inform(f"{agent} looks something up …")
            case Notice(kind="progress", text=text):
                self._current().inform(text)
            case AgentMessageStarted(message_id=message_id, agent=agent):
                self._agents[message_id], self._pieces[message_id] = agent, []
            case AgentTextDelta(message_id=message_id, text=text) if message_id in self._pieces:
                self._pieces[message_id].append(text)
                self._shown = self._shown or message_id
                if message_id == self._shown:
                    self._current().show(self._written)
            case _:
                pass

    async def finish(self, message: AgentMessage) -> tuple[list[Activity], Activity | None]:
        """Return what is left to send of `message`.

        Returns:
            The parts; and the first of them once more as it ends the stream, if there is one.
        """
        self._agents.pop(message.message_id, None)
        self._pieces.pop(message.message_id, None)
        if self._shown not in ("", message.message_id):
            return self._renderer.spoken(message), None
        stream, self._stream, self._shown = self._stream, None, ""
        if stream is None:
            return self._renderer.spoken(message), None
        await stream.settle()
        if stream.is_stopped_by_user:
            self.is_stopped_by_user = True
            return [], None
        if stream.is_closed:
            return self._renderer.rest(message, shown=stream.text), None
        parts = self._renderer.spoken(message, shown=stream.text)
        return parts, stream.final(parts[0]) if parts and stream.is_open else None

    async def carry(self, activity: Activity) -> Activity:
        """Return `activity` as the end of what is shown, if something is."""
        stream, self._stream, self._shown = self._stream, None, ""
        if stream is None:
            return activity
        await stream.settle()
        return stream.final(activity)

    def abandon(self) -> None:
        """Show nothing more."""
        if self._stream is not None:
            self._stream.abandon()

    @property
    def is_open(self) -> bool:
        """Whether something is shown that waits for its end."""
        return self._stream is not None

    def _current(self) -> TextStream:
        if self._stream is None:
            self._stream = self._open_stream()
        return self._stream

    def _written(self) -> str:
        # One text from now on, so that reading it every second costs no more each time.
        whole = "".join(self._pieces.get(self._shown, ()))
        self._pieces[self._shown] = [whole]
        return self._renderer.being_written(self._agents.get(self._shown, ""), whole)


REPEAT_SECONDS = 3.0
"""Channels show the sign for some seconds, or until the next message."""


class TypingSign:
    """Shows the sign while it is on; a context manager, off at its begin and at its end."""

    def __init__(self, *, show: Callable[[], Awaitable[None]]) -> None:
        self._show = show
        self._on = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to show it."""
        self._on.set()

    def off(self) -> None:
        """Show it no more."""
        self._on.clear()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._repeat())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _repeat(self) -> None:
        while await self._on.wait():
            # It may have been turned off since the waiting ended.
            if self._on.is_set():
                await self._show()
                await asyncio.sleep(REPEAT_SECONDS)
