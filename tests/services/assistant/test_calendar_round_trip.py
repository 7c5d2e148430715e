"""A calendar that Rounds wrote, read by the library of another calendar program."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scripts.test_tools import NODE_HOME
from services.assistant.own_things import Calendar, CalendarEvent, NewEvent
from tests.peers import node_module, node_program
from tests.services.assistant.back_ends import SAMPLES, files_of, local_assistant
from tests.services.assistant.effects import fresh
from tests.services.assistant.test_local_calendar import BERLIN, FOREIGN

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "tools" / "read_calendar.mjs"
FIRST = datetime(2026, 10, 19, tzinfo=UTC)
LAST = datetime(2026, 12, 7, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")


def read_elsewhere(path: Path, first: datetime, last: datetime) -> list[dict[str, Any]]:
    node_module("ical.js", "ical.js")
    times = [f"{one:%Y-%m-%dT%H:%M:%S.000Z}" for one in (first, last)]
    done = subprocess.run(
        [node_program(), SCRIPT, NODE_HOME, path, *times],
        capture_output=True,
        check=True,
        env={**os.environ, "TZ": "Europe/Berlin"},
    )
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def as_told(event: CalendarEvent) -> dict[str, Any]:
    return {
        "title": event.title,
        "start": f"{event.start.astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}",
        "end": f"{event.end.astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}",
        "all_day": event.is_all_day,
    }


async def both(
    calendar: Calendar, folder: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    own = [as_told(one) for one in await calendar.between(FIRST, LAST)]
    (path,) = files_of(folder, "calendar.ics")
    told = read_elsewhere(path, FIRST, LAST)
    return _in_order(own), _in_order(told)


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: (one["start"], one["title"]))


async def test_zones_recurrence_and_exceptions_mean_the_same_there(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    strict = FOREIGN.replace("UNTIL=20261130", "UNTIL=20261130T080000Z")
    (samples / "calendar.ics").write_text(strict, encoding="utf-8", newline="")
    calendar = local_assistant(tmp_path, samples=samples).of("alice", zone=BERLIN).calendar
    weekly = [one for one in await calendar.between(FIRST, LAST) if one.title.startswith("Über")]
    await calendar.delete(weekly[1].id)
    await calendar.move(weekly[3].id, start=weekly[3].start + timedelta(days=1, hours=2))
    own, told = await both(calendar, tmp_path)
    assert told == own
    assert [one["title"] for one in told].count("Übergabe – Größe") == len(weekly) - 1
    assert [one["title"] for one in told if one["all_day"]] == ["Feiertag"]


async def test_what_we_made_ourselves_means_the_same_there(tmp_path: Path) -> None:
    calendar = local_assistant(tmp_path, samples=SAMPLES).of("bob", zone=BERLIN).calendar
    start = datetime(2026, 10, 24, 9, tzinfo=NEW_YORK)  # a day before summer time ends in Berlin
    for number, title in enumerate(["Größe, “quoted”; and\nmore", "会議 🩺", "x" * 180]):
        at = start + timedelta(days=number)
        await calendar.create(
            NewEvent(title, at, at + timedelta(minutes=30), "Raum Ä, 2. Stock"), fresh()
        )
    made = [one for one in await calendar.between(FIRST, LAST) if one.title == "会議 🩺"]
    await calendar.move(made[0].id, start=datetime(2026, 11, 27, 16, tzinfo=BERLIN))
    own, told = await both(calendar, tmp_path)
    assert told == own
    assert len(told) > 100
