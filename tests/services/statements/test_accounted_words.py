"""Every word of a sentence is accounted for by the rows that support it, not by others."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases

REPORT = (
    "MRI OF THE BRAIN. Findings: two lesions, left frontal lobe 11 x 10 mm. No leptomeningeal "
    "enhancement. Immunohistochemistry: MLH1 and PMS2 retained; MSH2 and MSH6 lost. Family: one "
    "aunt with breast cancer at 70. T790M and C797S absent. Mirels score 9. He has two daughters. "
    "Bilirubin falling, no fever. Questions for the board: (1) olaparib."
)
ROWS = (
    ViewRow(kind="procedure", name="Colonoscopy", status="completed", date="2017-11-24",
            sources=("Procedure/c",)),
    ViewRow(kind="problem", name="Polyp of nose", status="active", date="2010-01-02",
            sources=("Condition/p",)),
    ViewRow(kind="problem", name="Osteoarthritis of knee", status="active", date="2021-02-09",
            sources=("Condition/k",)),
    ViewRow(kind="laboratory", name="Triglycerides", value="139.3", number=139.3, unit="mg/dL",
            date="2018-11-23", detail="Lipid Panel", sources=("Observation/t2",)),
    ViewRow(kind="laboratory", name="Triglycerides", value="125.5", number=125.5, unit="mg/dL",
            date="2015-11-06", detail="Lipid Panel", sources=("Observation/t1",)),
    ViewRow(kind="laboratory", name="Platelets", value="296.7", number=296.7, unit="10*3/uL",
            date="2017-11-17", detail="↓ from 367.3 10*3/uL (2012-10-19)",
            sources=("Observation/p2", "Observation/p1")),
    ViewRow(kind="personal", name="address", value="Lockman Row, Peabody", sources=("Patient/1",)),
    ViewRow(kind="personal", name="birth place", value="Holyoke", sources=("Patient/1",)),
    ViewRow(kind="imaging report", name="MRI brain", date="2025-05-12", detail=REPORT,
            sources=("DiagnosticReport/m",)),
)  # fmt: skip


def state(text: str) -> str:
    rows = KnownRows()
    rows.add_view(ChartView(tool="search_record", kind="table", title="Search", rows=ROWS))
    return MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(text).state


@with_cases("text")
def test_what_other_rows_say_supports_nothing(text: str) -> None:
    assert state(text) in ("unsupported", "contradicted")


@with_cases("text")
def test_what_its_own_rows_say_is_not_marked(text: str) -> None:
    assert state(text) in ("supported", "unchecked")


@with_cases("text")
def test_common_language_is_in_no_list_of_the_check(text: str) -> None:
    assert state(text) == "supported"


@pytest.mark.parametrize("word", ["erosive", "prosthetic", "septic", "gouty"])
def test_a_rarer_word_has_to_be_in_a_row(word: str) -> None:
    assert state(f"He has {word} osteoarthritis of the knee.") == "unsupported"
