"""What the caller has begun to write about a patient, on whichever device they go on."""

from typing import Any

from aiohttp import web
from pydantic import ValidationError

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.json_input import parse_json
from routes.replies import json_reply
from services.access.bodies import body_of
from services.views.drafts import LIMIT_CHARS, Draft, Drafts

PATH = "/api/chats/{chat_id}/draft"


async def show_draft(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/draft`: the caller's draft about a patient; "": none."""
    found = await _drafts(request).read(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=_patient_of(request),
    )
    return json_reply(found.model_dump(mode="json"))


async def write_draft(request: web.Request) -> web.Response:
    """`PUT /api/chats/{chat_id}/draft`: keep it for seven days; "" takes it away."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    try:
        draft = Draft.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise BadFrameError('a draft is {"text": "…"}') from None
    await _drafts(request).write(
        chat_id,
        draft.text,
        owner=owner,
        patient_id=_patient_of(request),
    )
    return web.Response(status=204)


def _drafts(request: web.Request) -> Drafts:
    drafts = request.app[CONTEXT].drafts
    if drafts is None:
        raise web.HTTPNotFound
    return drafts


def _patient_of(request: web.Request) -> str:
    patient_id = request.query.get("patient_id")
    if not patient_id:
        raise BadFrameError("patient_id is needed: a draft is about a patient")
    return patient_id


def draft_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    text = {"type": "string", "minLength": 1}
    parameters = [
        {"name": "chat_id", "in": "path", "required": True, "schema": text},
        {"name": "patient_id", "in": "query", "required": True, "schema": text},
    ]
    words = {"type": "string", "maxLength": LIMIT_CHARS}
    schema = {"type": "object", "required": ["text"], "properties": {"text": words}}
    content = {"application/json": {"schema": schema}}
    shown = {
        "operationId": "showDraft",
        "summary": "What the caller has begun to write about a patient",
        "parameters": parameters,
        "responses": {"200": {"description": "The text.", "content": content}, **_refusals()},
    }
    kept = {
        "operationId": "writeDraft",
        "summary": "Keep what the caller has begun to write, for seven days",
        "parameters": parameters,
        "requestBody": {"required": True, "content": content},
        "responses": {
            "204": {"description": "It is kept; an empty one is gone."},
            **_refusals(("413", "Longer than a message can be.")),
        },
    }
    return {PATH: {"get": shown, "put": kept}}


def _refusals(*more: tuple[str, str]) -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    told = (
        ("400", "The request is malformed."),
        ("401", "Nobody is signed in."),
        ("403", "The patient's chart is not open to the caller."),
        ("404", "Absent, malformed or not yours: one answer for all three."),
        *more,
    )
    return {
        status: {"description": text, "content": {"application/problem+json": problem}}
        for status, text in told
    }


def draft_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.get(PATH, show_draft), web.put(PATH, write_draft)]
