"""What a route takes and answers, said for `GET /api/openapi.json`."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

Json: TypeAlias = dict[str, Any]
Schema: TypeAlias = Json | str
"""A JSON Schema, or the name of one among the components."""

TEXT: Json = {"type": "string", "minLength": 1}
OBJECT: Json = {"type": "object"}
OPEN: Json = {"security": []}
"""Of what nobody signs in for."""

_REFUSALS = {
    "400": "The request is malformed.",
    "401": "Nobody is signed in.",
    "403": "The patient's chart is not open to the caller.",
    "404": "Absent, malformed or not yours: one answer for all three.",
}


def refusals(*statuses: str, **texts: str) -> Json:
    """Return the refusals of these statuses; those like `s409="…"` in words of their own."""
    own = {name.removeprefix("s"): text for name, text in texts.items()}
    return {status: _REFUSALS[status] for status in statuses if status not in own} | own


def ref(name: str) -> Json:
    """Return a pointer to a schema among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def of(**properties: Any) -> Json:
    """Return the schema of an object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def rows(schema: Schema) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": _full(schema)}


def content(schema: Schema, media_type: str = "application/json") -> Json:
    """Return what a body holds."""
    return {media_type: {"schema": _full(schema)}}


def operation(
    name: str,
    summary: str,
    *answers: tuple[str, str, Json],
    refused: Mapping[str, str] | None = None,
    parameters: tuple[Json, ...] = (),
    body: Json | None = None,
    **more: Any,
) -> Json:
    """Return the description of one method of a path.

    Args:
        answers: Status, what it means, and the content, empty for none.
        refused: Statuses of problems, and when they come.
        body: The content that is sent.
    """
    responses: Json = {
        status: {"description": text, **({"content": held} if held else {})}
        for status, text, held in answers
    }
    for status, text in (refused or {}).items():
        problem = content("Problem", "application/problem+json")
        responses[status] = {"description": text, "content": problem}
    found = {"operationId": name, "summary": summary, "responses": responses, **more}
    if body is not None:
        found.setdefault("requestBody", {"required": True, "content": body})
    return found | ({"parameters": list(parameters)} if parameters else {})


def in_path(name: str, text: str = "Its id.", schema: Json = TEXT) -> Json:
    """Return a parameter that is part of the path."""
    return {"name": name, "in": "path", "required": True, "description": text, "schema": schema}


def in_query(name: str, text: str, schema: Json = TEXT, *, required: bool = False) -> Json:
    """Return a parameter behind the `?`."""
    found: Json = {"name": name, "in": "query", "required": required, "description": text}
    return found | {"schema": schema}


CHAT = in_path("chat_id", "Id of the conversation, as issued by the server.")


def schemas_of(
    *models: type[BaseModel], mode: Literal["validation", "serialization"] = "serialization"
) -> Json:
    """Return the schemas of models that are answered, or sent, with those they name."""
    found: Json = {}
    for model in models:
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode=mode)
        found |= schema.pop("$defs", {}) | {model.__name__: schema}
    return found


def _full(schema: Schema) -> Json:
    return ref(schema) if isinstance(schema, str) else schema
