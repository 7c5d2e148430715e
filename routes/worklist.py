"""The caller's patients of today, and whom the caller has pinned."""

from typing import Any

from aiohttp import web

from routes.auth import principal_of
from routes.context import CONTEXT
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


def worklist_schemas() -> dict[str, Any]:
    """Return the shapes of the answers of this file."""
    schema = WorklistView.model_json_schema(
        ref_template="#/components/schemas/{model}", mode="serialization"
    )
    shapes: dict[str, Any] = schema.pop("$defs", {})
    return shapes | {"WorklistView": schema}


def worklist_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    shown = {"schema": {"$ref": "#/components/schemas/WorklistView"}}
    patient = {
        "name": "patient_id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    }
    listed = {
        "operationId": "showWorklist",
        "summary": "Today's patients by the records, and those whom the caller has pinned",
        "responses": {
            "200": {"description": "The list.", "content": {"application/json": shown}},
            **_refusals(("503", "The records do not answer.")),
        },
    }
    pinned = {
        "operationId": "pinPatient",
        "summary": f"Keep a patient on the caller's list; {PINS_LIMIT} at most",
        "parameters": [patient],
        "responses": {
            "204": {"description": "The patient is on the list."},
            **_refusals(
                ("403", "The patient's chart is not open to the caller."),
                ("404", "The records know no such patient."),
                ("409", "The list is full."),
                ("503", "The records do not answer."),
            ),
        },
    }
    unpinned = {
        "operationId": "unpinPatient",
        "summary": "Take a patient off the caller's list",
        "parameters": [patient],
        "responses": {"204": {"description": "The patient is not on the list."}, **_refusals()},
    }
    return {LIST: {"get": listed}, ONE: {"put": pinned, "delete": unpinned}}


def _refusals(*more: tuple[str, str]) -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        status: {"description": said, "content": {"application/problem+json": problem}}
        for status, said in (("401", "Nobody is signed in."), *more)
    }


def worklist_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [
        web.get(LIST, show_worklist),
        web.put(ONE, pin_patient),
        web.delete(ONE, unpin_patient),
    ]
