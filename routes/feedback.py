"""What the caller thinks of answers: thumbs, and for one that points down why."""

from typing import Any

from aiohttp import web
from pydantic import ValidationError

from data_models.errors import FeedbackError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.json_input import parse_json
from services.access.bodies import body_of
from services.channels.page_feedback import Opinion

ONE = "/api/chats/{chat_id}/runs/{run_id}/feedback"


async def give_feedback(request: web.Request) -> web.Response:
    """`PUT /api/chats/{chat_id}/runs/{run_id}/feedback`: keep what the caller thinks of it."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    try:
        opinion = Opinion.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise FeedbackError("no opinion") from None
    feedback = request.app[CONTEXT].feedback
    if feedback is None:
        raise web.HTTPNotFound
    await feedback.give(
        chat_id,
        request.match_info["run_id"],
        opinion,
        owner=owner,
        patient_id=request.query.get("patient_id"),
    )
    return web.Response(status=204)


def feedback_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    text = {"type": "string", "minLength": 1}
    parameters = [
        *(
            {"name": name, "in": "path", "required": True, "schema": text}
            for name in ("chat_id", "run_id")
        ),
        {"name": "patient_id", "in": "query", "required": False, "schema": text},
    ]
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
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Opinion"}}}
    operation = {
        "operationId": "giveFeedback",
        "summary": "What the caller thinks of an answer",
        "parameters": parameters,
        "requestBody": {"required": True, "content": content},
        "responses": {"204": {"description": "It is kept."}, **refusals},
    }
    return {ONE: {"put": operation}}


def feedback_schemas() -> dict[str, Any]:
    """Return the shapes of the routes of this file."""
    return {"Opinion": Opinion.model_json_schema()}


def feedback_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.put(ONE, give_feedback)]
