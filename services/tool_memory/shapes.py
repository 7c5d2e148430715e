"""Reads what differs by back end: FHIR, Google, Microsoft Graph, iCalendar and our own JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from babel.core import get_global

from data_models.plain_yaml import read_yaml
from data_models.tool_memory import EntityType

_TEXT_LIMIT_CHARS = 300
_ROWS_LIMIT = 30
_FIELDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("fields.yaml").read_bytes())
SEARCHABLE: Sequence[str] = _FIELDS["searchable"]
_START: Sequence[str] = _FIELDS["start"]
_END: Sequence[str] = _FIELDS["end"]
_OWN_DATE: Mapping[str, Sequence[str]] = _FIELDS["own_date"]
KEPT_FIELDS = tuple(
    dict.fromkeys(
        [
            *("resourceType", "id", "status"),
            *_START,
            *_END,
            *(name for names in _OWN_DATE.values() for name in names),
            *SEARCHABLE,
            *("description", "timeZone", "calendar", "recurrence", "is_all_day"),
        ]
    )
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date of an entity; `has_time` is False for a whole day (then the zone is the user's)."""

    at: datetime
    has_time: bool

    def local(self, zone: tzinfo) -> datetime:
        """Return it in the user's zone; a whole day has none and stays."""
        return self.at.astimezone(zone) if self.has_time else self.at.replace(tzinfo=zone)


def start_of(kind: EntityType, data: Mapping[str, Any], zone: tzinfo) -> Moment | None:
    """Return the entity's own date: an event's start, a mail's receipt, a task's due date."""
    return _first_moment(data, _OWN_DATE.get(kind, _START), zone)


def end_of(data: Mapping[str, Any], zone: tzinfo) -> Moment | None:
    """Return an event's end, if it has one."""
    found = _first_moment(data, _END, zone)
    period = data.get("period")
    if found is None and isinstance(period, Mapping):
        return _first_moment(period, _END, zone)
    return found


def searchable_texts(data: Mapping[str, Any]) -> list[str]:
    """Return the texts of the fields by which people know an entity."""
    found: list[str] = []
    fields = [*SEARCHABLE, *(["description"] if data.get("resourceType") else [])]
    for name in fields:
        found.extend(_texts(data.get(name), depth=4))
    headers = data.get("payload", {})
    rows = headers.get("headers", []) if isinstance(headers, Mapping) else []
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, Mapping) and str(row.get("name", "")).lower() in _MAIL_HEADERS:
            found.extend(_texts(row.get("value"), depth=1))
    return found


_MAIL_HEADERS = {"subject", "from", "to", "cc"}


def _texts(value: Any, *, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:_TEXT_LIMIT_CHARS]
    elif depth and isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part, depth=depth - 1)
    elif depth and isinstance(value, list):
        for part in value[:_ROWS_LIMIT]:
            yield from _texts(part, depth=depth - 1)


def _first_moment(data: Mapping[str, Any], names: Sequence[str], zone: tzinfo) -> Moment | None:
    for name in names:
        if (moment := moment_of(data.get(name), zone)) is not None:
            return moment
    return None


def moment_of(value: Any, zone: tzinfo) -> Moment | None:
    """Return a date as back ends write it; one without a zone is the user's."""
    if isinstance(value, Mapping):
        named = value.get("timeZone") or value.get("time_zone") or value.get("tzid")
        own = zone if not isinstance(named, str) else zone_of(named)
        for name in ("dateTime", "datetime", "date_time", "date", "start", "value"):
            if isinstance(value.get(name), str):
                return None if own is None else _parsed(value[name], own)
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    if text.isdigit() and len(text) in (10, 13):
        seconds = int(text) / (1_000 if len(text) == 13 else 1)
        return Moment(datetime.fromtimestamp(seconds, UTC), has_time=True)
    return _parsed(text, zone)


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo | None:
    """Return a zone by its IANA name, or as Windows and so Graph call it; None for no zone's."""
    if name.upper() in ("UTC", "Z", "ETC/UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(get_global("windows_zone_mapping").get(name, name))
    except (KeyError, ValueError, OSError):
        return None


def _parsed(text: str, zone: tzinfo) -> Moment | None:
    try:
        if len(text) == 10 or (len(text) == 8 and text.isdigit()):
            day = date.fromisoformat(text)
            return Moment(datetime.combine(day, time(), zone), has_time=False)
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Moment(at if at.tzinfo else at.replace(tzinfo=zone), has_time=True)
