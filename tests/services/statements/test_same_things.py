"""A sentence means one thing by each name, number and day; rows of other things support none."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases

NOTE = (
    "Right adrenal lesion 15 mm, adrenal metastasis likely. Radiotherapy to breast and nodes is "
    "indicated. Surgery is a question for the board. Brushing was taken at ERCP. "
    "BRAF p.Val600Glu, allele fraction 38 percent."
)
ROWS = (
    ViewRow(kind="problem", name="Adrenal insufficiency", status="active", date="2024-03-11",
            sources=("Condition/a",)),
    ViewRow(kind="problem", name="Migraine without aura", status="active", date="2007-01-13",
            sources=("Condition/m",)),
    ViewRow(kind="problem", name="Polyp of colon", status="resolved", date="2010-12-06",
            end="2011-12-01", sources=("Condition/p",)),
    ViewRow(kind="procedure", name="ERCP with stent", status="completed", date="2025-06-13",
            sources=("Procedure/e",)),
    ViewRow(kind="procedure", name="Fecal occult blood test", status="completed",
            date="2017-06-26", sources=("Procedure/f",)),
    ViewRow(kind="laboratory", name="Creatinine", value="2.6", number=2.6, unit="mg/dL",
            date="2020-12-28", sources=("Observation/c2",)),
    ViewRow(kind="laboratory", name="Creatinine", value="1.03", number=1.03, unit="mg/dL",
            date="2020-12-13", sources=("Observation/c1",)),
    ViewRow(kind="encounter", name="Encounter for check up", status="finished",
            date="2020-09-02", sources=("Encounter/2",)),
    ViewRow(kind="encounter", name="Encounter for symptom", status="finished",
            date="2019-08-28", sources=("Encounter/1",)),
    ViewRow(kind="fact", name="nodes", value="One of two nodes positive", date="2023-09-26",
            sources=("Observation/n",)),
    ViewRow(kind="document", name="Oncology", detail=NOTE, date="2025-06-24",
            sources=("DocumentReference/n",)),
)  # fmt: skip


@pytest.fixture(scope="module")
def grounds() -> Grounds:
    rows = KnownRows()
    rows.add_view(ChartView(tool="problems", kind="table", title="Rows", rows=ROWS))
    return Grounds(rows=rows)


def state(text: str, grounds: Grounds) -> str:
    return MessageCheck(grounds=grounds, speaker=Speaker()).check(text).state


@with_cases("text")
def test_what_is_of_another_thing_is_not_supported(text: str, grounds: Grounds) -> None:
    assert state(text, grounds) in ("unsupported", "contradicted")


@with_cases("text")
def test_what_the_rows_say_of_one_thing_is_not_marked(text: str, grounds: Grounds) -> None:
    assert state(text, grounds) in ("supported", "unchecked")
