from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chart_view import ViewSource
from services.records.resources.facts import EARLIER_LIMIT, SAME_TIME, SOURCE_LIMIT, resolve


def source(ref: str, day: str | None) -> ViewSource:
    return ViewSource(ref=ref, date=day, title=ref)


def test_nothing_said_is_not_in_the_record() -> None:
    fact = resolve("ECOG", [])
    assert (fact.state, fact.value) == ("not in the record", None)


def test_the_newest_value_leads_and_the_older_one_is_earlier() -> None:
    fact = resolve("ECOG", [("0", source("a", "2023-01-01")), ("1", source("b", "2024-01-01"))])

    assert (fact.state, fact.value) == ("recorded", "1")
    assert [(reading.value, reading.date) for reading in fact.earlier] == [("0", "2023-01-01")]


def test_different_values_of_the_same_days_are_both_shown() -> None:
    fact = resolve("ECOG", [("1", source("a", "2024-01-01")), ("2", source("b", "2024-01-15"))])

    assert fact.state == "sources differ"
    assert [reading.value for reading in fact.disagreement] == ["2", "1"]


def test_one_day_more_than_the_window_is_a_course() -> None:
    fact = resolve("ECOG", [("1", source("a", "2024-01-01")), ("2", source("b", "2024-01-16"))])
    assert fact.state == "recorded"


def test_a_different_value_without_a_date_is_a_disagreement() -> None:
    fact = resolve("ECOG", [("1", source("a", "2024-01-01")), ("2", source("b", None))])
    assert fact.state == "sources differ"


def test_the_same_value_in_other_letters_is_the_same_value() -> None:
    fact = resolve("ER", [("Positive ", source("a", "2024")), ("positive", source("b", "2024"))])

    assert fact.state == "recorded"
    assert len(fact.sources) == 2


_DAYS = st.none() | st.dates(date(2000, 1, 1), date(2030, 1, 1)).map(date.isoformat)
_SAID = st.lists(st.tuples(st.sampled_from("0123"), _DAYS), max_size=40)


@given(_SAID)
@pytest.mark.slow
def test_every_reading_is_shown_once_or_counted(said: list[tuple[str, str | None]]) -> None:
    rows = [(value, source(f"s{n}", day)) for n, (value, day) in enumerate(said)]
    fact = resolve("x", rows)

    shown = [s.ref for s in fact.sources]
    counted = fact.more_sources or 0
    for reading in (*fact.disagreement[1:], *fact.earlier):
        shown.extend(s.ref for s in reading.sources)
        counted += reading.more_sources or 0
    assert len(shown) == len(set(shown))
    assert len(shown) + counted == len(rows)
    assert len(fact.sources) <= SOURCE_LIMIT
    assert len(fact.earlier) <= EARLIER_LIMIT
    newest = max((day or "" for _, day in said), default="")
    assert not said or (fact.sources[0].date or "") == newest


@given(st.integers(min_value=0, max_value=400))
def test_only_the_gap_decides_between_disagreement_and_course(days: int) -> None:
    later = date(2024, 1, 1) + timedelta(days=days)
    fact = resolve("x", [("a", source("1", "2024-01-01")), ("b", source("2", later.isoformat()))])
    assert (fact.state == "sources differ") == (timedelta(days=days) <= SAME_TIME)
