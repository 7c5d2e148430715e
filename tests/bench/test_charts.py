"""The verdict of the bench of big charts."""

from typing import Any

from bench.charts import missed
from tests.tables import with_cases

KEPT: dict[str, Any] = {
    "load": 2.0, "stall_ms": 40.0, "calls_stall_ms": 40.0,
    "first": {"summary": 500.0, "search": 40.0},
    "first_cpu": {"summary": 400.0, "search": 40.0},
    "cpu": {"summary": 5.0, "search": 5.0},
}  # fmt: skip


def test_a_chart_that_kept_every_bar_missed_none() -> None:
    assert missed(KEPT) == []


@with_cases("changed", "said")
def test_a_bar_that_is_missed_is_named_with_its_figure(changed: dict[str, Any], said: str) -> None:
    assert missed(KEPT | changed) == [said]
