from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.figures.times import spans_in
from services.language.words.folding import fold
from tests.tables import with_cases

TODAY = date(2026, 11, 22)


def days(text: str, language: str = "en") -> list[tuple[str | None, str | None]]:
    spans, _ = spans_in(fold(text)[0], today=TODAY, language=language)
    return [(_text(one.since), _text(one.until)) for one in spans]


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


@with_cases("text", "since", "until")
def test_english_words_name_days(text: str, since: str | None, until: str | None) -> None:
    assert days(text) == [(since, until)]


@with_cases("language", "text", "since", "until")
def test_other_languages_name_days(
    language: str, text: str, since: str | None, until: str | None
) -> None:
    assert days(text, language) == [(since, until)]


@pytest.mark.parametrize(
    "text", ["patient_2014", "last 3 values", "31.02.2015", "A1c", "", "2400", "ct on friday"]
)
def test_what_is_no_date_names_no_days(text: str) -> None:
    assert days(text) == []


def test_the_rest_of_the_text_is_left() -> None:
    _, rest = spans_in("weight since 2015 please", today=TODAY)
    assert rest.split() == ["weight", "please"]


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "es"]))
def test_any_text_has_days_in_their_order(text: str, language: str) -> None:
    spans, _ = spans_in(fold(text)[0], today=TODAY, language=language)
    assert all(one.since is None or one.until is None or one.since <= one.until for one in spans)
