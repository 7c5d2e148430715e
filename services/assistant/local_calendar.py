"""A calendar as an .ics file that other calendar programs open."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import TypeVar

from icalendar import Calendar as IcsFile

from data_models.clock import Clock
from data_models.effects import Effect
from data_models.errors import AssistantItemGoneError
from services.assistant import ics
from services.assistant.calendar import EVENTS_LIMIT, CalendarEvent, NewEvent
from services.assistant.local_file import LocalFile, id_of

Result = TypeVar("Result")


class LocalCalendar:
    """A `Calendar` in one file; parsing leaves the event loop alone.

    `zone` is the user's: whole days and floating times are its.
    """

    def __init__(self, *, file: LocalFile, zone: tzinfo, clock: Clock) -> None:
        self._file = file
        self._zone = zone
        self._clock = clock

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        found = await self._read(lambda file: ics.events_between(file, start, end, self._zone))
        return found[:EVENTS_LIMIT]

    async def get(self, event_id: str) -> CalendarEvent | None:
        return await self._read(lambda file: ics.event_of(file, event_id, self._zone))

    async def create(self, event: NewEvent, effect: Effect) -> CalendarEvent:
        uid, now = id_of("event", effect), self._clock.now()
        await self._change(lambda file: ics.add(file, event, uid=uid, now=now))
        return await self._find(uid)

    async def move(self, event_id: str, *, start: datetime) -> CalendarEvent:
        now = self._clock.now()
        await self._change(lambda file: ics.move(file, event_id, start, zone=self._zone, now=now))
        return await self._find(event_id)

    async def cancel(self, event_id: str) -> bool:
        return await self._change(lambda file: ics.remove(file, event_id, self._zone))

    async def _find(self, event_id: str) -> CalendarEvent:
        found = await self.get(event_id)
        if found is None:
            raise AssistantItemGoneError("the event is no longer in the calendar")
        return found

    async def _read(self, look: Callable[[IcsFile], Result]) -> Result:
        data = await self._file.read()
        return await asyncio.to_thread(lambda: look(_parsed(data)))

    async def _change(self, change: Callable[[IcsFile], Result]) -> Result:
        async def made(data: bytes | None) -> tuple[bytes, Result]:
            return await asyncio.to_thread(partial(_changed, change, data))

        return await self._file.change(made)


def _parsed(data: bytes | None) -> IcsFile:
    return ics.empty() if data is None else ics.parsed(data)


def _changed(change: Callable[[IcsFile], Result], data: bytes | None) -> tuple[bytes, Result]:
    file = _parsed(data)
    result = change(file)
    written: bytes = file.to_ical()
    return written, result
