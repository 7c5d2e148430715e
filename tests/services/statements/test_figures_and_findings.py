"""What a figure in a name, a finding or another examination must not be taken for."""

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases

ROWS = (
    ViewRow(kind="laboratory", name="Estimated Glomerular Filtration Rate", value="99.8",
            number=99.8, unit="mL/min/{1.73_m2}", date="2020-04-18", sources=("Observation/g",)),
    ViewRow(kind="survey", name="Pain severity - 0-10 verbal numeric rating [Score] - Reported",
            value="3.2", number=3.2, date="2020-04-18", sources=("Observation/p",)),
    ViewRow(kind="problem", name="Body mass index 30+ - obesity (finding)", status="active",
            date="2019-08-22", sources=("Condition/o",)),
    ViewRow(kind="vital sign", name="Body Mass Index", value="30.4", number=30.4, unit="kg/m2",
            date="2019-08-22", sources=("Observation/b",)),
    ViewRow(kind="procedure", name="Chest X-ray", status="completed", date="2014-12-19",
            sources=("Procedure/x",)),
    ViewRow(kind="medication", name="Cefuroxime 250 MG Oral Tablet", status="stopped",
            date="2020-02-29", sources=("MedicationRequest/c",)),
    ViewRow(kind="medication", name="Kyleena 19.5 MG Intrauterine System", status="active",
            date="2021-01-25", sources=("MedicationRequest/k",)),
    ViewRow(kind="problem", name="Acute viral pharyngitis", status="resolved", date="2020-08-23",
            end="2020-09-04", sources=("Condition/f",)),
    ViewRow(kind="problem", name="Otitis media", status="resolved", date="2020-02-29",
            end="2020-04-18", sources=("Condition/e",)),
)  # fmt: skip


def state(text: str) -> str:
    rows = KnownRows()
    rows.add_view(ChartView(tool="search_record", kind="table", title="Search", rows=ROWS))
    return MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(text).state


@with_cases("text")
def test_what_no_row_says_is_not_supported(text: str) -> None:
    assert state(text) in ("unsupported", "contradicted")


@with_cases("text")
def test_what_a_row_says_is_supported(text: str) -> None:
    assert state(text) == "supported"


def test_the_removal_of_an_implant_is_no_deed_of_this_conversation() -> None:
    rows = KnownRows()
    found = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(
        "The implant was removed in December 2014."
    )
    assert "deleted" not in found.record_says
