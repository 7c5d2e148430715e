import pytest

from services.language.charts.salts import with_salts_apart


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Metoprololsuccinat 100 mg", "Metoprolol succinat 100 mg"),
        ("Amlodipin-Besilat", "Amlodipin Besilat"),
        ("Levothyroxin-Natrium", "Levothyroxin"),
        ("Losartankalium", "Losartan"),
        ("Natrium, Urin-Natrium und Kaliumchlorid", "Natrium, Urin-Natrium und Kaliumchlorid"),
    ],
)
def test_salts_are_words_of_their_own(written: str, read: str) -> None:
    assert with_salts_apart(written) == read
