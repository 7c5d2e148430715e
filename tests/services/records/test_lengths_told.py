"""How long something lasted or is ago, and how far two things are apart."""

import pytest

from tests.services.records.test_said_otherwise import row, said

ROWS = {
    "problems": (
        row("problem", "Stroke", "2019-07-07", status="active"),
        row("problem", "Depression", "2019-06-10", end="2020-09-01", status="resolved"),
    ),
    "medications": (row("medication", "Sertraline", "2019-06-10", status="stopped"),),
    "procedures colonoscopy": (
        row("procedure", "Colonoscopy", "2017-11-24"),
        row("procedure", "Colonoscopy", "2012-11-25"),
    ),
    "procedures cardioversion": (row("procedure", "Cardioversion", "2019-07-08"),),
    "immunizations": (row("immunization", "Tetanus", "2017-11-17"),),
    "encounters": (
        row("encounter", "Hospital admission", "2017-03-28", end="2017-03-28", value="inpatient"),
    ),
}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("how long did the depression last?", "lasted 1 year 2 months (449 days)"),
        ("Wie lange dauerte die Depression?", "dauerte 1 Jahr 2 Monate (449 Tage)"),
        ("how long has she had the stroke?", "7 years 4 months (2695 days) until today"),
        ("how long was she on sertraline?", "does not say when it ended"),
        ("how long since the last tetanus shot?", "9 years (3292 days) ago"),
        ("time between his two colonoscopies", "2012-11-25 to 2017-11-24: 4 years 11 months"),
        ("how long after the stroke was he cardioverted?", "2019-07-07 to 2019-07-08: 1 day"),
        ("how many days from the stroke to the cardioversion?", "2019-07-08: 1 day"),
        ("wieviele Tage zwischen Depression u. Schlaganfall", "2019-07-07: 27 Tage"),
        ("how long was he in hospital?", "lasted less than a day"),
    ],
)
def test_a_length_is_worked_out(text: str, told: str) -> None:
    assert told in said(text, ROWS)


def test_one_day_alone_is_said_to_make_no_length() -> None:
    assert "No two single days" in said("how many days after the cardioversion was the scan?", ROWS)


def test_how_long_a_value_was_beyond_a_limit_is_said_not_to_be_understood() -> None:
    high = row("vital sign", "Blood Pressure", value="150", number=150.0, unit="mm[Hg]")
    told = said("how long was his systolic bp above 140?", {"results": (high,)})
    assert "did not understand “how long”" in told


def test_that_a_count_of_days_is_asked_is_no_count_of_operations() -> None:
    told = said("wieviele tage nach der fraktur wurde operiert", {
        "procedures": (row("procedure", "Fracture operation", "2021-11-04"),),
    })  # fmt: skip
    assert "1 Eingriffe" not in told
    assert "nicht zwei einzelne Tage" in told
