"""Days and times in people's words, in their own zone."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from services.language.pointing.when import When, when_of
from tests.tables import with_cases

NOW = datetime(2026, 11, 24, 23, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a Tuesday


def day(number: int, month: int = 11, minute: int | None = None) -> When:
    return When(date(2026, month, number), date(2026, month, number), minute)


def told(when: When | None) -> str | None:
    """Return the days and the hour, as the tables have them."""
    if when is None:
        return None
    days = " to ".join(dict.fromkeys(str(one) for one in (when.first, when.last) if one))
    minute = when.minute
    hour = "" if minute is None else f"{minute // 60:02}:{minute % 60:02}"
    length = f"for {when.minutes_long}" if when.minutes_long else ""
    return " ".join(filter(None, (days, hour, length)))


@with_cases("text", "expected")
def test_a_text_says_when(text: str, expected: str | None) -> None:
    assert told(when_of(text, NOW)) == expected


@with_cases("text", "ahead", "near")
def test_what_is_to_be_then_lies_ahead(text: str, ahead: str, near: str) -> None:
    assert told(when_of(text, NOW, is_ahead=True)) == ahead
    assert told(when_of(text, NOW)) == near


@pytest.mark.parametrize("text", ["tomorow", "tommorrow", "Wensday", "am Mitwoch"])
def test_a_misspelt_day_is_that_day(text: str) -> None:
    assert when_of(text, NOW) == day(25)


@with_cases("text", "minute", "length")
def test_an_hour_is_of_its_part_of_the_day_and_a_span_begins_at_its_first(
    text: str, minute: int | None, length: int
) -> None:
    assert when_of(text, NOW) == When(date(2026, 11, 25), date(2026, 11, 25), minute, length)
