from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.folding import fold
from services.language.times import spans_in

TODAY = date(2026, 11, 22)


def days(text: str, language: str = "en") -> list[tuple[str | None, str | None]]:
    spans, _ = spans_in(fold(text)[0], today=TODAY, language=language)
    return [(_text(one.since), _text(one.until)) for one in spans]


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("since 2015", "2015-01-01", None),
        ("in March 2018", "2018-03-01", "2018-03-31"),
        ("over the last 5 years", "2021-11-22", None),
        ("in the past six months", "2026-05-22", None),
        ("on 3/4/2015", "2015-03-04", "2015-03-04"),
        ("on 25/4/2015", "2015-04-25", "2015-04-25"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("since last year", "2025-01-01", None),
        ("the past year", "2025-11-22", None),
        ("last month", "2026-10-01", "2026-10-31"),
        ("between 2010 and 2015", "2010-01-01", "2015-12-31"),
        ("from 2010 to 2015", "2010-01-01", "2015-12-31"),
        ("2010-2015", "2010-01-01", "2015-12-31"),
        ("labs from 2012", "2012-01-01", "2012-12-31"),
        ("before March 2018", None, "2018-02-28"),
        ("until 2015", None, "2015-12-31"),
        ("after 2015", "2016-01-01", None),
        ("5 years ago", "2021-01-01", "2021-12-31"),
        ("in the 1990s", "1990-01-01", "1999-12-31"),
        ("on March 4th, 2015", "2015-03-04", "2015-03-04"),
        ("4 March 2015", "2015-03-04", "2015-03-04"),
        ("2014-02", "2014-02-01", "2014-02-28"),
        ("yesterday", "2026-11-21", "2026-11-21"),
        ("since spring", "2026-03-01", None),
        ("since winter", "2025-12-01", None),
    ],
)
def test_english_words_name_days(text: str, since: str | None, until: str | None) -> None:
    assert days(text) == [(since, until)]


@pytest.mark.parametrize(
    ("language", "text", "since", "until"),
    [
        ("de", "seit 2019", "2019-01-01", None),
        ("de", "seit dem Frühjahr", "2026-03-01", None),
        ("de", "im März 2018", "2018-03-01", "2018-03-31"),
        ("de", "am 4.3.2015", "2015-03-04", "2015-03-04"),
        ("de", "in den letzten 5 Jahren", "2021-11-22", None),
        ("de", "seit 3 Jahren", "2023-11-22", None),
        ("de", "vor 3 Jahren", "2023-01-01", "2023-12-31"),
        ("de", "letztes Jahr", "2025-01-01", "2025-12-31"),
        ("de", "zwischen 2010 und 2015", "2010-01-01", "2015-12-31"),
        ("fr", "depuis 2019", "2019-01-01", None),
        ("fr", "en mars 2018", "2018-03-01", "2018-03-31"),
        ("fr", "au cours des 5 dernières années", "2021-11-22", None),
        ("fr", "le 3/4/2015", "2015-04-03", "2015-04-03"),
        ("es", "desde 2019", "2019-01-01", None),
        ("es", "en marzo de 2018", "2018-03-01", "2018-03-31"),
        ("es", "en los últimos 5 años", "2021-11-22", None),
    ],
)
def test_other_languages_name_days(
    language: str, text: str, since: str | None, until: str | None
) -> None:
    assert days(text, language) == [(since, until)]


@pytest.mark.parametrize("text", ["patient_2014", "last 3 values", "31.02.2015", "A1c", "", "2400"])
def test_what_is_no_date_names_no_days(text: str) -> None:
    assert days(text) == []


def test_the_rest_of_the_text_is_left() -> None:
    _, rest = spans_in("weight since 2015 please", today=TODAY)
    assert rest.split() == ["weight", "please"]


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "es"]))
def test_any_text_has_days_in_their_order(text: str, language: str) -> None:
    spans, _ = spans_in(fold(text)[0], today=TODAY, language=language)
    assert all(one.since is None or one.until is None or one.since <= one.until for one in spans)
