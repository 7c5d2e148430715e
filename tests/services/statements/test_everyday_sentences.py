"""Sentences as agents answer every day, each beside an untrue one of the same form."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows


def _value(name: str, number: float, unit: str, date: str) -> ViewRow:
    return ViewRow(
        kind="laboratory", name=name, value=f"{number:g}", number=number, unit=unit, date=date,
        sources=(f"Observation/{name.split(maxsplit=1)[0].lower()}-{date}",),
    )  # fmt: skip


def _event(kind: str, name: str, date: str, status: str = "", detail: str = "") -> ViewRow:
    source = f"{kind.title()}/{name.split(maxsplit=1)[0].lower()}-{date}"
    return ViewRow(kind=kind, name=name, date=date, status=status, detail=detail, sources=(source,))


ROWS = (
    ViewRow(kind="patient", name="Ida Prome", value="female, 6 years", date="2019-05-27",
            sources=("Patient/i",)),
    _event("problem", "Osteoarthritis of knee", "2021-02-09", "active"),
    _event("problem", "Polyp of colon", "2012-06-28", "resolved"),
    _event("problem", "Otitis media", "2014-08-03", "resolved"),
    _event("procedure", "Colonic polypectomy", "2012-06-28", "completed", "for Polyp of colon"),
    _event("medication", "Simvastatin 10 MG", "2019-12-29", "active"),
    _event("medication", "Amoxicillin 250 MG Oral Capsule", "2014-08-03", "stopped"),
    _event("immunization", "Influenza, seasonal, injectable, preservative free", "2020-03-26"),
    ViewRow(kind="biomarker", name="BRCA1 (germline)", value="Absent", date="2024-10-01",
            status="absent", sources=("Observation/b1",)),
    ViewRow(kind="biomarker", name="BRCA2 (germline)", value="Absent", date="2024-10-01",
            status="absent", sources=("Observation/b2",)),
    _value("Glucose", 97.0, "mg/dL", "2021-02-22"), _value("Glucose", 70.77, "mg/dL", "2019-02-18"),
    _value("Sodium", 143.1, "mmol/L", "2021-02-22"),
    _value("Potassium", 4.37, "mmol/L", "2021-02-22"),
    _value("Low Density Lipoprotein Cholesterol", 90.95, "mg/dL", "2015-01-16"),
    _value("Low Density Lipoprotein Cholesterol", 105.5, "mg/dL", "2018-02-23T08:00:00+00:00"),
    _value("Low Density Lipoprotein Cholesterol", 105.486, "mg/dL", "2018-02-23"),
    _value("Low Density Lipoprotein Cholesterol", 147.0, "mg/dL", "2019-12-08"),
    _value("Platelets", 259.9, "10*3/uL", "2014-03-11"),
    _value("Platelets", 160.0, "10*3/uL", "2020-09-01"),
    _value("Creatinine", 3.08, "mg/dL", "2020-02-25"),
    _value("Creatinine", 2.85, "mg/dL", "2021-02-24"),
    _value("Body Weight", 3.4, "kg", "2019-05-27"),
    _value("Body Weight", 99.86, "kg", "2020-03-06"),
    _value("Body Weight", 91.31, "kg", "2021-03-12"),
)  # fmt: skip


@pytest.fixture(scope="module")
def grounds() -> Grounds:
    rows = KnownRows()
    rows.add_view(ChartView(tool="chart", title="Chart", kind="table", rows=ROWS))
    return Grounds(rows=rows)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Glucose was 97 mg/dL, compared with 70.8 in 2019.",
         "Glucose was 97 mg/dL, compared with 90.8 in 2019."),
        ("Creatinine was 2.85 mg/dL on 24 February 2021, lower than a year before.",
         "Creatinine was 2.85 mg/dL on 24 February 2021, higher than a year before."),
        ("Platelets fell to 160 in September 2020 from 259.9 in 2014.",
         "Platelets rose to 160 in September 2020 from 259.9 in 2014."),
        ("LDL has risen steadily over the last three measurements, from 90.95 to 147 mg/dL.",
         "LDL has fallen steadily over the last three measurements, from 147 to 90.95 mg/dL."),
        ("She lost about 8.5 kg between March 2020 and March 2021 (99.86 → 91.31 kg).",
         "She lost about 4.5 kg between March 2020 and March 2021 (99.86 → 91.31 kg)."),
        ("Sodium and potassium were 143.1 and 4.37 mmol/L.",
         "Sodium and potassium were 4.37 and 143.1 mmol/L."),
        ("Electrolytes on 22 February 2021: sodium 143.1, potassium 4.37 mmol/L.",
         "Electrolytes on 22 February 2021: sodium 133.1, potassium 4.37 mmol/L."),
        ("Her weight was 3.4 kg at birth.", "Her weight was 99.86 kg at birth."),
        ("She received a flu shot in early 2020.", "She received a flu shot in late 2020."),
        ("No BRCA1 or BRCA2 mutation was found.", "A BRCA2 mutation was found."),
        ("Die Patientin hat eine Kniearthrose.", "Die Patientin hat eine Arthrose der Hüfte."),
        ("In August 2014 an otitis media called for amoxicillin 250 mg.",
         "In August 2015 an otitis media called for amoxicillin 250 mg."),
        ("A polyp was found and removed in June 2012.",
         "The knee was removed in February 2021."),
        ("Osteoarthritis of the knee dates back to 2021.",
         "Osteoarthritis of the knee dates back to 2011."),
        ("LDL rose to 147 mg/dL in December 2019.",
         "LDL rose to 147 mg/dL after simvastatin was started."),
    ],
)  # fmt: skip
def test_an_everyday_sentence_is_supported_and_its_false_twin_marked(
    right: str, wrong: str, grounds: Grounds
) -> None:
    def state(text: str) -> str:
        return MessageCheck(grounds=grounds, speaker=Speaker()).check(text).state

    assert state(right) == "supported"
    assert state(wrong) in ("unsupported", "contradicted")
