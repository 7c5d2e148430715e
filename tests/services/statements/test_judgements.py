"""Prose that judges what no row judges: "The CT was normal."."""

import pytest

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.services.statements.test_check import VIEWS, row, verdict, view


@pytest.mark.parametrize(
    "said",
    [
        "Renal function has collapsed.",
        "There is no disease progression.",
        "The family has been told about it.",
        "Liver function is normal.",
        "Her liver values are normal.",
        "Electrolytes are all within the normal range.",
        "The CT was normal.",
        "The tumour is shrinking.",
        "She consented to surgery.",
        "There are no outstanding results.",
        "There is no fever.",
        "She feels better.",
        "Die Angehörigen wurden informiert.",
        "Die Biopsie war gutartig.",
        "Das Blutbild ist unauffällig.",
        "Die Nierenfunktion hat sich verschlechtert.",
    ],
)
def test_a_judgement_that_no_row_makes_is_marked(said: str) -> None:
    assert verdict(said).state == "unsupported"


@pytest.mark.parametrize(
    "said",
    [
        "Her renal function is not recorded.",
        "The tumour board should discuss surgery.",
        "Is the liver function normal?",
        "Here are the results.",
        "Die Biopsie sollte besprochen werden.",
    ],
)
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
