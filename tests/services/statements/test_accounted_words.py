"""Every word of a sentence is accounted for by the rows that support it, not by others."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows

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


@pytest.mark.parametrize(
    "text",
    [
        "The colonoscopy of 2017 showed two polyps.",
        "He has osteoarthritis of the hip.",
        "He lives in Holyoke.",
        "He was born in Peabody.",
        "The MRI showed leptomeningeal disease.",
        "MLH1 and PMS2 were lost.",
        "His mother had breast cancer at 70.",
        "T790M was found.",
        "The Mirels score is 7.",
        "He has two sons.",
        "Bilirubin is rising.",
        "Olaparib was started.",
        "A Whipple procedure was performed.",
        "Lipids (2018-11-23): triglycerides 125.5 mg/dL.",
        "| Platelets | 367.3 | 10*3/uL | 2017-11-17 |",
    ],
)
def test_what_other_rows_say_supports_nothing(text: str) -> None:
    assert state(text) in ("unsupported", "contradicted")


@pytest.mark.parametrize(
    "text",
    [
        "The colonoscopy was done in November 2017.",
        "He has osteoarthritis of the knee.",
        "He lives in Peabody.",
        "He was born in Holyoke.",
        "The lesion in the left frontal lobe measured 11 mm.",
        "MSH6 was lost.",
        "His aunt had breast cancer at 70.",
        "The Mirels score is 9.",
        "He has two daughters.",
        "Bilirubin is falling.",
        "Lipids (2018-11-23): triglycerides 139.3 mg/dL.",
        "| Platelets | 296.7 | 10*3/uL | 2017-11-17 |",
    ],
)
def test_what_its_own_rows_say_is_not_marked(text: str) -> None:
    assert state(text) in ("supported", "unchecked")


@pytest.mark.parametrize(
    "text",
    [
        "Triglycerides crept up from 125.5 to 139.3 mg/dL, predictably enough.",
        "His platelets hovered, admittedly, at 296.7 in November 2017.",
        "He has been troubled by osteoarthritis of the knee since February 2021.",
        "Triglycerides came to 139.3 mg/dL in 2018 after 125.5 mg/dL in 2015.",
        "Die Thrombozyten beliefen sich gewissermassen auf 296,7.",
    ],
)
def test_common_language_is_in_no_list_of_the_check(text: str) -> None:
    assert state(text) == "supported"


@pytest.mark.parametrize("word", ["erosive", "prosthetic", "septic", "gouty"])
def test_a_rarer_word_has_to_be_in_a_row(word: str) -> None:
    assert state(f"He has {word} osteoarthritis of the knee.") == "unsupported"
