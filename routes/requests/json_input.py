"""JSON in and out: what strangers send, strict and no deeper than anybody needs, and answers."""

import traceback
from collections.abc import Sequence
from http import HTTPStatus
from json import JSONDecodeError
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import orjson
import structlog
from aiohttp import ClientConnectionResetError, hdrs, web
from aiohttp.typedefs import Handler, Middleware
from pydantic import BaseModel, ValidationError

from data_models.chart_view import ChartView
from data_models.clock import IdSource
from data_models.errors import BadFrameError, RoundsError
from services.access.limits import body_of
from services.language.words.vocabulary import language_of_tag

# Errors over HTTP: RFC 9457 problems of constant text (spec page 7).

_CODES = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.UNAUTHORIZED: "unauthenticated",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
}
_CLIENT_LEFT = 499  # as nginx calls it
logger = structlog.get_logger()


class Problem(NamedTuple):
    """What the caller is told; constants of the error's class or status."""

    status: int
    code: str
    text: str
    retryable: bool = False
    allow: str | None = None
    retry_seconds: int = RoundsError.retry_after_seconds


def problems(*, ids: IdSource) -> Middleware:
    """Return the outermost middleware: what a handler raises becomes a problem with a `ref`."""

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        end = _RequestEnd(request, ids.new_id("ref"))
        with end:
            return await handler(request)
        return end.answer

    return answer


def problem_response(problem: Problem, *, ref: str, problems: Sequence[str] = ()) -> web.Response:
    """Return `problem` as `application/problem+json`.

    Args:
        problem: What the caller is told.
        ref: Finds it in the log.
        problems: All that is wrong, where a caller can solve several things at once.
    """
    body: dict[str, object] = {
        "type": f"urn:rounds:error:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.text,
        "error": problem.text,
        "code": problem.code,
        "ref": ref,
    }
    if problems:
        body["problems"] = [*problems]
    response = web.Response(
        status=problem.status, body=orjson.dumps(body), content_type="application/problem+json"
    )
    if problem.status == HTTPStatus.UNAUTHORIZED:
        response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    if problem.retryable:
        response.headers[hdrs.RETRY_AFTER] = str(problem.retry_seconds)
    if problem.allow is not None:
        response.headers[hdrs.ALLOW] = problem.allow
    return response


def problem_of(error: Exception) -> Problem:
    """Return what the caller is told about `error`."""
    if isinstance(error, JSONDecodeError):
        error = BadFrameError()
    if isinstance(error, RoundsError):
        return Problem(
            error.http_status,
            error.code,
            error.user_message,
            error.retryable,
            retry_seconds=error.retry_after_seconds,
        )
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return Problem(error.status, "too_large", "The request is larger than the limit.")
    if isinstance(error, web.HTTPException):
        status = HTTPStatus(error.status)
        text = f"{status.phrase}."
        code = _CODES.get(status, f"http_{error.status}")
        return Problem(error.status, code, text, allow=error.headers.get(hdrs.ALLOW))
    if isinstance(error, web.RequestPayloadError):
        return Problem(400, BadFrameError.code, "The request's body could not be read.")
    return Problem(500, RoundsError.code, RoundsError.user_message)


class _RequestEnd:
    """Where a request ends: the one place at which errors of any kind stop."""

    def __init__(self, request: web.Request, ref: str) -> None:
        self._request = request
        self._ref = ref
        self.answer: web.StreamResponse = web.Response(status=500)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        """Turn `error` into the answer, unless it is a redirect or the process or task ends."""
        is_redirect = isinstance(error, web.HTTPException) and error.status < HTTPStatus.BAD_REQUEST
        if not isinstance(error, Exception) or is_redirect:
            return False
        if isinstance(error, ClientConnectionResetError):
            logger.info("request.left", status=_CLIENT_LEFT, ref=self._ref)
            self.answer = web.Response(status=_CLIENT_LEFT)  # for the log: nobody reads it
            return True
        problem = problem_of(error)
        _log(problem, error, ref=self._ref)
        self.answer = problem_response(problem, ref=self._ref)
        # When an answer has begun nothing can follow it; aiohttp then closes the connection.
        return self._request.writer.output_size == 0


def _log(problem: Problem, error: Exception, *, ref: str) -> None:
    """Log what went wrong and where, never what was said: messages may hold patients' text."""
    names = {"code": problem.code, "status": problem.status, "ref": ref}
    if problem.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.debug("request.refused", **names)
        return
    cause = type(error.__cause__).__name__ if error.__cause__ else None
    where = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log = logger.warning if isinstance(error, RoundsError) else logger.error
    log("request.failed", error=type(error).__name__, cause=cause, where=where[-6:], **names)


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
