"""Carries events from the turn's task to its reader, small pieces of text gathered."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import Any

from data_models.conversations.turn_events import AgentTextDelta
from services.group_chat_port import GroupChatEvent

GATHER_SECONDS = 0.03
GATHER_CHARS = 200


class EventStream:
    """The events of one turn, in order; filled by one task and read by one.

    The first piece of a message goes out at once; later ones are gathered for up to 30 ms or
    200 characters, so that a fast model does not cost a frame for each token.
    """

    def __init__(self) -> None:
        self._events: deque[GroupChatEvent] = deque()
        self._arrived = asyncio.Event()

    def put(self, event: GroupChatEvent) -> None:
        """Add an event; never waits."""
        self._events.append(event)
        self._arrived.set()

    async def events_of(
        self, work: Coroutine[Any, Any, None]
    ) -> AsyncGenerator[GroupChatEvent, None]:
        """Run `work` in a task and yield what it puts; then raise what it raised.

        Leaving early, or being cancelled, cancels the task and waits for its end.
        """
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._arrived.set())
        gathering: str | None = None
        try:
            while not task.done() or self._events:
                if not self._events:
                    self._arrived.clear()
                    await self._arrived.wait()
                    continue
                event = self._events.popleft()
                if isinstance(event, AgentTextDelta):
                    if gathering == event.message_id:
                        event = await self._gather(event, task)
                    gathering = event.message_id
                yield event
            await task
        finally:
            await _end(task)

    async def _gather(self, delta: AgentTextDelta, task: asyncio.Task[None]) -> AgentTextDelta:
        """Return `delta` with the pieces of the same message that follow in time."""
        parts, length = [delta.text], len(delta.text)
        end = asyncio.get_running_loop().time() + GATHER_SECONDS
        while length < GATHER_CHARS:
            if not self._events and not await self._more_before(end, task):
                break
            following = self._events[0]
            if (
                not isinstance(following, AgentTextDelta)
                or following.message_id != delta.message_id
            ):
                break
            self._events.popleft()
            parts.append(following.text)
            length += len(following.text)
        return replace(delta, text="".join(parts))

    async def _more_before(self, end: float, task: asyncio.Task[None]) -> bool:
        self._arrived.clear()
        if task.done():
            return False
        try:
            async with asyncio.timeout_at(end):
                await self._arrived.wait()
        except TimeoutError:
            return False
        return bool(self._events)


async def _end(task: asyncio.Task[None]) -> None:
    if task.done():
        return
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # The reader has left: nobody is there to be told.
