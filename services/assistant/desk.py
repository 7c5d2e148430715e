"""What the Assistant does with a calendar, and what it does only after a yes."""

from collections.abc import Mapping
from typing import Any

from data_models.errors import AssistantError
from services.assistant.calendar import Calendar, CalendarEvent, Calendars

CANCEL_EVENT = "cancel_event"
OTHER_NAME = "other appointment"
NAME_LIMIT_CHARS = 120


class NoCalendars:
    """Stands in where no back end is set up."""

    def of(self, principal_id: str) -> Calendar:
        """See `Calendars.of`."""
        raise AssistantError("no calendar is set up")


class AssistantDesk:
    """Carries out confirmed requests. Holds no state of any turn."""

    def __init__(self, *, calendars: Calendars) -> None:
        self._calendars = calendars

    async def perform(self, payload: Mapping[str, Any], *, principal_id: str) -> str:
        """Do what was asked and confirmed, and return what the user is told.

        Raises:
            AssistantError: it could not be done; nothing was changed.
        """
        name = str(payload["name"])
        if payload["action"] != CANCEL_EVENT:
            raise AssistantError("that request is unknown")
        done = await self._calendars.of(principal_id).cancel(str(payload["entity_id"]))
        return f"Cancelled: {name}." if done else f"{name} was no longer in the calendar."


def shown(event: CalendarEvent) -> dict[str, Any]:
    """Return an event as tools give it."""
    row = {
        "id": event.id,
        "title": event.title[:NAME_LIMIT_CHARS],
        "start": event.start.isoformat(),
        "end": event.end.isoformat(),
    }
    more = {
        "is_all_day": event.is_all_day,
        "location": event.location,
        "attendees": list(event.attendees),
    }
    return {**row, **{name: value for name, value in more.items() if value}}


def spoken(event: CalendarEvent, *, is_private: bool) -> str:
    """Return an event as a question names it: *Tumor board*, Wed 2 Dec 15:00."""
    name = OTHER_NAME if is_private else " ".join(event.title.split())[:NAME_LIMIT_CHARS]
    name = name.replace("*", "").replace("`", "")
    form = "%a %-d %b" if event.is_all_day else "%a %-d %b %H:%M"
    return f"*{name}*, {event.start:{form}}"
