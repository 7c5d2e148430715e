"""A route with what it takes and answers: served and described from one place."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias

from aiohttp import web
from pydantic import BaseModel

from routes.replies import json_reply

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

    @property
    def route(self) -> web.RouteDef:
        """The route as aiohttp knows it."""
        return web.RouteDef(self.method, self.path, self.serve, {})

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
