"""The caller's patients of today, and whom the caller has pinned."""

from aiohttp import web

from routes.auth import principal_of
from routes.context import CONTEXT
from routes.described import Json, content, in_path, operation, refusals, schemas_of
from routes.replies import json_reply
from services.views.worklist import PINS_LIMIT, Worklist, WorklistView

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


def worklist_schemas() -> Json:
    """Return the shapes of the answers of this file."""
    return schemas_of(WorklistView)


def worklist_paths() -> Json:
    """Return the OpenAPI description of the routes of this file."""
    silent = "The records do not answer."
    patient = (in_path("patient_id"),)
    listed = operation(
        "showWorklist", "Today's patients by the records, and those whom the caller has pinned",
        ("200", "The list.", content("WorklistView")), refused=refusals("401", s503=silent),
    )  # fmt: skip
    pinned = operation(
        "pinPatient", f"Keep a patient on the caller's list; {PINS_LIMIT} at most",
        ("204", "The patient is on the list.", {}), parameters=patient,
        refused=refusals(
            "401", "403", s404="The records know no such patient.", s409="The list is full.",
            s503=silent,
        ),
    )  # fmt: skip
    unpinned = operation(
        "unpinPatient", "Take a patient off the caller's list",
        ("204", "The patient is not on the list.", {}), parameters=patient, refused=refusals("401"),
    )  # fmt: skip
    return {LIST: {"get": listed}, ONE: {"put": pinned, "delete": unpinned}}


def worklist_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [
        web.get(LIST, show_worklist),
        web.put(ONE, pin_patient),
        web.delete(ONE, unpin_patient),
    ]
