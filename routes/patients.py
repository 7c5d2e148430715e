"""Who can be found, and what their charts hold, without a turn."""

from aiohttp import web

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.described import Json, content, in_query, operation, refusals
from routes.replies import json_reply
from routes.view_document import view_document
from services.views.patient_finder import QUERY_LIMIT_CHARS


async def find_patients(request: web.Request) -> web.Response:
    """`GET /api/patients`: whom `q` finds by name, birth date and number, 50 at most."""
    finder = request.app[CONTEXT].finder
    if finder is None:
        raise web.HTTPNotFound
    found = await finder.find(request.query.get("q", ""), owner=principal_of(request).id)
    return json_reply(found.model_dump(mode="json"))


async def show_chart(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/chart`: one part of the chart of a patient of the conversation."""
    chart = request.app[CONTEXT].chart
    if chart is None:
        raise web.HTTPNotFound
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


def patient_paths() -> Json:
    """Return the OpenAPI description of finding patients."""
    words = {"type": "string", "maxLength": QUERY_LIMIT_CHARS}
    found = operation(
        "findPatients", "Patients by name, birth date and number; 50 at most",
        ("200", "Who was found.", content("FoundPatients")), refused=refusals("400", "401"),
        parameters=(in_query("q", "Words of a name, a birth date, a whole record number.", words),),
    )  # fmt: skip
    return {"/api/patients": {"get": found}}


def patient_routes() -> list[web.RouteDef]:
    """Return the routes of patients and charts."""
    return [
        web.get("/api/patients", find_patients),
        web.get("/api/chats/{chat_id}/chart", show_chart),
    ]
