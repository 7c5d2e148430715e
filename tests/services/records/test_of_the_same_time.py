"""What is told of the time of something else, and in units that the record does not use."""

import pytest

from tests.services.records.test_said_otherwise import row, said


def test_a_value_at_a_diagnosis_is_the_one_of_its_days() -> None:
    rows = {
        "problems": (row("problem", "Prediabetes", "2015-02-09", status="active"),),
        "results": tuple(
            row("laboratory", "Hemoglobin A1c", day, value=value, number=float(value), unit="%")
            for day, value in (("2021-02-22", "6.29"), ("2015-02-09", "6.38"))
        ),
    }
    told = said("a1c at diagnosis of prediabetes vs now", rows)
    assert "6.38 %, 2015-02-09" in told
    assert "6.29 %, 2021-02-22" in told
    then = said("was she ever prediabetic, what was the a1c then?", rows)
    assert "6.38" in then
    assert "6.29" not in then


@pytest.mark.parametrize(
    ("text", "value", "unit", "told"),
    [
        ("weight in pounds?", "80", "kg", "176.4 lb = 80 kg"),
        ("height in feet?", "180", "cm", "5 ft 11 in = 180 cm"),
        ("temperature in fahrenheit?", "38", "Cel", "100.4 °F = 38 Cel"),
        ("weight in celsius?", "80", "kg", ": 80 kg"),
    ],
)
def test_a_value_is_told_in_the_unit_asked_for(text: str, value: str, unit: str, told: str) -> None:
    name = "Temperature" if unit == "Cel" else "Weight"
    measured = row("vital sign", name, value=value, number=float(value), unit=unit)
    assert told in said(text, {"results": (measured,)})


def test_a_visit_without_a_reason_is_told_with_what_began_on_its_day() -> None:
    rows = {
        "encounters": (row("encounter", "Emergency room admission", "2017-07-24"),),
        "problems": (
            row("problem", "Whiplash injury", "2017-07-24"),
            row("problem", "Gout", "2015-01-01"),
        ),
        "medications": (row("medication", "Acetaminophen", "2017-07-24"),),
    }
    told = said("why was she in the er?", rows)
    assert "Whiplash" in told
    assert "Gout" not in told
    assert "Acetaminophen" not in told
    assert "Acetaminophen" in said("why was she in the er, and what did she get for it?", rows)


def test_a_bill_that_somebody_paid_once_is_no_yes_to_being_insured() -> None:
    bill = row("coverage", "private", "2019-02-22", detail="payer of this bill")
    told = said("is she insured?", {"care": (bill,)})
    assert "private" in told
    assert not told.startswith("Yes")
