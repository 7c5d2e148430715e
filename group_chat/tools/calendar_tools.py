"""Tools over the clinician's own calendar; cancelling only asks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data_models.clock import IdSource
from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.assistant.calendar import Calendar, CalendarEvent, Calendars, NewEvent, free_times
from services.assistant.desk import CANCEL_EVENT, shown, spoken
from services.group_chat_port import QuestionAsked
from services.tool_memory.privacy import names_other, shielded
from services.tool_memory.resolution import Ambiguous, Resolved
from services.tool_memory.session import ToolMemorySession

_SPAN_DAYS = 7
_SPAN_LIMIT = timedelta(days=62)
_EVENTS_SHOWN = 40
_DAY_BEGINS, _DAY_ENDS = 8, 18


class SpanArguments(BaseModel):
    """From when to when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    since: str | None = Field(default=None, max_length=32, description="ISO date or time; now.")
    until: str | None = Field(default=None, max_length=32, description="ISO; a week after since.")


class FreeArguments(BaseModel):
    """How much time, on which day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    day: str = Field(max_length=10, description="ISO date.")
    minutes: int = Field(ge=5, le=600)


class CreateArguments(BaseModel):
    """What to put in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=1, max_length=200)
    start: str = Field(max_length=32, description="ISO date and time.")
    minutes: int = Field(default=30, ge=5, le=1_440)
    location: str = Field(default="", max_length=200)


class MoveArguments(BaseModel):
    """Which event, and where it goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: str = Field(max_length=32, description="New start, ISO date and time.")
    event_id: str = Field(default="", max_length=300, description="Its id, if a tool gave one.")


class CancelArguments(BaseModel):
    """Which event."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    event_id: str = Field(max_length=300, description='Its id as a tool gave it, or "".')


class CalendarTools:
    """Works on the calendar of whoever asks."""

    def __init__(self, *, calendars: Calendars, ids: IdSource) -> None:
        self._calendars = calendars
        self._ids = ids

    async def listing(self, turn: TurnContext, asked: SpanArguments) -> ToolOutput:
        """List events of a span; those of other patients with their time only."""
        memory = _memory(turn)
        since = memory.now if asked.since is None else _moment(asked.since, memory)
        until = since + timedelta(days=_SPAN_DAYS)
        if asked.until is not None:
            until = _moment(asked.until, memory, ends=True)
        events = await self._own(turn).between(since, min(until, since + _SPAN_LIMIT))
        rows = [shown(event) for event in events[:_EVENTS_SHOWN]]
        return {
            "events": shielded(rows, memory.others),
            "left_out": max(0, len(events) - _EVENTS_SHOWN),
            "time_zone": str(memory.zone),
        }

    async def free(self, turn: TurnContext, asked: FreeArguments) -> ToolOutput:
        """List gaps of a working day."""
        day = _moment(asked.day, _memory(turn))
        start, end = day.replace(hour=_DAY_BEGINS), day.replace(hour=_DAY_ENDS)
        events = await self._own(turn).between(start, end)
        least = timedelta(minutes=asked.minutes)
        gaps = free_times(events, start=start, end=end, least=least)
        return {
            "free": [{"from": gap.start.isoformat(), "to": gap.end.isoformat()} for gap in gaps]
        }

    async def create(self, turn: TurnContext, asked: CreateArguments) -> ToolOutput:
        """Add an event."""
        start = _moment(asked.start, _memory(turn))
        end = start + timedelta(minutes=asked.minutes)
        new = NewEvent(asked.title.strip(), start, end, asked.location.strip())
        return {"created": shown(await self._own(turn).create(new))}

    async def move(self, turn: TurnContext, asked: MoveArguments) -> ToolOutput:
        """Move the event that the user means."""
        event = await _meant(turn, self._own(turn), asked.event_id)
        start = _moment(asked.start, _memory(turn))
        moved = await self._own(turn).move(event.id, start=start)
        return {"moved": shielded([shown(moved)], _memory(turn).others)}

    async def cancel(self, turn: TurnContext, asked: CancelArguments) -> ToolOutput:
        """Ask the user to confirm that an event is cancelled."""
        event = await _meant(turn, self._own(turn), asked.event_id)
        is_private = names_other(shown(event), _memory(turn).others)
        name = spoken(_local(event, turn), is_private=is_private)
        payload = {"action": CANCEL_EVENT, "entity_id": event.id, "name": name}
        text = f"Cancel {name}? yes / no"
        turn.emit(QuestionAsked(self._ids.new_id("question"), "destructive_tool", text, payload))
        return {"asked": "the user is asked to confirm; nothing is cancelled yet; say no more"}

    def _own(self, turn: TurnContext) -> Calendar:
        return self._calendars.of(turn.request.principal_id)


def calendar_tools(*, calendars: Calendars, ids: IdSource) -> tuple[Tool, ...]:
    """Return the tools over the calendar of whoever asks."""
    desk = CalendarTools(calendars=calendars, ids=ids)
    return (
        Tool("list_events", "The user's own calendar.", SpanArguments, desk.listing),
        Tool("find_free_time", "Free time in the user's working day.", FreeArguments, desk.free),
        Tool(
            "create_event", "Puts an event into the user's calendar.", CreateArguments, desk.create
        ),
        Tool("move_event", "Moves the event that the user means.", MoveArguments, desk.move),
        Tool(
            "cancel_event",
            "Asks the user to confirm that the event they mean is cancelled.",
            CancelArguments,
            desk.cancel,
        ),
    )


async def _meant(turn: TurnContext, calendar: Calendar, given: str) -> CalendarEvent:
    """Return the one event that the user means; the model's id is no more than a hint.

    Raises:
        ToolInputError: none is meant, or several may be; the text says what to ask.
    """
    memory = _memory(turn)
    found = memory.resolve("calendar_event", {"event_id": given} if given else {})
    if isinstance(found, Ambiguous):
        raise ToolInputError(f"several events may be meant; ask which: {_named(found, memory)}")
    event = await calendar.get(found.entity_id) if isinstance(found, Resolved) else None
    if event is None or not isinstance(found, Resolved):
        raise ToolInputError(
            "it is not clear which event is meant; call list_events, then ask the user to name it"
        )
    memory.used(found)
    return event


def _named(found: Ambiguous, memory: ToolMemorySession) -> str:
    entities = [memory.entity(one) for one in found.entity_ids]
    rows: list[Any] = [
        f"{one.display_name[:80]} ({one.data.get('start', '')})" for one in entities if one
    ]
    memory.listed(found.entity_ids)
    return "; ".join(rows)


def _local(event: CalendarEvent, turn: TurnContext) -> CalendarEvent:
    zone = _memory(turn).zone
    return replace(event, start=event.start.astimezone(zone))


def _memory(turn: TurnContext) -> ToolMemorySession:
    if turn.request.tool_memory is None:
        raise ToolInputError("there is no tool memory in this turn")
    return turn.request.tool_memory


def _moment(text: str, memory: ToolMemorySession, *, ends: bool = False) -> datetime:
    """Return a date or time as a model writes it; without a zone it is the user's."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        at = None
    if at is None:
        raise ToolInputError("dates must be ISO, such as 2026-12-02 or 2026-12-02T15:00")
    if ends and len(text.strip()) == 10:
        at += timedelta(days=1)
    return at if at.tzinfo is not None else at.replace(tzinfo=memory.zone or UTC)
