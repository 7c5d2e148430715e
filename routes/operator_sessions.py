"""`/api/operator/…/sessions`: single sessions of a scenario, looked at and acted on."""

from aiohttp import web

from routes.operator_answers import PREFIX, bulk_document, sessions_document
from routes.operator_context import after_of, limit_of, number_of, scenario_of, service_of
from routes.operator_input import BulkAct, SessionAct, decision
from routes.replies import json_reply
from services.scenarios.operators.session_service import SessionFilter


async def list_sessions(request: web.Request) -> web.Response:
    """`GET …/sessions?step=&version=&review=&channel=`: sessions that fit."""
    service, _ = service_of(request)
    query = request.query
    wanted = SessionFilter(
        query.get("step", ""),
        number_of(query.get("version", "0")),
        query.get("review", ""),
        query.get("channel", ""),
    )
    rows, cursor = await service.sessions.listed(
        scenario_of(request), wanted, after=after_of(request), limit=limit_of(request)
    )
    return json_reply(sessions_document(rows, cursor))


async def show_session(request: web.Request) -> web.Response:
    """`GET …/sessions/{session}`: its way, its fields, and what the next version would do."""
    service, who = service_of(request)
    view = await service.sessions.show(
        scenario_of(request), request.match_info["session"], operator=who
    )
    return json_reply(view.model_dump(mode="json"))


async def act(request: web.Request) -> web.Response:
    """`POST …/sessions/{session}/act`: move, resume, ask again, end or pin it."""
    service, who = service_of(request)
    sent = await decision(request, SessionAct)
    session = request.match_info["session"]
    await service.sessions.act(scenario_of(request), session, sent.act(), operator=who)
    return json_reply({"done": 1, "refused": [], "cursor": ""})


async def act_on_all(request: web.Request) -> web.Response:
    """`POST …/sessions/act`: the same for every session of a filter, 500 at a time."""
    service, who = service_of(request)
    sent = await decision(request, BulkAct)
    result = await service.sessions.act_on_all(
        scenario_of(request), sent.wanted(), sent.act(), operator=who, after=sent.after
    )
    return json_reply(bulk_document(result))


def session_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    all_of = f"{PREFIX}scenarios/{{scenario_id}}/sessions"
    return [
        web.get(all_of, list_sessions),
        web.post(f"{all_of}/act", act_on_all),
        web.get(f"{all_of}/{{session}}", show_session),
        web.post(f"{all_of}/{{session}}/act", act),
    ]
