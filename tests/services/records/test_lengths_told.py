"""How long something lasted or is ago, and how far two things are apart."""

import pytest

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

ROWS = {
    "problems": (
        row("problem", "Stroke", "2019-07-07", status="active"),
        row("problem", "Depression", "2019-06-10", end="2020-09-01", status="resolved"),
        row("problem", "Carcinoma of colon", "2012-11-20", detail="Stage IIIB", status="active"),
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


@pytest.mark.slow
@with_cases("text", "told")
def test_a_length_is_worked_out(text: str, told: str) -> None:
    assert told in said(text, ROWS)


def test_one_day_alone_is_said_to_make_no_length() -> None:
    assert "No two single days" in said("how many days after the cardioversion was the scan?", ROWS)
