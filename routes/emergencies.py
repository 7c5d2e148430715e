"""`/api/operator/emergencies`: closed charts that were opened with a reason, for review."""

from aiohttp import web

from data_models.errors import BadFrameError
from routes.auth import operator_of
from routes.context import CONTEXT
from routes.endpoint import Endpoint, of, rows
from routes.json_input import read_body
from routes.operator_answers import PREFIX
from routes.operator_input import EmergencyReview
from routes.replies import json_reply
from services.chart_access.break_glass import BreakGlass, Grant


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


def _glass(request: web.Request) -> BreakGlass:
    operator_of(request)
    glass = request.app[CONTEXT].glass
    if glass is None:
        raise web.HTTPNotFound
    return glass
