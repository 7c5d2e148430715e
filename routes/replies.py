"""JSON out."""

from typing import Any

import orjson
from aiohttp import web

from data_models.chart_view import ChartView


def json_reply(value: Any, *, status: int = 200) -> web.Response:
    """Return `value` as a JSON response."""
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


# A view of the chart as JSON, live and read back alike.


def view_document(view: ChartView) -> dict[str, Any]:
    """Return what clients draw of `view`, as plain JSON values."""
    return view.model_dump(mode="json", exclude={"tool"})
