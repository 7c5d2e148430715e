"""The caller's conversations: their titles, what is put away, and what was said in them."""

from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.json_input import parse_json
from routes.replies import json_reply
from services.access.bodies import body_of
from services.views.conversation_list import ConversationList, Hits, NamedConversation
from services.views.conversation_names import LIMIT_CHARS

PATH = "/api/chats"
_IS = {"true": True, "false": False, None: False}


class NameChange(BaseModel):
    """What is to be changed; what is None stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = None
    archived: bool | None = None


async def list_chats(request: web.Request) -> web.Response:
    """`GET /api/chats`: the caller's conversations; `archived=true` those put away."""
    archived = request.query.get("archived")
    if archived not in _IS:
        raise BadFrameError("archived is true or false")
    rows = await _conversations(request).rows(
        owner=principal_of(request).id, archived=_IS[archived]
    )
    return json_reply({"chats": [row.model_dump(mode="json") for row in rows]})


async def search_chats(request: web.Request) -> web.Response:
    """`GET /api/chats/search?q=`: turns of the caller's conversations that hold all the words."""
    found = await _conversations(request).search(
        request.query.get("q", ""), owner=principal_of(request).id
    )
    return json_reply(found.model_dump(mode="json"))


async def change_name(request: web.Request) -> web.Response:
    """`PATCH /api/chats/{chat_id}`: call it otherwise, put it away or back; for its user alone."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    try:
        change = NameChange.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise BadFrameError('send {"title": "…"}, {"archived": true}, or both') from None
    kept = await _conversations(request).change(
        chat_id, owner=owner, title=change.title, archived=change.archived
    )
    return json_reply({"title": kept.title, "archived": kept.is_archived})


def _conversations(request: web.Request) -> ConversationList:
    return request.app[CONTEXT].conversations


def chat_list_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    text, flag = {"type": "string"}, {"type": "boolean"}
    title = {**text, "maxLength": LIMIT_CHARS}
    query = {"in": "query", "required": False}
    listed = {
        "operationId": "listChats",
        "summary": "The caller's talks",
        "parameters": [{"name": "archived", **query, "schema": flag}],
        "responses": _answers("Chats", "Those put away, or the others."),
    }
    made = {
        "operationId": "createChat",
        "summary": "A new conversation",
        "responses": _answers("NewChat", "Its id.", status="201"),
    }
    found = {
        "operationId": "searchChats",
        "summary": "What was said in the caller's talks, of patients whose charts are open",
        "parameters": [
            {"name": "q", "in": "query", "required": True, "schema": {**text, "minLength": 1}}
        ],
        "responses": _answers("Hits", "Turns that hold every word."),
    }
    changed = {
        "operationId": "nameChat",
        "summary": "Call a talk otherwise, put it away or back",
        "parameters": [{"name": "chat_id", "in": "path", "required": True, "schema": text}],
        "requestBody": {
            "required": True,
            "content": _json(
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"title": title, "archived": flag},
                }
            ),
        },
        "responses": _answers(
            "ChatName",
            "As it is called now.",
            ("404", "Absent, malformed or not yours: one answer for all three."),
            ("413", f"A title of more than {LIMIT_CHARS} characters."),
        ),
    }
    return {
        PATH: {"get": listed, "post": made},
        f"{PATH}/search": {"get": found},
        f"{PATH}/{{chat_id}}": {"patch": changed},
    }


def chat_list_schemas() -> dict[str, Any]:
    """Return the shapes of the routes of this file."""
    row = {"$ref": "#/components/schemas/NamedConversation"}
    name = {"title": {"type": "string"}, "archived": {"type": "boolean"}}
    shapes: dict[str, dict[str, Any]] = {
        "Chats": {"chats": {"type": "array", "items": row}},
        "ChatName": name,
    }
    found: dict[str, Any] = {
        called: {"type": "object", "required": list(fields), "properties": fields}
        for called, fields in shapes.items()
    }
    for model in (NamedConversation, Hits):
        schema = model.model_json_schema(
            ref_template="#/components/schemas/{model}", mode="serialization"
        )
        found |= schema.pop("$defs", {}) | {model.__name__: schema}
    return found


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _answers(schema: str, text: str, *more: tuple[str, str], status: str = "200") -> dict[str, Any]:
    told = (("400", "The request is malformed."), ("401", "Nobody is signed in."), *more)
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    refusals = {
        code: {"description": said, "content": {"application/problem+json": problem}}
        for code, said in told
    }
    content = _json({"$ref": f"#/components/schemas/{schema}"})
    return {status: {"description": text, "content": content}, **refusals}


def chat_list_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [
        web.get(PATH, list_chats),
        web.get(f"{PATH}/search", search_chats),
        web.patch(f"{PATH}/{{chat_id}}", change_name),
    ]
