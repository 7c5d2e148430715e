"""A patient's memory over HTTP: shown with its sources, changed by people."""

from aiohttp import web

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.described import CHAT, TEXT, Json, content, in_query, operation, refusals, schemas_of
from routes.json_input import read_body
from routes.replies import json_reply
from services.memory_edits.operations import MemoryPatch
from services.memory_edits.view import MemoryView
from services.views.memory_service import MemoryService


async def show_memory(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/memory`: blocks, entities, tool memory, changes."""
    view = await _service(request).show(
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
    view = await _service(request).change(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=request.query.get("patient_id"),
        operations=patch.operations,
        revision=revision,
    )
    return _reply(view)


def _service(request: web.Request) -> MemoryService:
    service = request.app[CONTEXT].memory
    if service is None:
        raise web.HTTPNotFound
    return service


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


def memory_paths() -> Json:
    """Return the OpenAPI description of a patient's memory."""
    whose = in_query("patient_id", "Unset: the active patient's; `session`: nobody's.")
    etag = {"ETag": {"description": "The revision.", "schema": TEXT}}
    shown = operation(
        "showMemory", "Memory blocks, entities and tool memory of one patient, with sources",
        ("200", "The memory as it stands.", content("MemoryView")),
        refused=refusals("401", "404", s400="The body is malformed, or the revision is missing."),
        parameters=(CHAT, whose),
    )  # fmt: skip
    changed = operation(
        "changeMemory", "Correct, retire, restore or undo; all operations or none",
        ("200", "The memory as it stands.", content("MemoryView")),
        refused=refusals(
            "401", "404", s400="The body is malformed, or the revision is missing.",
            s409="An item is not as it was, or a turn runs for too long.",
            s412="The memory changed since it was read.",
        ),
        parameters=(CHAT, whose, {"name": "If-Match", "in": "header", "schema": TEXT}),
        body=content("MemoryPatch"),
    )  # fmt: skip
    for one in (shown, changed):
        one["responses"]["200"]["headers"] = etag
    return {"/api/chats/{chat_id}/memory": {"get": shown, "patch": changed}}


def memory_schemas() -> Json:
    """Return the models that the paths name."""
    return schemas_of(MemoryPatch, mode="validation") | schemas_of(MemoryView)
