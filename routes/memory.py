"""A patient's memory over HTTP: shown with its sources, changed by people."""

from aiohttp import web

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import WHOSE, Endpoint, in_header
from routes.json_input import read_body
from routes.replies import json_reply
from services.memory_edits.operations import MemoryPatch
from services.memory_edits.view import MemoryView


async def show_memory(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/memory`: blocks, entities, tool memory, changes."""
    view = await request.app[CONTEXT].memory.show(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=request.query.get("patient_id"),
    )
    return _reply(view)


async def change_memory(request: web.Request) -> web.Response:
    """`PATCH /api/chats/{chat_id}/memory`: correct, retire, restore or undo."""
    refusal = BadFrameError("not a list of memory operations")
    patch = await read_body(request, MemoryPatch, refusal=refusal)
    revision = _revision(request, patch)
    view = await request.app[CONTEXT].memory.change(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=request.query.get("patient_id"),
        operations=patch.operations,
        revision=revision,
    )
    return _reply(view)


def _revision(request: web.Request, patch: MemoryPatch) -> str:
    """Return the revision that the caller saw: of the body, else of `If-Match`."""
    given = patch.revision or request.headers.get("If-Match", "").removeprefix("W/").strip('"')
    if not given:
        raise BadFrameError("the revision of the memory is needed")
    return given


def _reply(view: MemoryView) -> web.Response:
    response = json_reply(view.model_dump(mode="json"))
    response.headers["ETag"] = f'"{view.revision}"'
    return response


def memory_routes() -> list[Endpoint]:
    """Return the routes of this file; both answer the revision as `ETag`."""
    path, seen = "/api/chats/{chat_id}/memory", (WHOSE, in_header("If-Match"))
    return [
        Endpoint("GET", path, show_memory, MemoryView, parameters=(WHOSE,)),
        Endpoint("PATCH", path, change_memory, MemoryView, sent=MemoryPatch, parameters=seen),
    ]
