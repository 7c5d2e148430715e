"""A clinician's calendar in a file that other programs can open."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from data_models.errors import AssistantError
from services.assistant.own_things import Calendar, NewEvent, free_times
from tests.services.assistant.back_ends import SAMPLES, local_assistant
from tests.services.assistant.effects import fresh

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
FOREIGN = Path(__file__).with_name("foreign.ics").read_text("utf-8").replace("\n", "\r\n")


def own(folder: Path, principal: str = "alice", samples: Path | None = None) -> Calendar:
    return local_assistant(folder, samples=samples).of(principal, zone=BERLIN).calendar


def foreign(tmp_path: Path, text: str = FOREIGN) -> Calendar:
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "calendar.ics").write_text(text, encoding="utf-8", newline="")
    return own(tmp_path, samples=samples)


async def test_events_are_made_moved_and_cancelled_and_stay_so(tmp_path: Path) -> None:
    calendar = own(tmp_path)
    start = MONDAY + timedelta(hours=15)
    made = await calendar.create(
        NewEvent("Größe – board", start, start + timedelta(hours=1), "A1"), fresh()
    )
    again = own(tmp_path)
    assert await again.between(MONDAY, MONDAY + timedelta(days=1)) == [made]
    moved = await again.move(made.id, start=start + timedelta(days=4))
    assert moved.end - moved.start == timedelta(hours=1)
    assert await again.between(MONDAY, MONDAY + timedelta(days=1)) == []
    assert await again.delete(made.id)
    assert not await again.delete(made.id)
    assert await again.get(made.id) is None


async def test_nobody_sees_anothers_calendar(tmp_path: Path) -> None:
    made = await own(tmp_path).create(
        NewEvent("Mine", MONDAY, MONDAY + timedelta(hours=1)), fresh()
    )
    assert await own(tmp_path, "bob").get(made.id) is None
    assert not await own(tmp_path, "bob").delete(made.id)
    assert await own(tmp_path, "../alice").between(MONDAY, MONDAY + timedelta(days=1)) == []


async def test_recurrence_zones_and_whole_days_of_other_programs_are_read(tmp_path: Path) -> None:
    events = await foreign(tmp_path).between(MONDAY - timedelta(days=60), MONDAY + timedelta(30))
    weekly = [one for one in events if one.title == "Übergabe – Größe"]
    # Nine in the morning on either side of the end of summer time; one is excluded.
    assert [one.start.astimezone(BERLIN).strftime("%d.%m. %H:%M") for one in weekly] == [
        "19.10. 09:00",
        "26.10. 09:00",
        "09.11. 09:00",
        "16.11. 09:00",
        "23.11. 09:00",
        "30.11. 09:00",
    ]
    assert {one.end - one.start for one in weekly} == {timedelta(minutes=45)}
    (holiday,) = [one for one in events if one.is_all_day]
    assert (holiday.start, holiday.end - holiday.start) == (
        datetime(2026, 11, 24, tzinfo=BERLIN),
        timedelta(days=1),
    )
    assert "Gone" not in {one.title for one in events}


async def test_what_another_program_cancelled_or_changed_of_a_series_is_so(tmp_path: Path) -> None:
    changed = """BEGIN:VEVENT\r
