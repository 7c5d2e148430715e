"""What stands beside a fact: a remark is not marked, a claim is (ADR 155)."""

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.services.statements.test_spans_and_ages import ROWS
from tests.tables import with_cases

_MORE = (
    ViewRow(kind="vital sign", name="Blood Pressure", value="115.7/74.33", unit="mm[Hg]",
            date="2019-08-22", sources=("Observation/bp",)),
    ViewRow(kind="laboratory", name="Potassium", value="4.2", number=4.2, unit="mmol/L",
            date="2019-08-22", sources=("Observation/k",)),
    ViewRow(kind="genetic finding", name="NRAS", value="Absent", status="absent",
            date="2019-08-22", sources=("Observation/n",)),
)  # fmt: skip


def _state(text: str) -> str:
    rows = KnownRows()
    rows.add_view(ChartView(tool="rows", kind="table", title="Rows", rows=(*ROWS, *_MORE)))
    grounds = Grounds(rows=rows, own_names=frozenset({"ida", "prome"}))
    return MessageCheck(grounds=grounds, speaker=Speaker()).check(text).state


@with_cases("said")
def test_a_remark_on_a_value_is_not_marked(said: str) -> None:
    assert _state(said) == "supported"


@with_cases("said")
def test_a_claim_beside_a_value_is_marked(said: str) -> None:
    assert _state(said) in ("unsupported", "contradicted")
