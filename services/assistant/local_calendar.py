"""Calendars as .ics files below the data folder, one for each principal."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from icalendar import Calendar as IcsFile

from data_models.clock import Clock, IdSource
from data_models.errors import AssistantError, AssistantItemGoneError
from data_models.identifiers import hashed
from services.assistant import ics
from services.assistant.calendar import CalendarEvent, NewEvent

FILE = "calendar.ics"
LOCK_SECONDS = 5.0
Result = TypeVar("Result")


class LocalCalendars:
    """Calendars in `folder`; a new one begins as a copy of `sample`."""

    def __init__(
        self, *, folder: Path, sample: Path | None, zone: tzinfo, clock: Clock, ids: IdSource
    ) -> None:
        self._folder = folder
        self._sample = sample
        self._zone = zone
        self._clock = clock
        self._ids = ids

    def of(self, principal_id: str) -> "LocalCalendar":
        """See `Calendars.of`."""
        return LocalCalendar(
            path=self._folder / hashed("calendar", principal_id) / FILE,
            sample=self._sample,
            zone=self._zone,
            clock=self._clock,
            ids=self._ids,
        )


class LocalCalendar:
    """A `Calendar` in one file, safe between processes."""

    def __init__(
        self, *, path: Path, sample: Path | None, zone: tzinfo, clock: Clock, ids: IdSource
    ) -> None:
        self._path = path
        self._sample = sample
        self._zone = zone
        self._clock = clock
        self._ids = ids

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        """See `Calendar.between`."""
        return await self._read(lambda file: ics.events_between(file, start, end, self._zone))

    async def get(self, event_id: str) -> CalendarEvent | None:
        """See `Calendar.get`."""
        return await self._read(lambda file: ics.event_of(file, event_id, self._zone))

    async def create(self, event: NewEvent) -> CalendarEvent:
        """See `Calendar.create`."""
        uid = self._ids.new_id("event")
        await self._change(lambda file: ics.add(file, event, uid=uid, now=self._clock.now()))
        return await self._known(uid)

    async def move(self, event_id: str, *, start: datetime) -> CalendarEvent:
        """See `Calendar.move`."""
        now = self._clock.now()
        await self._change(lambda file: ics.move(file, event_id, start, zone=self._zone, now=now))
        return await self._known(event_id)

    async def cancel(self, event_id: str) -> bool:
        """See `Calendar.cancel`."""
        return await self._change(lambda file: ics.remove(file, event_id, self._zone))

    async def _known(self, event_id: str) -> CalendarEvent:
        found = await self.get(event_id)
        if found is None:
            raise AssistantItemGoneError("the event is no longer in the calendar")
        return found

    async def _read(self, look: Callable[[IcsFile], Result]) -> Result:
        return await asyncio.to_thread(lambda: look(self._loaded()))

    async def _change(self, change: Callable[[IcsFile], Result]) -> Result:
        return await asyncio.to_thread(self._changed, change)

    def _changed(self, change: Callable[[IcsFile], Result]) -> Result:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_suffix(".lock"), timeout=LOCK_SECONDS):
                file = self._loaded()
                result = change(file)
                self._store(file.to_ical())
                return result
        except (OSError, Timeout) as error:
            raise AssistantError("the calendar file cannot be written") from error

    def _loaded(self) -> IcsFile:
        try:
            source = self._path if self._path.exists() else self._sample
            return ics.empty() if source is None else ics.parsed(source.read_bytes())
        except OSError as error:
            raise AssistantError("the calendar file cannot be read") from error

    def _store(self, data: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self._path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._path)
