"""Who the caller is, who answers, and what people may read before they sign in."""

from functools import cache
from pathlib import Path

from aiohttp import web

from routes.requests.context import CONTEXT, principal_of
from routes.requests.endpoint import FLAG, HTML, NULLABLE, STRING, Endpoint, Json, of, rows


async def list_agents(request: web.Request) -> Json:
    """`GET /api/agents`: the names of the team, facilitator first."""
    names = [agent.name for agent in request.app[CONTEXT].team.agents]
    return {"agents": names, "error": None}


async def show_session(request: web.Request) -> Json:
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
    return {
        "principal": {"id": principal.id, "name": principal.name},
        "agents": agents,
        "model_kind": "language_model" if context.team.is_language_model else "offline",
        "patient_id_example": context.patient_id_example,
        "link_hosts": list(context.link_hosts),
        "dictation": context.dictation,
    }


async def show_me(request: web.Request) -> Json:
    """`GET /api/user/me`: as whom the caller was verified, and what it may do."""
    principal = principal_of(request)
    ends = principal.expires_at
    return {
        "id": principal.id,
        "name": principal.name,
        "kind": principal.kind,
        "roles": sorted(principal.roles),
        "scopes": sorted(principal.scopes),
        "expires_at": None if ends is None else ends.isoformat(),
    }


async def privacy(_: web.Request) -> web.Response:
    """`GET /privacy`: what is stored, and where."""
    return _page("privacy")


async def terms(_: web.Request) -> web.Response:
    """`GET /terms`: what answers are, and are not."""
    return _page("terms")


@cache
def _text(name: str) -> str:
    return Path(__file__).with_name(f"{name}.html").read_text("utf-8")


def _page(name: str) -> web.Response:
    return web.Response(text=_text(name), content_type="text/html")


_AGENT = of(name=STRING, description=STRING, is_facilitator=FLAG)
_SESSION = of(
    principal=of(id=STRING, name=STRING),
    agents=rows(_AGENT),
    model_kind={"enum": ["language_model", "offline"]},
    patient_id_example=STRING,
    link_hosts=rows(STRING),
    dictation={"enum": ["", "server", "browser"]},
)
_ME = of(
    id=STRING,
    name=STRING,
    kind=STRING,
    roles=rows(STRING),
    scopes=rows(STRING),
    expires_at=NULLABLE,
)


def user_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [
        Endpoint("GET", "/api/agents", list_agents, of(agents=rows(STRING), error=NULLABLE)),
        Endpoint("GET", "/api/session", show_session, _SESSION),
        Endpoint("GET", "/api/user/me", show_me, _ME),
        Endpoint("GET", "/privacy", privacy, media=HTML),
        Endpoint("GET", "/terms", terms, media=HTML),
    ]
