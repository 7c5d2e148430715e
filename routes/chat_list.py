"""The caller's conversations: titles, what is put away, what was said in them, and branches."""

from typing import Annotated

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from data_models.errors import BadFrameError, BranchError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import FLAG, NEW_CHAT, STRING, Endpoint, Json, in_query, of
from routes.endpoint import rows as rows_of
from routes.json_input import read_body
from services.views.conversation_list import ConversationList, Hits, NamedConversation

PATH = "/api/chats"
_IS = {"true": True, "false": False, None: False}


class NameChange(BaseModel):
    """What is to be changed; what is None stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = None
    archived: bool | None = None


async def list_chats(request: web.Request) -> Json:
    """`GET /api/chats`: the caller's conversations; `archived=true` those put away."""
    archived = request.query.get("archived")
    if archived not in _IS:
        raise BadFrameError("archived is true or false")
    owner = principal_of(request).id
    return {"chats": await _conversations(request).rows(owner=owner, archived=_IS[archived])}


async def search_chats(request: web.Request) -> Hits:
    """`GET /api/chats/search?q=`: turns of the caller's conversations that hold all the words."""
    words = request.query.get("q", "")
    return await _conversations(request).search(words, owner=principal_of(request).id)


async def change_name(request: web.Request) -> Json:
    """`PATCH /api/chats/{chat_id}`: call it otherwise, put it away or back; for its user alone."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    change = await read_body(
        request,
        NameChange,
        refusal=BadFrameError('send {"title": "…"}, {"archived": true}, or both'),
    )
    kept = await _conversations(request).change(
        chat_id, owner=owner, title=change.title, archived=change.archived
    )
    return {"title": kept.title, "archived": kept.is_archived}


def _conversations(request: web.Request) -> ConversationList:
    return request.app[CONTEXT].conversations


def chat_list_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    named = of(title=STRING, archived=FLAG)
    archived, words = (
        in_query("archived", "Put away.", FLAG),
        in_query("q", "Words.", required=True),
    )
    listed = of(chats=rows_of(NamedConversation))
    return [
        Endpoint("GET", PATH, list_chats, listed, parameters=(archived,)),
        Endpoint("GET", f"{PATH}/search", search_chats, Hits, parameters=(words,)),
        Endpoint("PATCH", f"{PATH}/{{chat_id}}", change_name, named, sent=NameChange),
    ]


BRANCH = "/api/chats/{chat_id}/branch"
NUMBER_LIMIT = 999_999_999


class BranchRequest(BaseModel):
    """Whose talk is wanted, and before which turn it ends."""

    model_config = ConfigDict(strict=True, extra="forbid")

    patient_id: Annotated[str, Field(min_length=1, max_length=PATIENT_ID_LIMIT_CHARS)]
    before_turn: Annotated[int, Field(ge=1, le=NUMBER_LIMIT)]


async def branch_chat(request: web.Request) -> Json:
    """`POST /api/chats/{chat_id}/branch`: begin a conversation with what was said until then."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    context = request.app[CONTEXT]
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat_id, owner=owner)
    wanted = await read_body(request, BranchRequest, refusal=BranchError("not whole"))
    branch_id = await context.branching.branch(
        chat_id, owner=owner, patient_id=wanted.patient_id, before_turn=wanted.before_turn
    )
    return {"chat_id": branch_id}


def branch_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [Endpoint("POST", BRANCH, branch_chat, NEW_CHAT, status=201, sent=BranchRequest)]
