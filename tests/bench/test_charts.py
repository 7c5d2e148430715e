"""The verdict of the bench of big charts."""

from typing import Any

import pytest

from bench.charts import missed

KEPT: dict[str, Any] = {
    "load": 2.0, "stall_ms": 40.0, "calls_stall_ms": 40.0,
    "first": {"summary": 500.0, "search": 40.0},
    "first_cpu": {"summary": 400.0, "search": 40.0},
    "cpu": {"summary": 5.0, "search": 5.0},
}  # fmt: skip


def test_a_chart_that_kept_every_bar_missed_none() -> None:
    assert missed(KEPT) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"load": 2.6}, "first answer 3.1 s"),
        ({"stall_ms": 60.0}, "stall while loading 60 ms"),
        ({"calls_stall_ms": 119.0}, "stall while tools run 119 ms"),
        ({"first_cpu": {"summary": 400.0, "search": 937.0}}, "first search 937 ms"),
        ({"cpu": {"summary": 51.0, "search": 5.0}}, "summary 51 ms"),
    ],
)
def test_each_bar_that_is_missed_is_named_with_its_figure(
    changed: dict[str, Any], said: str
) -> None:
    assert missed(KEPT | changed) == [said]
