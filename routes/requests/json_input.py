"""JSON in and out: what strangers send, strict and no deeper than anybody needs, and answers."""

from typing import Any, TypeVar

import orjson
from aiohttp import web
from pydantic import BaseModel, ValidationError

from data_models.chart_view import ChartView
from data_models.errors import BadFrameError, RoundsError
from services.access.bodies import body_of
from services.language.words.vocabulary import language_of_tag

_ModelT = TypeVar("_ModelT", bound=BaseModel)

DEPTH_LIMIT = 32


def parse_json(data: bytes | str) -> Any:
    """Return the value of `data`.

    Raises:
        BadFrameError: invalid UTF-8, not JSON (NaN, Infinity and lone surrogates are not), or
            nested deeper than 32 levels.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        # Not `from error`: the error quotes the document.
        raise BadFrameError("not JSON") from None
    if _is_deeper(value, DEPTH_LIMIT):
        raise BadFrameError("nested deeper than 32 levels")
    return value


async def read_body(request: web.Request, model: type[_ModelT], *, refusal: RoundsError) -> _ModelT:
    """Return the body of `request` as `model`.

    Raises:
        BadFrameError: it is not JSON.
        RoundsError: `refusal`; it is of another shape.
    """
    try:
        return model.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise refusal from None


def query_of(request: web.Request, name: str) -> str:
    """Return a value of the query.

    Raises:
        BadFrameError: it is absent or empty.
    """
    if not (value := request.query.get(name)):
        raise BadFrameError(f"{name} is needed")
    return value


def language_asked(request: web.Request) -> str:
    """Return the first language of `Accept-Language` where answers are told in it, else English."""
    return language_of_tag(request.headers.get("Accept-Language", "")) or "en"


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for container in level for child in _children(container)]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


# JSON out.


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
