"""A view of the chart as JSON, live and read back alike."""

from typing import Any

from data_models.chart_view import ChartView


def view_document(view: ChartView) -> dict[str, Any]:
    """Return what clients draw of `view`, as plain JSON values."""
    return view.model_dump(mode="json", exclude={"tool"})
