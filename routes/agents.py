"""Who answers here, and as whom the caller is known."""

from aiohttp import web

from routes.auth import principal_of
from routes.context import CONTEXT
from routes.replies import json_reply


async def list_agents(request: web.Request) -> web.Response:
    """`GET /api/agents`: the names of the team, facilitator first."""
    names = [agent.name for agent in request.app[CONTEXT].team.agents]
    return json_reply({"agents": names, "error": None})


async def show_session(request: web.Request) -> web.Response:
    """`GET /api/session`: what a client shows before anything was said."""
    context, principal = request.app[CONTEXT], principal_of(request)
    agents = [
        {
            "name": agent.name,
            "description": agent.description,
            "is_facilitator": agent.is_facilitator,
        }
        for agent in context.team.agents
    ]
    return json_reply(
        {
            "principal": {"id": principal.id, "name": principal.name},
            "agents": agents,
            "model_kind": "language_model" if context.team.is_language_model else "offline",
            "patient_id_example": context.patient_id_example,
            "link_hosts": list(context.link_hosts),
            "dictation": context.speech is not None,
        }
    )
