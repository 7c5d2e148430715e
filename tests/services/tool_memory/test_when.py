"""Days and times in people's words, in their own zone."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from services.language.pointing.when import When, when_of
from tests.tables import with_cases

NOW = datetime(2026, 11, 24, 23, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a Tuesday


def day(number: int, month: int = 11, minute: int | None = None) -> When:
    return When(date(2026, month, number), date(2026, month, number), minute)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow", day(25)),
        ("on Friday", day(27)),
        ("Friday at 10", day(27, minute=600)),
        ("friday 10", day(27, minute=600)),
        ("call the lab tomorrow 8", day(25, minute=480)),
        ("friday 13", day(27)),
        ("monday in 2 weeks", day(7, 12)),
        ("wednesday next week", day(2, 12)),
        ("next week on friday at 3", day(4, 12, 900)),
        ("Mittwoch nächster Woche", day(2, 12)),
        ("monday the week after next", day(7, 12)),
        ("week after next", When(date(2026, 12, 7), date(2026, 12, 13), None)),
        ("in 2 wks", day(8, 12)),
        ("wed in a week", day(2, 12)),
        ("Friday 15:30", day(27, minute=930)),
        ("3 December at 3pm", day(3, 12, 900)),
        ("2026-12-02", day(2, 12)),
        ("in two days", day(26)),
        ("in a month", day(24, 12)),
        ("in 6 months at 9", When(date(2027, 5, 24), date(2027, 5, 24), 540)),
        ("first Monday in January", When(date(2027, 1, 4), date(2027, 1, 4), None)),
        ("am 2. Dienstag im Dezember um 9", day(8, 12, 540)),
        ("am letzten Freitag im November", day(27)),
        ("third wed of march 2028", When(date(2028, 3, 15), date(2028, 3, 15), None)),
        ("in half a year", When(date(2027, 5, 24), date(2027, 5, 24), None)),
        ("in zwei Wochen", day(8, 12)),
        ("in einem Jahr", When(date(2027, 11, 24), date(2027, 11, 24), None)),
        ("this week", When(date(2026, 11, 23), date(2026, 11, 29), None)),
        ("16:00", When(None, None, 960)),
        ("at 3", When(None, None, 900)),
        ("at 8", When(None, None, 480)),
        ("31 February", None),
        ("whenever", None),
        ("", None),
    ],
)
def test_a_text_says_when(text: str, expected: When | None) -> None:
    assert when_of(text, NOW) == expected


@pytest.mark.parametrize(
    ("text", "ahead", "near"),
    [
        ("Tuesday", day(1, 12), day(24)),
        ("am Dienstag um 10", day(1, 12, 600), day(24, minute=600)),
        ("this Tuesday", day(24), day(24)),
        ("today", day(24), day(24)),
        ("3.12.", day(3, 12), day(3, 12)),
        ("am 24.11.", day(24), day(24)),
        ("20.11.", When(date(2027, 11, 20), date(2027, 11, 20), None), day(20)),
        ("12/3", day(3, 12), day(3, 12)),
    ],
)
def test_what_is_to_be_then_lies_ahead(text: str, ahead: When, near: When) -> None:
    assert when_of(text, NOW, is_ahead=True) == ahead
    assert when_of(text, NOW) == near


@pytest.mark.parametrize("text", ["tomorow", "tommorrow", "Wensday", "am Mitwoch"])
def test_a_misspelt_day_is_that_day(text: str) -> None:
    assert when_of(text, NOW) == day(25)


@with_cases("text", "minute", "length")
def test_an_hour_is_of_its_part_of_the_day_and_a_span_begins_at_its_first(
    text: str, minute: int | None, length: int
) -> None:
    assert when_of(text, NOW) == When(date(2026, 11, 25), date(2026, 11, 25), minute, length)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tonight at 23:45", day(24, minute=1425)),
        ("tonight at 8", day(24, minute=1200)),
        ("tonight at 1", day(25, minute=60)),
        ("heute Nacht um 1", day(25, minute=60)),
        ("at midnight tonight", day(25, minute=0)),
    ],
)
def test_a_night_ends_on_the_day_behind(text: str, expected: When) -> None:
    assert when_of(text, NOW) == expected
