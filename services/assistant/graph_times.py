"""Times as Microsoft Graph writes them: `{"dateTime": …, "timeZone": …}`. Pure.

Times are asked for and given in UTC: no hour exists twice there, and every server knows the name.
Whole days have no zone of their own; they are given as midnights of the user's.
"""

from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from data_models.errors import AssistantError
from services.assistant.graph_shapes import GraphTime
from services.assistant.graph_wire import Json

IN_UTC = 'outlook.timezone="UTC"'
_SECONDS = len("2026-11-24T15:00:00")


def moment_of(value: GraphTime) -> datetime:
    """Return a time that was asked for in UTC.

    Raises:
        AssistantError: it is no such time.
    """
    if value.time_zone != "UTC":
        raise AssistantError("a time is not in UTC")
    return instant_of(value.date_time)


def instant_of(text: str) -> datetime:
    """Return an ISO time; Graph writes fractions of a second with up to seven digits.

    Raises:
        AssistantError: it is no such time.
    """
    try:
        found = datetime.fromisoformat(text[:_SECONDS])
    except ValueError:
        # `from None`: the cause quotes the mailbox.
        raise AssistantError("a time cannot be read") from None
    return found.replace(tzinfo=UTC)


def day_of(value: GraphTime, zone: tzinfo) -> date:
    """Return a whole day.

    Most services give its midnight whatever the zone; some give the instant of the user's.
    """
    at = instant_of(value.date_time)
    return at.date() if at.time() == time() else moment_of(value).astimezone(zone).date()


def midnight(day: date, zone: tzinfo) -> datetime:
    """Return the beginning of a day in the user's zone."""
    return datetime.combine(day, time(), zone)


def given(at: datetime) -> Json:
    """Return a time as Graph takes it."""
    return {"dateTime": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}", "timeZone": "UTC"}


def given_day(day: date, zone: tzinfo) -> Json:
    """Return a whole day as Graph takes it: midnight, in a zone it knows by name."""
    name = zone.key if isinstance(zone, ZoneInfo) else "UTC"
    return {"dateTime": f"{day.isoformat()}T00:00:00", "timeZone": name}


def odata(at: datetime) -> str:
    """Return a time as a filter has it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
