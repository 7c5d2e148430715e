"""What is told of values that are only bounds, and of limits without a unit."""

from data_models.chart_view import ViewRow
from tests.services.records.test_said_otherwise import said
from tests.tables import with_cases


def bound(value: str, date: str, unit: str = "mIU/L") -> ViewRow:
    number = None if value[0] in "<>" else float(value)
    return ViewRow(kind="laboratory", name="TSH", value=value, number=number, unit=unit, date=date,
                   sources=(f"Observation/{date}",))  # fmt: skip


TSH = (bound(">100", "2025-01-01"), bound("4.2", "2024-01-01"), bound("<0.1", "2023-01-01"))


@with_cases("text", "first")
def test_a_value_that_is_only_a_bound_counts_as_far_as_it_says(text: str, first: str) -> None:
    assert said(text, {"results": TSH}).startswith(first)


def test_a_limit_without_a_unit_is_not_judged_where_units_differ() -> None:
    rows = (bound("7.2", "2025-01-01", "mmol/L"), bound("99", "2024-01-01", "mg/dL"))
    told = said("was the TSH ever above 120?", {"results": rows})
    assert not told.startswith(("No", "Yes"))
    assert "7.2 mmol/L" in told
