"""Courses, ranges, goals, ages and times between two things: true ones beside false ones."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases


def _value(name: str, number: float, unit: str, date: str) -> ViewRow:
    return ViewRow(
        kind="laboratory", name=name, value=f"{number:g}", number=number, unit=unit, date=date,
        sources=(f"Observation/{name.split(maxsplit=1)[0].lower()}-{date}",),
    )  # fmt: skip


ROWS = (
    ViewRow(kind="patient", name="Ida Prome", value="female, 53 years", date="1973-05-14",
            sources=("Patient/i",)),
    ViewRow(kind="personal", name="marital status", value="Never Married", sources=("Patient/i",)),
    ViewRow(kind="personal", name="address", value="Cambridge, US", sources=("Patient/i",)),
    ViewRow(kind="personal", name="birth place", value="Brockton, US", sources=("Patient/i",)),
    ViewRow(kind="problem", name="Hyperlipidemia", status="active", date="2016-11-21",
            sources=("Condition/h",)),
    ViewRow(kind="problem", name="Acute bronchitis", status="resolved", date="2018-04-28",
            end="2018-05-05", sources=("Condition/b",)),
    ViewRow(kind="medication", name="Simvastatin 10 MG", status="active", date="2016-12-12",
            detail="for Hyperlipidemia", sources=("MedicationRequest/s",)),
    ViewRow(kind="medication", name="Acetaminophen 325 MG Oral Tablet", status="stopped",
            date="2018-04-28", detail="for Acute bronchitis", sources=("MedicationRequest/a",)),
    ViewRow(kind="medication", name="Amoxicillin 250 MG Oral Capsule", status="stopped",
            date="2019-03-23", sources=("MedicationRequest/x",)),
    ViewRow(kind="immunization", name="Hep A, adult", date="2015-02-09",
            sources=("Immunization/1",)),
    ViewRow(kind="immunization", name="Hep A, adult", date="2017-02-09",
            sources=("Immunization/2",)),
    ViewRow(kind="procedure", name="Appendectomy", status="completed", date="2015-06-01",
            sources=("Procedure/a",)),
    ViewRow(kind="encounter", name="Encounter Inpatient", detail="for Appendicitis",
            status="finished", date="2015-06-01", end="2015-06-03", sources=("Encounter/a",)),
    ViewRow(kind="goal", name="Hemoglobin A1c total in Blood < 7.0", status="accepted",
            sources=("Goal/g",)),
    _value("Hemoglobin A1c", 6.01, "%", "2013-05-20"),
    _value("Hemoglobin A1c", 6.4, "%", "2016-05-20"),
    _value("Hemoglobin A1c", 5.81, "%", "2020-02-03"),
    _value("Body Weight", 80.3, "kg", "2013-05-20"),
    _value("Body Weight", 93.1, "kg", "2016-05-20"),
    _value("Body Weight", 91.0, "kg", "2020-02-03"),
    _value("Platelets", 187.0, "10*3/uL", "2017-02-13"),
)  # fmt: skip


@pytest.fixture(scope="module")
def grounds() -> Grounds:
    rows = KnownRows()
    rows.add_view(ChartView(tool="rows", kind="table", title="Rows", rows=ROWS))
    return Grounds(rows=rows, own_names=frozenset({"ida", "prome"}))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("HbA1c has been between 5.8 % and 6.4 % since 2013.",
         "HbA1c has been between 5.8 % and 6.1 % since 2013."),
        ("All HbA1c values are below the goal of 7.0 %.",
         "All HbA1c values are below the goal of 6.8 %."),
        ("Her weight rose from 80.3 kg (2013) to 91.0 kg (2020), a gain of 10.7 kg.",
         "Her weight rose steadily from 80.3 kg (2013) to 91.0 kg (2020)."),
        ("Her weight was 91.0 kg in 2020, 2.1 kg less than in 2016.",
         "Her weight was 91.0 kg in 2020, 2.1 kg more than in 2016."),
        ("Her weight rose between 2013 and 2020.", "Her weight fell between 2013 and 2020."),
        ("Her weight peaked at 93.1 kg in 2016 and was 91.0 kg in 2020.",
         "Her weight peaked at 91.0 kg in 2020 and was 93.1 kg in 2016."),
        ("Her weight has been falling since 2016 and is now 91.0 kg.",
         "Her weight has been falling since 2016 and is now 93.1 kg."),
        ("Simvastatin was started in December 2016, three weeks after hyperlipidaemia was"
         " diagnosed.",
         "Simvastatin was started in December 2016, three weeks before hyperlipidaemia was"
         " diagnosed."),
        ("She was in hospital from 1 to 3 June 2015.",
         "She was in hospital from 1 to 6 June 2015."),
        ("The hospital stay for appendicitis lasted two days.",
         "The hospital stay for appendicitis lasted a week."),
        ("She had an appendectomy at the age of 42.", "She had an appendectomy at the age of two."),
        ("She is 53, single, lives in Cambridge.", "She is 53, married, lives in Cambridge."),
        ("Ms Prome, 53, has hyperlipidaemia.", "Ms Prome, 63, has hyperlipidaemia."),
        ("She was born in Brockton and lives in Cambridge.",
         "She was born in Cambridge and lives in Brockton."),
        ("Acetaminophen 325 mg was prescribed for bronchitis.",
         "Amoxicillin 250 mg was prescribed for bronchitis."),
        ("Amoxicillin 250 mg capsules were prescribed.",
         "Amoxicillin 250 mg injections were prescribed."),
        ("Hepatitis A vaccination was given twice, in 2015 and 2017.",
         "Hepatitis A vaccination was given once, in 2017."),
        ("Die Thrombozyten lagen 2017 bei 187 G/l.", "Die Thrombozyten lagen 2017 bei 87 G/l."),
    ],
)  # fmt: skip
def test_a_true_sentence_is_supported_and_its_false_twin_marked(
    right: str, wrong: str, grounds: Grounds
) -> None:
    def state(text: str) -> str:
        return MessageCheck(grounds=grounds, speaker=Speaker()).check(text).state

    assert state(right) == "supported"
    assert state(wrong) in ("unsupported", "contradicted")


@with_cases("text")
def test_what_nobody_recorded_is_marked(text: str, grounds: Grounds) -> None:
    found = MessageCheck(grounds=grounds, speaker=Speaker()).check(text)
    assert found.state in ("unsupported", "contradicted")
