"""What is told of the time of something else, and in units that the record does not use."""

from tests.services.records.test_said_otherwise import row, said


def test_values_on_both_sides_of_a_drug_are_told_apart() -> None:
    rows = {
        "medications": (row("medication", "Simvastatin", "2019-12-29", status="active"),),
        "results": tuple(
            row("laboratory", "LDL", day, value=value, number=float(value), unit="mg/dL")
            for day, value in (("2020-12-28", "97"), ("2019-12-08", "147"))
        ),
    }
    before, after = said("LDL before and after starting simvastatin", rows).split("147 mg/dL")
    assert "97" not in before
    assert "97 mg/dL" in after
