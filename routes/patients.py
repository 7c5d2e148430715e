"""Patients and their charts: whom callers find, see today or have pinned; emergencies."""

from aiohttp import web

from data_models.errors import BadFrameError
from routes.auth import operator_of, principal_of
from routes.context import CONTEXT
from routes.endpoint import OBJECT, PATIENT, STRING, Endpoint, in_query, of, rows
from routes.json_input import read_body
from routes.operator_answers import PREFIX
from routes.operator_input import EmergencyReview
from routes.replies import json_reply, view_document
from services.chart_access.break_glass import BreakGlass, Grant
from services.views.patient_chart import PARTS
from services.views.patient_finder import QUERY_LIMIT_CHARS, FoundPatients
from services.views.worklist import Worklist, WorklistView


async def find_patients(request: web.Request) -> web.Response:
    """`GET /api/patients`: whom `q` finds by name, birth date and number, 50 at most."""
    finder = request.app[CONTEXT].finder
    found = await finder.find(request.query.get("q", ""), owner=principal_of(request).id)
    return json_reply(found.model_dump(mode="json"))


async def show_chart(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/chart`: one part of the chart of a patient of the conversation."""
    chart = request.app[CONTEXT].chart
    patient_id = request.query.get("patient_id")
    if not patient_id:
        raise BadFrameError("patient_id is needed")
    view = await chart.part(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=patient_id,
        part=request.query.get("part", "summary"),
        name=request.query.get("name", ""),
    )
    return json_reply(view_document(view))


CHART_PART = of(
    view_id=STRING,
    patient_id=STRING,
    kind=STRING,
    title=STRING,
    rows=rows(OBJECT),
    sources=rows(OBJECT),
)


def patient_routes() -> list[Endpoint]:
    """Return the routes of patients and charts."""
    words = {**STRING, "maxLength": QUERY_LIMIT_CHARS}
    asked = in_query("q", "Words of a name, a birth date, a whole record number.", words)
    part = in_query("part", "Which part.", {"enum": list(PARTS), "default": "summary"})
    name = in_query("name", "With `part=results`: the values of one thing over time.")
    chart = "/api/chats/{chat_id}/chart"
    return [
        Endpoint("GET", "/api/patients", find_patients, FoundPatients, parameters=(asked,)),
        Endpoint("GET", chart, show_chart, CHART_PART, parameters=(PATIENT, part, name)),
    ]


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


def worklist_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [
        Endpoint("GET", LIST, show_worklist, WorklistView),
        Endpoint("PUT", ONE, pin_patient),
        Endpoint("DELETE", ONE, unpin_patient),
    ]


async def list_emergencies(request: web.Request) -> web.Response:
    """`GET emergencies`: those without a review first, then the newest first."""
    glass = _glass(request)
    return json_reply({"emergencies": [one.model_dump(mode="json") for one in await glass.all()]})


async def review_emergency(request: web.Request) -> web.Response:
    """`POST emergencies/{grant_id}/review`: what an operator, not the one concerned, found."""
    glass = _glass(request)
    said = await read_body(
        request,
        EmergencyReview,
        refusal=BadFrameError("not a review: is_justified, and perhaps a note"),
    )
    grant = await glass.review(
        request.match_info["grant_id"],
        by=operator_of(request).id,
        is_justified=said.is_justified,
        note=said.note,
    )
    return json_reply(grant.model_dump(mode="json"))


def emergency_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    path = f"{PREFIX}emergencies"
    review = f"{path}/{{grant_id}}/review"
    return [
        Endpoint("GET", path, list_emergencies, of(emergencies=rows(Grant))),
        Endpoint("POST", review, review_emergency, Grant, sent=EmergencyReview),
    ]


def _worklist(request: web.Request) -> Worklist:
    return request.app[CONTEXT].worklist


def _glass(request: web.Request) -> BreakGlass:
    operator_of(request)
    return request.app[CONTEXT].glass
