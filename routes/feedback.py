"""What the caller thinks of answers: thumbs, and for one that points down why."""

from aiohttp import web

from data_models.errors import FeedbackError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import WHOSE, Endpoint
from routes.json_input import read_body
from services.channels.page_feedback import Opinion

ONE = "/api/chats/{chat_id}/runs/{run_id}/feedback"


async def give_feedback(request: web.Request) -> web.Response:
    """`PUT /api/chats/{chat_id}/runs/{run_id}/feedback`: keep what the caller thinks of it."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    opinion = await read_body(request, Opinion, refusal=FeedbackError("no opinion"))
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


def feedback_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [Endpoint("PUT", ONE, give_feedback, sent=Opinion, parameters=(WHOSE,))]
