"""Who the caller is, who answers, and what people may read before they sign in."""

from html import escape

from aiohttp import web

from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import FLAG, HTML, NULLABLE, STRING, Endpoint, Json, of, rows


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
        "dictation": context.speech is not None,
    }


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} · Rounds</title>
<h1>{title}</h1>
{paragraphs}
</html>
"""
_PRIVACY = (
    "Who runs this server is responsible for it and answers questions about your data. This page "
    "says what the software does; the notice of your organisation goes before it.",
    "Rounds stores conversations, what they remember of patients, and an audit trail of who opened "
    "which chart and when. All of it lies in the storage that your organisation has chosen.",
    "Charts are read from the records system of your organisation and are not copied as a whole; "
    "answers hold rows of them, with their sources.",
    "Where a language model is set up, it gets the message, the history of one patient at a time "
    "and the rows that tools returned. Logs, traces and figures hold no word of a patient.",
)
_TERMS = (
    "Who runs this server decides who may use it and for what; their terms go before this page.",
    "Answers are drawn from the record and can be wrong or incomplete. Check name and birth date, "
    "open the sources, and decide yourself: Rounds does not replace clinical judgement.",
)


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
    return _page("Privacy", _PRIVACY)


async def terms(_: web.Request) -> web.Response:
    """`GET /terms`: what answers are, and are not."""
    return _page("Terms of use", _TERMS)


def _page(title: str, paragraphs: tuple[str, ...]) -> web.Response:
    shown = "\n".join(f"<p>{escape(text)}</p>" for text in paragraphs)
    return web.Response(
        text=_PAGE.format(title=escape(title), paragraphs=shown), content_type="text/html"
    )


_AGENT = of(name=STRING, description=STRING, is_facilitator=FLAG)
_SESSION = of(
    principal=of(id=STRING, name=STRING),
    agents=rows(_AGENT),
    model_kind={"enum": ["language_model", "offline"]},
    patient_id_example=STRING,
    link_hosts=rows(STRING),
    dictation=FLAG,
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
