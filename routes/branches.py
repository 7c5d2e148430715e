"""A new conversation that holds what was said of a patient before one question."""

from typing import Annotated, Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import BranchError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.json_input import parse_json
from routes.replies import json_reply
from services.access.bodies import body_of

PATH = "/api/chats/{chat_id}/branch"
NUMBER_LIMIT = 999_999_999


class BranchRequest(BaseModel):
    """Whose talk is wanted, and before which turn it ends."""

    model_config = ConfigDict(strict=True, extra="forbid")

    patient_id: Annotated[str, Field(min_length=1, max_length=PATIENT_ID_LIMIT_CHARS)]
    before_turn: Annotated[int, Field(ge=1, le=NUMBER_LIMIT)]


async def branch_chat(request: web.Request) -> web.Response:
    """`POST /api/chats/{chat_id}/branch`: begin a conversation with what was said until then."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    context = request.app[CONTEXT]
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat_id, owner=owner)
    try:
        wanted = BranchRequest.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise BranchError("not whole") from None
    if context.branching is None:
        raise web.HTTPNotFound
    branch_id = await context.branching.branch(
        chat_id, owner=owner, patient_id=wanted.patient_id, before_turn=wanted.before_turn
    )
    return json_reply({"chat_id": branch_id}, status=201)


def branch_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    text = {"type": "string", "minLength": 1}
    parameters = [{"name": "chat_id", "in": "path", "required": True, "schema": text}]
    told = (
        ("400", "The request is malformed."),
        ("401", "Nobody is signed in."),
        ("403", "The patient's chart is not open to the caller."),
        ("404", "Absent, malformed or not yours: one answer for all three."),
    )
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    refusals = {
        status: {"description": said, "content": {"application/problem+json": problem}}
        for status, said in told
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/BranchRequest"}}}
    made = {"application/json": {"schema": {"$ref": "#/components/schemas/NewChat"}}}
    operation = {
        "operationId": "branchChat",
        "summary": "A new conversation with what was said of a patient before a turn",
        "parameters": parameters,
        "requestBody": {"required": True, "content": content},
        "responses": {"201": {"description": "Its id.", "content": made}, **refusals},
    }
    return {PATH: {"post": operation}}


def branch_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.post(PATH, branch_chat)]
