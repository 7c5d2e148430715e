"""The caller's patients of today, and whom the caller has pinned."""

from aiohttp import web

from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import Endpoint
from routes.replies import json_reply
from services.views.worklist import Worklist, WorklistView

LIST = "/api/worklist"
ONE = "/api/worklist/{patient_id}"


async def show_worklist(request: web.Request) -> web.Response:
    """`GET /api/worklist`: who is seen today, and whom the caller has pinned."""
    found = await _worklist(request).read(owner=principal_of(request).id)
    return json_reply(found.model_dump(mode="json"))


async def pin_patient(request: web.Request) -> web.Response:
    """`PUT /api/worklist/{patient_id}`: keep the patient on the list; repeating it is no error."""
    await _worklist(request).pin(request.match_info["patient_id"], owner=principal_of(request).id)
    return web.Response(status=204)


async def unpin_patient(request: web.Request) -> web.Response:
    """`DELETE /api/worklist/{patient_id}`: take the patient off; repeating it is no error."""
    await _worklist(request).unpin(request.match_info["patient_id"], owner=principal_of(request).id)
    return web.Response(status=204)


def _worklist(request: web.Request) -> Worklist:
    worklist = request.app[CONTEXT].worklist
    if worklist is None:
        raise web.HTTPNotFound
    return worklist


def worklist_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [
        Endpoint("GET", LIST, show_worklist, WorklistView),
        Endpoint("PUT", ONE, pin_patient),
        Endpoint("DELETE", ONE, unpin_patient),
    ]