UID:weekly\r
RECURRENCE-ID;TZID=Europe/Berlin:20261109T090000\r
SUMMARY:Gone, too\r
STATUS:CANCELLED\r
DTSTART;TZID=Europe/Berlin:20261109T090000\r
END:VEVENT\r
BEGIN:VEVENT\r
UID:weekly\r
RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20261123T090000\r
SUMMARY:Later\r
DTSTART;TZID=Europe/Berlin:20261123T110000\r
DURATION:PT45M\r
END:VEVENT\r
END:VCALENDAR"""
    calendar = foreign(tmp_path, FOREIGN.replace("END:VCALENDAR", changed))
    events = await calendar.between(MONDAY - timedelta(days=16), MONDAY + timedelta(days=30))
    weekly = [one for one in events if not one.is_all_day]
    times = [one.start.astimezone(BERLIN).strftime("%d.%m. %H") for one in weekly]
    assert [*zip([one.title[:5] for one in weekly], times, strict=True)] == [
        ("Überg", "16.11. 09"),
        ("Later", "23.11. 11"),
        ("Later", "30.11. 11"),
    ]
    assert [await calendar.get(one.id) for one in weekly] == weekly
    with pytest.raises(AssistantError):
        await calendar.delete(weekly[2].id)


async def test_one_occurrence_is_cancelled_or_moved_and_the_others_stay(tmp_path: Path) -> None:
    calendar = foreign(tmp_path)
    span = (MONDAY - timedelta(days=8), MONDAY + timedelta(days=8))
    first, second, third = [
        one for one in await calendar.between(*span) if one.title.startswith("Über")
    ]
    assert await calendar.delete(second.id)
    moved = await calendar.move(third.id, start=third.start + timedelta(hours=2))
    left = [one for one in await calendar.between(*span) if one.title.startswith("Über")]
    assert left == [first, moved]
    assert moved.start == third.start + timedelta(hours=2)
    assert await calendar.get(second.id) is None


async def test_what_we_write_opens_elsewhere_and_keeps_what_we_do_not_know(tmp_path: Path) -> None:
    calendar = foreign(tmp_path)
    (first, *_) = await calendar.between(MONDAY, MONDAY + timedelta(days=1))
    await calendar.delete(first.id)
    (path,) = (tmp_path / "users").rglob("calendar.ics")
    text = path.read_bytes().decode().replace("\r\n ", "")
    assert "X-OTHER:kept" in text
    assert "BEGIN:VTIMEZONE" in text
    rule = next(line for line in text.splitlines() if line.startswith("RRULE:FREQ=WEEKLY"))
    assert rrulestr(rule.removeprefix("RRULE:"), dtstart=MONDAY) is not None
    assert "SUMMARY:Übergabe – Größe" in text


async def test_a_damaged_file_is_said_and_left_alone(tmp_path: Path) -> None:
    calendar = own(tmp_path)
    await calendar.create(NewEvent("Mine", MONDAY, MONDAY + timedelta(hours=1)), fresh())
    (path,) = (tmp_path / "users").rglob("calendar.ics")
    path.write_bytes(b"not a calendar")
    with pytest.raises(AssistantError):
        await calendar.between(MONDAY, MONDAY + timedelta(days=1))
    with pytest.raises(AssistantError):
        await calendar.create(NewEvent("More", MONDAY, MONDAY + timedelta(hours=1)), fresh())
    assert path.read_bytes() == b"not a calendar"


async def test_the_sample_holds_something_for_every_day(tmp_path: Path) -> None:
    calendar = own(tmp_path, samples=SAMPLES)
    day = datetime(2027, 5, 12, tzinfo=UTC)
    events = await calendar.between(day, day + timedelta(days=1))
    assert [one.title for one in events] == ["Ward round", "Outpatient clinic", "Tumor board"]
    gaps = free_times(
        events, start=day.replace(hour=8), end=day.replace(hour=18), least=timedelta(minutes=60)
    )
    assert [(gap.start.hour, gap.end.hour) for gap in gaps] == [(9, 13), (16, 18)]


@pytest.mark.slow
async def test_whole_days_and_floating_times_are_the_users_zone_and_stay_what_they_are(
    tmp_path: Path,
) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    text = FOREIGN.replace(";TZID=Europe/Berlin:", ":")
    text = text.replace(
        "DTSTART;VALUE=DATE:20261124", "DTSTART;VALUE=DATE:20261124\r\nRRULE:FREQ=DAILY;COUNT=4"
    )
    (samples / "calendar.ics").write_text(text, encoding="utf-8", newline="")
    for number, zone in enumerate([BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Asia/Tokyo")]):
        calendar = local_assistant(tmp_path, samples=samples).of(f"u{number}", zone=zone).calendar
        week = (MONDAY - timedelta(days=1), MONDAY + timedelta(days=9))
        events = await calendar.between(*week)
        floating = [one for one in events if one.title.startswith("Über")]
        assert {one.start.astimezone(zone).hour for one in floating} == {9}
        whole = [one for one in events if one.is_all_day]
        assert [one.start.astimezone(zone).day for one in whole] == [24, 25, 26, 27]
        moved = await calendar.move(whole[1].id, start=whole[1].start + timedelta(days=4))
        assert moved.is_all_day
        assert moved.start.astimezone(zone).day == 29
        assert await calendar.delete(whole[2].id)
        assert await calendar.delete(floating[0].id)
        left = await calendar.between(*week)
        assert sorted(one.start.astimezone(zone).day for one in left if one.is_all_day) == [
            24,
            27,
            29,
        ]
        assert [one for one in left if one.title.startswith("Über")] == floating[1:]
