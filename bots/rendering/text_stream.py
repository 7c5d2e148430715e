"""One message of a one-to-one Teams chat, shown while it is written.

Teams takes at most one update a second, each text an extension of the one before, one stream at a
time, for about two minutes, and then the whole message. Whatever it refuses ends the stream; the
message then comes as any other.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bots.reference import Activity
from bots.rendering.rendering import TurnRenderer
from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from data_models.errors import ChannelError, ChannelRefusedError, ChannelUnavailableError

# Keeps updates as far apart as the channel asks.


class Pace:
    """One step at a time, each at least `seconds` after the one before."""

    def __init__(self, *, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next_at = 0.0

    async def come(self) -> None:
        """Return when the next step may be taken."""
        await asyncio.sleep(max(self._next_at - self._clock.monotonic(), 0.0))

    def note_sent(self, *, wait_seconds: float = 0.0) -> None:
        """Count from now, and wait longer once if the channel asked for it."""
        self._next_at = self._clock.monotonic() + max(self._seconds, wait_seconds)


UPDATE_SECONDS = 1.05
STREAM_SECONDS = 100.0
"""Teams ends a stream after two minutes; the last words need some of them."""
INFORM_LIMIT_CHARS = 1_000
_TRIES = 4

SendOnce = Callable[[Activity], Awaitable[str]]
Read = Callable[[], str]
Farewell = Callable[[str], Activity]
logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class TextStream:
    """Shows the newest of what it is told, no faster than the channel allows.

    Attributes:
        farewell: Makes the final message of a stream whose time is up, from the text it shows.
        on_user_stop: Called when the user presses Teams' own Stop button.
    """

    send: SendOnce
    farewell: Farewell
    on_user_stop: Callable[[], None]
    clock: Clock

    def __post_init__(self) -> None:
        self._pace = Pace(seconds=UPDATE_SECONDS, clock=self.clock)
        self._info = ""
        self._read: Read | None = None
        self._wished = asyncio.Event()
        self._is_settling = False
        self._sequence, self._failures = 0, 0
        self._ends_at: float | None = None
        self._refusal: ChannelError | None = None
        self._pump: asyncio.Task[None] | None = None
        self.stream_id = ""
        """The channel's id of the message, once it took a part of it."""
        self.text = ""
        """What the channel shows of the text."""
        self.is_closed = False
        """Whether its time was up before the text was complete."""

    @property
    def is_open(self) -> bool:
        """Whether the channel shows something that waits for its final message."""
        return self.stream_id != "" and self._refusal is None and not self.is_closed

    @property
    def is_stopped_by_user(self) -> bool:
        """Whether the user ended it; what was shown stays on the screen."""
        return isinstance(self._refusal, ChannelRefusedError) and self._refusal.is_user_stop

    def inform(self, text: str) -> None:
        """Say what goes on, as long as there is no text."""
        if self._read is None:
            self._info = text[:INFORM_LIMIT_CHARS]
            self._want()

    def show(self, read: Read) -> None:
        """Show what `read` returns from now on; it is asked when an update is due."""
        self._read = read
        self._want()

    async def settle(self) -> None:
        """Return when no update is under way and the final message may be sent."""
        self._is_settling = True
        self._wished.set()
        if self._pump is not None:
            await self._pump
        if self.is_open:
            await self._pace.come()

    def final(self, activity: Activity) -> Activity:
        """Return `activity` as the stream's final message; unchanged if there is no stream."""
        if not self.is_open:
            return activity
        entities = [*activity.get("entities", []), self._entity("final")]
        return {**activity, "entities": entities}

    def abandon(self) -> None:
        """Show nothing more."""
        if self._pump is not None:
            self._pump.cancel()

    def _want(self) -> None:
        self._wished.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._show_all())

    async def _show_all(self) -> None:
        while self._refusal is None:
            if not await self._is_something_wished():
                await self._close()
                return
            await self._pace.come()
            if self._is_settling:
                return
            self._wished.clear()
            kind, text = self._newest()
            if text:
                await self._show_one(kind, text)

    async def _is_something_wished(self) -> bool:
        """Wait for a wish; False once the stream's time is up."""
        now = self.clock.monotonic()
        left = None if self._ends_at is None else self._ends_at - now
        if left is not None and left <= 0:
            return False
        try:
            await asyncio.wait_for(self._wished.wait(), left)
        except TimeoutError:
            return False
        return True

    def _newest(self) -> tuple[str, str]:
        """Return the kind and the text of the update that is due; no text if none is."""
        if self._read is None:
            return "informative", self._info
        text = self._read()
        grows = len(text) > len(self.text) and text.startswith(self.text)
        return "streaming", text if grows else ""

    async def _show_one(self, kind: str, text: str) -> None:
        entity = {**self._entity(kind), "streamSequence": self._sequence + 1}
        try:
            sent_id = await self.send({"type": "typing", "text": text, "entities": [entity]})
        except ChannelUnavailableError as error:
            self._failures += 1
            self._pace.note_sent(wait_seconds=error.wait_seconds or 2 * UPDATE_SECONDS)
            if self._failures >= _TRIES:
                self._end(error)
        except ChannelError as error:
            self._end(error)
        else:
            self._pace.note_sent()
            self._sequence, self._failures = self._sequence + 1, 0
            if not self.stream_id:
                self.stream_id = sent_id
                self._ends_at = self.clock.monotonic() + STREAM_SECONDS
            if kind == "streaming":
                self.text = text

    async def _close(self) -> None:
        """End the stream in time, with what it shows."""
        await self._pace.come()
        try:
            await self.send(self.final(self.farewell(self.text)))
        except ChannelError as error:
            self._end(error)
            return
        self.is_closed = True

    def _end(self, error: ChannelError) -> None:
        logger.info("bot_stream_ended", code=error.code)
        self._refusal = error
        if self.is_stopped_by_user:
            self.on_user_stop()

    def _entity(self, kind: str) -> Activity:
        stream = {"streamId": self.stream_id} if self.stream_id else {}
        return {"type": "streaminfo", "streamType": kind, **stream}


# What is shown before an answer is complete: that somebody types, and the text so far.

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

    def watch(self, event: turn_events.TurnEvent) -> None:
        """Show what `event` says of the message that comes."""
        match event:
            case turn_events.ToolCallStarted(agent=agent):
                self._current().inform(f"{agent} looks something up …")
            case turn_events.Notice(kind="progress", text=text):
                self._current().inform(text)
            case turn_events.AgentMessageStarted(message_id=message_id, agent=agent):
                self._agents[message_id], self._pieces[message_id] = agent, []
            case turn_events.AgentTextDelta(message_id=message_id, text=text) if (
                message_id in self._pieces
            ):
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
    """Shows the sign while it is on, from `start` to `off`; to be made in a running loop."""

    def __init__(self, *, show: Callable[[], Awaitable[None]]) -> None:
        self._show = show
        self._on = asyncio.Event()
        self._task = asyncio.create_task(self._repeat())

    def start(self) -> None:
        """Begin to show it."""
        self._on.set()

    def off(self) -> None:
        """Show it no more."""
        self._on.clear()

    def abandon(self) -> None:
        """Show nothing more."""
        self._task.cancel()

    async def _repeat(self) -> None:
        while await self._on.wait():
            # It may have been turned off since the waiting ended.
            if self._on.is_set():
                await self._show()
                await asyncio.sleep(REPEAT_SECONDS)
