"""What was refused, discussed or of a relative is no fact of the patient; true ones beside it."""

import pytest

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from tests.services.statements.fresh import grounds_of

UNTRUE = [
    ("heart_failure", "He has tolerated lisinopril well."),
    ("heart_failure", "He lives with his daughter."),
    ("heart_failure", "The left atrium is severely dilated."),
    ("heart_failure", "His brother died of dilated cardiomyopathy at 49."),
    ("child", "She uses an insulin pump."),
    ("child", "Ferritin is still low."),
    ("child", "The biopsy showed Marsh 3c."),
    ("lung_cancer_de", "Der Tumor ist größer geworden."),
    ("child", "Ferritin is above 40 ng/mL."),
]
TRUE = [
    ("heart_failure", "NT-proBNP has come down from 8,450 to 1,280 pg/mL."),
    ("heart_failure", "Heart rate is now 68/min, compared with 118/min on admission in 2021."),
    ("heart_failure", "He gave up smoking in 1995."),
    ("heart_failure", "Key diagnoses: HFrEF, atrial fibrillation, CKD 3b, BPH."),
    ("lung_cancer_de", "Das Lungenkarzinom wurde im Februar 2024 diagnostiziert."),
    ("colon_cancer", "KRAS G12D-mutated, BRAF wild-type, microsatellite stable."),
    ("child", "tTG-IgA dropped from 128 to 14 U/mL on a gluten-free diet."),
]


@pytest.fixture(scope="module")
def charts() -> dict[str, Grounds]:
    return {chart: grounds_of(chart) for chart, _ in (*UNTRUE, *TRUE)}


@pytest.mark.parametrize(("chart", "text"), UNTRUE)
def test_what_is_untrue_is_not_supported(charts: dict[str, Grounds], chart: str, text: str) -> None:
    found = MessageCheck(grounds=charts[chart], speaker=Speaker()).check(text)
    assert found.state in ("unsupported", "contradicted")


@pytest.mark.parametrize(("chart", "text"), TRUE)
def test_what_is_true_is_supported(charts: dict[str, Grounds], chart: str, text: str) -> None:
    assert MessageCheck(grounds=charts[chart], speaker=Speaker()).check(text).state == "supported"
