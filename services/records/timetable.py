"""The Slots that a doctor's hours make, for sample data that no calendar keeps up to date. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

SLOT_MINUTES_URL = "https://rounds.example/fhir/slot-minutes"
_SLOT_FORM = "%Y%m%dT%H%M"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DEFAULT_MINUTES = 30


def slots_on(
    schedule: Mapping[str, Any], roles: Sequence[Mapping[str, Any]], day: date, *, zone: tzinfo
) -> Iterator[dict[str, Any]]:
    """Yield the free Slots of one day of a Schedule, from the hours of its doctor.

    Args:
        roles: PractitionerRoles; those of other doctors count for nothing.
        zone: In which the hours are meant.
    """
    actors = {str(each["reference"]) for each in schedule["actor"]}
    length = timedelta(minutes=_slot_minutes(schedule))
    for role in roles:
        if role["practitioner"]["reference"] not in actors:
            continue
        for row in role.get("availableTime", ()):
            if _DAYS[day.weekday()] in row["daysOfWeek"]:
                yield from _slots(schedule["id"], row, day, length, zone)


def schedule_and_day(slot_id: str, *, zone: tzinfo) -> tuple[str, date] | None:
    """Return the Schedule and the day of a Slot that was made here; None if it was not."""
    schedule, _, start = slot_id.removeprefix("slot-").rpartition("-")
    try:
        moment = datetime.strptime(start, _SLOT_FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
    return f"schedule-{schedule}", moment.astimezone(zone).date()


def _slots(
    schedule_id: str, row: Mapping[str, Any], day: date, length: timedelta, zone: tzinfo
) -> Iterator[dict[str, Any]]:
    start = _moment(day, row["availableStartTime"], zone)
    closes = _moment(day, row["availableEndTime"], zone)
    while start + length <= closes:
        yield {
            "resourceType": "Slot",
            "id": f"slot-{schedule_id.removeprefix('schedule-')}-{start.strftime(_SLOT_FORM)}",
            "schedule": {"reference": f"Schedule/{schedule_id}"},
            "status": "free",
            "start": _text(start),
            "end": _text(start + length),
        }
        start += length


def _slot_minutes(schedule: Mapping[str, Any]) -> int:
    for each in schedule.get("extension", ()):
        if each.get("url") == SLOT_MINUTES_URL:
            return int(each["valuePositiveInt"])
    return _DEFAULT_MINUTES


def _moment(day: date, hour: str, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.fromisoformat(hour), zone).astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
