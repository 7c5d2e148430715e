"""A paper that a user gave supports what cites it and nothing else; the record is not moved."""

import pytest

from data_models.chart_view import ATTACHED, ChartView, ViewRow, ViewSource
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from tests.tables import with_cases

REF = "Attachment/att-1"
POTASSIUM = ViewRow(
    kind="laboratory", name="Potassium", value="4.1", number=4.1, unit="mmol/L",
    date="2026-03-02", sources=("Observation/k",),
)  # fmt: skip
LETTER = ViewRow(
    kind=ATTACHED, name="letter.pdf", sources=(REF,),
    detail="We began apixaban 5 mg twice daily. Potassium at discharge was 5.6 mmol/L.",
)  # fmt: skip


@pytest.fixture
def check() -> MessageCheck:
    rows, papers = KnownRows(), KnownRows()
    rows.add_view(view("results", POTASSIUM))
    papers.add_view(view("read_document", LETTER))
    for each in (rows, papers):
        each.sources |= {REF, "Observation/k"}
    return MessageCheck(grounds=Grounds(rows=rows, papers=papers), speaker=Speaker())


def view(tool: str, row: ViewRow) -> ChartView:
    kind = "passages" if row is LETTER else "table"
    sources = tuple(ViewSource(ref=ref) for ref in row.sources)
    return ChartView(tool=tool, kind=kind, title=tool, rows=(row,), sources=sources)  # type: ignore[arg-type]


@with_cases("said", "state")
def test_a_paper_stands_for_itself_alone(check: MessageCheck, said: str, state: str) -> None:
    assert check.check(said).state == state


def test_what_a_paper_has_otherwise_is_not_told_as_the_records(check: MessageCheck) -> None:
    assert check.check(f"Potassium was 4.1 mmol/L [{REF}].").record_says == ""
