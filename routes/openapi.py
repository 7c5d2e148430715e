"""`GET /api/openapi.json`: what this server answers, for people and for tools."""

import inspect
from collections.abc import Iterable
from string import Formatter
from typing import Any, Literal, TypeAlias

from aiohttp import web
from aiohttp.web_urldispatcher import DynamicResource
from pydantic import BaseModel

from routes.endpoint import BINARY, STRING, TEXT, Endpoint, Json, Schema, of

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
    found: Json = {
        "operationId": _camel(one.handler.__name__),
        "summary": _summary(one),
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


def _summary(one: Endpoint) -> str:
    """Return the first line of the handler's docstring, without the path that it repeats."""
    line = (inspect.getdoc(one.handler) or "").partition("\n")[0]
    said = line.partition("`: ")[2] if line.startswith("`") else line
    return f"{said[:1].upper()}{said[1:]}"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
