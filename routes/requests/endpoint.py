"""A route with what it takes and answers, served and described from one place; and readiness."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from string import Formatter
from typing import Any, Literal, TypeAlias

import structlog
from aiohttp import web
from aiohttp.web_urldispatcher import DynamicResource
from pydantic import BaseModel

from data_models.clock import Clock
from data_models.errors import ModelUnfitError, RoundsError
from routes.requests.json_input import json_reply

_OK, _UNAVAILABLE = "ok", "unavailable"
Probe = Callable[[], Awaitable[None]]
logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class Readiness:
    """Asks storage and model whether they answer, at most once in `fresh_seconds`.

    While one does not, they are asked again after `retry_seconds`: a server that has just started
    is not kept waiting for its first request.

    Attributes:
        probes: By name; one that raises a `RoundsError` or takes too long is not ready.
    """

    probes: Mapping[str, Probe]
    clock: Clock
    probe_seconds: float = 3.0
    fresh_seconds: float = 2.0
    retry_seconds: float = 0.25

    def __post_init__(self) -> None:
        self._retry_seconds = min(self.retry_seconds, self.fresh_seconds)
        self._states: dict[str, str] = {}
        self._asked_at: float | None = None
        self._asking = asyncio.Lock()
        self._is_draining = False

    def drain(self) -> None:
        """Be unready from now on: the process is about to stop."""
        self._is_draining = True

    async def states(self) -> dict[str, str]:
        """Return `ok` or `unavailable` for the process and each part.

        A model that answers, but not as it has to, is `unfit: ` and what to set.
        """
        async with self._asking:
            if not self._is_fresh():
                answers = await asyncio.gather(*map(self._answers, self.probes))
                self._states = dict(zip(self.probes, answers, strict=True))
                self._asked_at = self.clock.monotonic()
        return {"process": _UNAVAILABLE if self._is_draining else _OK, **self._states}

    def _is_fresh(self) -> bool:
        age = None if self._asked_at is None else self.clock.monotonic() - self._asked_at
        is_ready = all(state == _OK for state in self._states.values())
        kept = self.fresh_seconds if is_ready else self._retry_seconds
        return age is not None and age < kept

    async def _answers(self, name: str) -> str:
        try:
            async with asyncio.timeout(self.probe_seconds):
                await self.probes[name]()
        except ModelUnfitError as error:
            logger.warning("readiness.unfit", part=name, reason=str(error))
            return f"unfit: {error}"
        except (RoundsError, TimeoutError) as error:
            logger.warning("readiness.unavailable", part=name, error=type(error).__name__)
            return _UNAVAILABLE
        return _OK


async def healthz(_: web.Request) -> dict[str, str]:
    """The process answers; nothing else is asked."""
    return {"status": "ok"}


Json: TypeAlias = dict[str, Any]
Schema: TypeAlias = Json | type[BaseModel]
"""A JSON Schema, in which models may stand for their own."""
Handler: TypeAlias = Callable[[web.Request], Awaitable[Any]]
"""Returns what it answers, or a response of its own where that is no JSON."""

STRING: Json = {"type": "string"}
TEXT: Json = {"type": "string", "minLength": 1}
BINARY: Json = {"type": "string", "format": "binary"}
NULLABLE: Json = {"type": ["string", "null"]}
INTEGER: Json = {"type": "integer"}
FLAG: Json = {"type": "boolean"}
OBJECT: Json = {"type": "object"}
NUMBER: Json = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
HTML: Mapping[str, Schema] = {"text/html": STRING}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of a path; its handler's docstring says what it does.

    What the handler returns is the JSON of the answer, models in it as they dump themselves.

    Attributes:
        answer: JSON that it answers; None for none.
        media: What else it may answer, by media type.
        status: Of what it answers; 0: 200, or 204 where there is nothing.
        also: Further statuses that are no problem, with their JSON.
        sent: JSON that it takes.
        sent_as: The media type of a body that is no JSON.
        may_be_empty: Whether the body may be left out.
        parameters: Beyond those of the path.
    """

    method: str
    path: str
    handler: Handler
    answer: Schema | None = None
    _: KW_ONLY
    media: Mapping[str, Schema] = field(default_factory=dict)
    status: int = 0
    also: Mapping[str, Schema] = field(default_factory=dict)
    sent: Schema | None = None
    sent_as: str = ""
    may_be_empty: bool = False
    parameters: tuple[Json, ...] = ()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer `request` with what the handler returns."""
        found = await self.handler(request)
        if isinstance(found, web.StreamResponse):
            return found
        if found is None:
            return web.Response(status=204)
        return json_reply(found, status=self.status or 200)


def of(**properties: Schema) -> Json:
    """Return the schema of an object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def rows(schema: Schema) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def in_query(name: str, text: str, schema: Json = TEXT, *, required: bool = False) -> Json:
    """Return a parameter behind the `?`."""
    found: Json = {"name": name, "in": "query", "required": required, "description": text}
    return found | {"schema": schema}


