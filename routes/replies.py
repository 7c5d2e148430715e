"""JSON out."""

from typing import Any

import orjson
from aiohttp import web
from pydantic import BaseModel

from data_models.chart_view import ChartView


def json_reply(value: Any, *, status: int = 200) -> web.Response:
    """Return `value` as a JSON response; models in it dump themselves."""
    body = orjson.dumps(value, default=_dumped)
    return web.Response(body=body, status=status, content_type="application/json")


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no JSON")


# A view of the chart as JSON, live and read back alike.


def view_document(view: ChartView) -> dict[str, Any]:
    """Return what clients draw of `view`, as plain JSON values."""
    return view.model_dump(mode="json", exclude={"tool"})
