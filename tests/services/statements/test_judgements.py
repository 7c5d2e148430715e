"""Prose that judges what no row judges: "The CT was normal."."""

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.services.statements.test_check import VIEWS, row, verdict, view
from tests.tables import with_cases


@with_cases("said")
def test_a_judgement_that_no_row_makes_is_marked(said: str) -> None:
    assert verdict(said).state == "unsupported"


@with_cases("said")
def test_what_judges_nothing_is_not_marked(said: str) -> None:
    assert verdict(said).state != "unsupported"


def test_a_judgement_that_a_report_makes_is_not_marked() -> None:
    report = row(
        "imaging report", "CT chest", "DiagnosticReport/ct",
        detail="Impression: no evidence of disease progression. The liver is normal.",
    )  # fmt: skip
    rows = KnownRows()
    for one in (*VIEWS, view("imaging_reports", report, kind="passages")):
        rows.add_view(one)
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())

    assert check.check("There is no disease progression.").state != "unsupported"
    assert check.check("The liver is normal.").state != "unsupported"
    assert check.check("The biopsy was benign.").state == "unsupported"
