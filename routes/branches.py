"""A new conversation that holds what was said of a patient before one question."""

from typing import Annotated

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from data_models.errors import BranchError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import NEW_CHAT, Endpoint
from routes.json_input import read_body
from routes.replies import json_reply

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
    wanted = await read_body(request, BranchRequest, refusal=BranchError("not whole"))
    if context.branching is None:
        raise web.HTTPNotFound
    branch_id = await context.branching.branch(
        chat_id, owner=owner, patient_id=wanted.patient_id, before_turn=wanted.before_turn
    )
    return json_reply({"chat_id": branch_id}, status=201)


def branch_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [Endpoint("POST", PATH, branch_chat, NEW_CHAT, status=201, sent=BranchRequest)]
