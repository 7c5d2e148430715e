"""Patients, their charts and memory: whom callers find, see today or pinned; emergencies."""

from typing import Annotated

from aiohttp import web
from pydantic import Field

from data_models.errors import BadFrameError, ForbiddenError
from data_models.values import ClosedValue
from routes.requests import endpoint, json_input
from routes.requests.context import CONTEXT, chat_asked, principal_of
from services.chart_access.break_glass import BreakGlass, Grant
from services.memory_edits.operations import MemoryPatch
from services.memory_edits.view import MemoryView
from services.records.answers.whole_chart import part_in_own_words
from services.views.patient_chart import PARTS
from services.views.patient_finder import QUERY_LIMIT_CHARS, FoundPatients
from services.views.worklist import Worklist, WorklistView


async def find_patients(request: web.Request) -> FoundPatients:
    """`GET /api/patients`: whom `q` finds by name, birth date and number, 50 at most."""
    finder = request.app[CONTEXT].finder
    return await finder.find(request.query.get("q", ""), owner=principal_of(request).id)


async def show_chart(request: web.Request) -> endpoint.Json:
    """`GET /api/chats/{chat_id}/chart`: one part of the chart of a patient of the conversation."""
    context, chat = chat_asked(request, needs_patient=True)
    part, name = request.query.get("part", "summary"), request.query.get("name", "")
    view = await context.chart.part(chat, part=part, name=name)
    return json_input.view_document(part_in_own_words(view, json_input.language_asked(request)))


CHART_PART = endpoint.of(
    view_id=endpoint.STRING,
    patient_id=endpoint.STRING,
    kind=endpoint.STRING,
    title=endpoint.STRING,
    rows=endpoint.rows(endpoint.OBJECT),
    sources=endpoint.rows(endpoint.OBJECT),
)


LIST = "/api/worklist"
ONE = "/api/worklist/{patient_id}"


async def show_worklist(request: web.Request) -> WorklistView:
    """`GET /api/worklist`: who is seen today, and whom the caller has pinned."""
    return await _worklist(request).read(owner=principal_of(request).id)


async def pin_patient(request: web.Request) -> None:
    """`PUT /api/worklist/{patient_id}`: keep the patient on the list; repeating it is no error."""
    await _worklist(request).pin(request.match_info["patient_id"], owner=principal_of(request).id)


async def unpin_patient(request: web.Request) -> None:
    """`DELETE /api/worklist/{patient_id}`: take the patient off; repeating it is no error."""
    await _worklist(request).unpin(request.match_info["patient_id"], owner=principal_of(request).id)


class EmergencyReview(ClosedValue):
    """What an operator found of a chart that was opened in an emergency."""

    is_justified: bool
    note: Annotated[str, Field(max_length=500)] = ""


async def list_emergencies(request: web.Request) -> endpoint.Json:
    """`GET emergencies`: those without a review first, then the newest first."""
    return {"emergencies": await _glass(request).all()}


async def review_emergency(request: web.Request) -> Grant:
    """`POST emergencies/{grant_id}/review`: what somebody, not the one concerned, found."""
    glass = _glass(request)
    said = await json_input.read_body(
        request,
        EmergencyReview,
        refusal=BadFrameError("not a review: is_justified, and perhaps a note"),
    )
    return await glass.review(
        request.match_info["grant_id"],
        by=principal_of(request).id,
        is_justified=said.is_justified,
        note=said.note,
    )


def _worklist(request: web.Request) -> Worklist:
    return request.app[CONTEXT].worklist


def _glass(request: web.Request) -> BreakGlass:
    if not principal_of(request).may_review:
        raise ForbiddenError
    return request.app[CONTEXT].glass


# A patient's memory over HTTP: shown with its sources, changed by people.


async def show_memory(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/memory`: blocks, entities, tool memory, changes."""
    context, chat = chat_asked(request)
    return _reply(await context.memory.show(chat))


async def change_memory(request: web.Request) -> web.Response:
    """`PATCH /api/chats/{chat_id}/memory`: correct, retire, restore or undo."""
    refusal = BadFrameError("not a list of memory operations")
    patch = await json_input.read_body(request, MemoryPatch, refusal=refusal)
    revision = patch.revision or request.headers.get("If-Match", "").removeprefix("W/").strip('"')
    if not revision:
        raise BadFrameError("the revision of the memory is needed")
    context, chat = chat_asked(request)
    view = await context.memory.change(chat, operations=patch.operations, revision=revision)
    return _reply(view)


def _reply(view: MemoryView) -> web.Response:
    response = json_input.json_reply(view.model_dump(mode="json"))
    response.headers["ETag"] = f'"{view.revision}"'
    return response


def patient_routes() -> list[endpoint.Endpoint]:
    """Return the routes of this file; those of the memory answer its revision as `ETag`."""
    words = {**endpoint.STRING, "maxLength": QUERY_LIMIT_CHARS}
    asked = endpoint.in_query("q", "Words of a name, a birth date, a whole record number.", words)
    part = endpoint.in_query("part", "Which part.", {"enum": list(PARTS), "default": "summary"})
    name = endpoint.in_query("name", "With `part=results`: the values of one thing over time.")
    chart = "/api/chats/{chat_id}/chart"
    emergencies = "/api/operator/emergencies"
    review = f"{emergencies}/{{grant_id}}/review"
    memory, seen = "/api/chats/{chat_id}/memory", (endpoint.WHOSE, endpoint.in_header("If-Match"))
    return [
        endpoint.Endpoint(
            "GET", "/api/patients", find_patients, FoundPatients, parameters=(asked,)
        ),
        endpoint.Endpoint(
            "GET", chart, show_chart, CHART_PART, parameters=(endpoint.PATIENT, part, name)
        ),
        endpoint.Endpoint("GET", LIST, show_worklist, WorklistView),
        endpoint.Endpoint("PUT", ONE, pin_patient),
        endpoint.Endpoint("DELETE", ONE, unpin_patient),
        endpoint.Endpoint(
            "GET", emergencies, list_emergencies, endpoint.of(emergencies=endpoint.rows(Grant))
        ),
        endpoint.Endpoint("POST", review, review_emergency, Grant, sent=EmergencyReview),
        endpoint.Endpoint("GET", memory, show_memory, MemoryView, parameters=(endpoint.WHOSE,)),
        endpoint.Endpoint(
            "PATCH", memory, change_memory, MemoryView, sent=MemoryPatch, parameters=seen
        ),
    ]
