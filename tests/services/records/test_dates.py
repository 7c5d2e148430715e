from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.records.resources.dates import day_text, first_day, last_day, years_between
from tests.tables import with_cases


@pytest.mark.parametrize(
    ("recorded", "first", "last"),
    [
        ("2023", date(2023, 1, 1), date(2023, 12, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2024-02-19", date(2024, 2, 19), date(2024, 2, 19)),
        ("2024-02-19T23:59:59-11:00", date(2024, 2, 19), date(2024, 2, 19)),
    ],
)
def test_a_partial_date_is_a_span(recorded: str, first: date, last: date) -> None:
    assert (first_day(recorded), last_day(recorded)) == (first, last)


@with_cases("recorded")
def test_what_is_no_date_is_none(recorded: str) -> None:
    assert first_day(recorded) is None
    assert day_text(recorded) is None


@given(st.dates(min_value=date(1, 1, 1)))
def test_a_whole_date_is_its_own_span(day: date) -> None:
    assert first_day(day.isoformat()) == last_day(day.isoformat()) == day


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_dates(text: str) -> None:
    assert (first_day(text) is None) == (last_day(text) is None)


def test_the_birthday_itself_completes_the_year() -> None:
    assert years_between(date(1957, 3, 14), date(2025, 3, 13)) == 67
    assert years_between(date(1957, 3, 14), date(2025, 3, 14)) == 68
    assert years_between(date(2004, 2, 29), date(2025, 2, 28)) == 20
