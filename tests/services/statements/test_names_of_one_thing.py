"""Things told by any of their names, and better and worse by their values, over one chart."""

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases

ROWS = (
    ViewRow(
        kind="encounter diagnosis", name="Chronic congestive heart failure (disorder)",
        status="active", date="2018-02-02", sources=("Condition/hf",),
    ),
    ViewRow(
        kind="care plan", name="Heart failure self management plan", status="active",
        date="2019-02-02", sources=("CarePlan/hf",),
    ),
    ViewRow(
        kind="problem", name="Obstructive sleep apnea syndrome (disorder)", status="active",
        date="2016-02-02", sources=("Condition/osa",),
    ),
    ViewRow(
        kind="problem", name="Child attention deficit disorder", status="active",
        date="2021-09-01", sources=("Condition/adhd",),
    ),
    ViewRow(
        kind="problem", name="Awaiting transplantation of kidney (situation)", status="active",
        date="2022-08-08", sources=("Condition/waiting",),
    ),
    ViewRow(
        kind="problem", name="Concussion with no loss of consciousness", status="resolved",
        date="2023-06-06", end="2023-07-01", sources=("Condition/concussion",),
    ),
    ViewRow(
        kind="problem", name="COVID-19", status="resolved", date="2021-01-15", end="2021-02-05",
        sources=("Condition/covid",),
    ),
    ViewRow(
        kind="problem", name="Bronchial asthma", status="active", date="2001-01-15",
        sources=("Condition/asthma",),
    ),
    *(
        ViewRow(
            kind="immunization", name="COVID-19, mRNA, LNP-S, PF, 30 mcg/0.3 mL dose",
            date=day, sources=(f"Immunization/{day}",),
        )
        for day in ("2021-04-01", "2021-04-22")
    ),
    ViewRow(
        kind="device", name="Implantable cardiac pacemaker (physical object)", status="active",
        date="2018-03-03", sources=("Device/pacemaker",),
    ),
    ViewRow(
        kind="medication", name="Amoxicillin 250 MG / Clavulanate 125 MG Oral Tablet",
        status="stopped", date="2015-07-10", sources=("MedicationRequest/amoxicillin",),
    ),
    *(
        ViewRow(
            kind="laboratory", name="Glomerular filtration rate/1.73 sq M.predicted",
            value=f"{number:g}", number=number, unit="mL/min/{1.73_m2}", date=day,
            sources=(f"Observation/egfr-{day}",),
        )
        for number, day in ((58.0, "2017-03-03"), (44.5, "2023-05-02"))
    ),
    *(
        ViewRow(
            kind="laboratory", name="Hemoglobin [Mass/volume] in Blood", value=f"{number:g}",
            number=number, unit="g/dL", date=day, sources=(f"Observation/hb-{day}",),
        )
        for number, day in ((10.9, "2021-05-02"), (11.8, "2023-05-02"))
    ),
    *(
        ViewRow(
            kind="procedure", name="Colonoscopy", status="completed", date=day,
            sources=(f"Procedure/{day}",),
        )
        for day in ("2014-05-20", "2019-05-24")
    ),
    ViewRow(
        kind="genetic finding", name="Estrogen receptor", value="Positive", date="2024-09-05",
        sources=("Observation/er",),
    ),
    ViewRow(
        kind="genetic finding", name="Progesterone receptor", value="Negative",
        date="2024-09-05", sources=("Observation/pr",),
    ),
)  # fmt: skip


def is_marked(text: str) -> bool:
    rows = KnownRows()
    rows.add_view(ChartView(tool="chart", kind="table", title="Chart", rows=ROWS))
    found = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(text)
    return found.state in ("unsupported", "contradicted")


@with_cases("text")
def test_what_rows_say_by_another_name_is_not_marked(text: str) -> None:
    assert not is_marked(text)


@with_cases("text")
def test_what_rows_do_not_say_by_any_name_is_marked(text: str) -> None:
    assert is_marked(text)