def in_header(name: str, *, required: bool = False) -> Json:
    """Return a parameter among the headers."""
    return {"name": name, "in": "header", "required": required, "schema": TEXT}


NEW_CHAT = of(chat_id=STRING)
WHOSE = in_query("patient_id", "Whose history; unset: the active patient; `session`: nobody's.")
PATIENT = in_query("patient_id", "Whose record it is in.", required=True)


# `GET /api/openapi.json`: what this server answers, for people and for tools.

DESCRIBED: web.AppKey[list[Endpoint]] = web.AppKey("described", list)
_Mode: TypeAlias = Literal["validation", "serialization"]
_PROBLEM = {
    "description": "A problem (RFC 9457): its status and its text say which.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_PROBLEM_FIELDS = ("type", "title", "detail", "error", "code", "ref")
_IN_PATH: dict[str, Json] = {
    "session": {**TEXT, "minLength": 8},
    "version": {"type": "integer", "minimum": 1},
}


class _Components:
    """Collects the schemas of the models that the routes name."""

    def __init__(self) -> None:
        strings = dict.fromkeys(_PROBLEM_FIELDS, STRING)
        self.schemas: Json = {"Problem": of(**strings, status={"type": "integer"})}

    def resolve(self, schema: Any, mode: _Mode) -> Any:
        """Return `schema` with a pointer in each place of a model."""
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            template = "#/components/schemas/{model}"
            found = schema.model_json_schema(ref_template=template, mode=mode)
            self.schemas |= found.pop("$defs", {}) | {schema.__name__: found}
            return {"$ref": template.format(model=schema.__name__)}
        if isinstance(schema, dict):
            return {name: self.resolve(one, mode) for name, one in schema.items()}
        return [self.resolve(one, mode) for one in schema] if isinstance(schema, list) else schema

    def content(self, media_type: str, schema: Schema, mode: _Mode = "serialization") -> Json:
        """Return what a body holds."""
        return {media_type: {"schema": self.resolve(schema, mode)}}


def document(endpoints: Iterable[Endpoint]) -> Json:
    """Return the OpenAPI 3.1 description of every route."""
    components, paths = _Components(), dict[str, Json]()
    for one in endpoints:
        path = DynamicResource(one.path).canonical if "{" in one.path else one.path
        paths.setdefault(path, {})[one.method.lower()] = _operation(one, path, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rounds",
            "version": "1",
            "description": "A clinical multi-agent chat. Errors are RFC 9457 problems.",
        },
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


async def show_openapi(request: web.Request) -> Json:
    """`GET /api/openapi.json`: this description."""
    endpoints = request.app[DESCRIBED]
    return document(endpoints)


def _operation(one: Endpoint, path: str, components: _Components) -> Json:
    parameters = [*_in_path(path), *one.parameters]
    line = (inspect.getdoc(one.handler) or "").partition("\n")[0]
    said = line.partition("`: ")[2] if line.startswith("`") else line
    first, *rest = one.handler.__name__.split("_")
    found: Json = {
        "operationId": first + "".join(word.capitalize() for word in rest),
        "summary": f"{said[:1].upper()}{said[1:]}",
        "responses": {**_answers(one, components), "default": _PROBLEM},
    }
    if one.sent is not None or one.sent_as:
        media_type = one.sent_as or "application/json"
        body = components.content(media_type, one.sent or BINARY, "validation")
        found["requestBody"] = {"required": not one.may_be_empty, "content": body}
    if parameters:
        found["parameters"] = parameters
    if not path.startswith("/api/"):
        found["security"] = []  # nobody signs in for it
    return found


def _answers(one: Endpoint, components: _Components) -> Json:
    content: Json = {}
    for media_type, schema in one.media.items():
        content |= components.content(media_type, schema)
    if one.answer is not None:
        content |= components.content("application/json", one.answer)
    status = one.status or (200 if content else 204)
    answers = {str(status): {"description": "Done.", **({"content": content} if content else {})}}
    for other, schema in one.also.items():
        shown = components.content("application/json", schema)
        answers[other] = {"description": "See the summary.", "content": shown}
    return answers


def _in_path(path: str) -> Iterable[Json]:
    for _, name, _, _ in Formatter().parse(path):
        if name is not None:
            schema = _IN_PATH.get(name, TEXT)
            yield {"name": name, "in": "path", "required": True, "schema": schema}
