"""The caller's conversations over HTTP: titles, turns, branches, what is put away."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from aiohttp import web
from pydantic import BaseModel, Field

from data_models.chart_view import ChartView
from data_models.chat_context import Turn
from data_models.errors import BadFrameError, BranchError, FeedbackError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS, number_in
from routes.requests.context import CONTEXT, browser_session_of, chat_asked, principal_of
from routes.requests.endpoint import (
    BINARY,
    FLAG,
    INTEGER,
    NEW_CHAT,
    NULLABLE,
    NUMBER,
    OBJECT,
    PATIENT,
    STRING,
    WHOSE,
    Endpoint,
    Json,
    in_query,
    of,
    rows,
)
from routes.requests.json_input import query_of, read_body, view_document
from routes.streams.following import LAUNCHES
from services.channels.ports import Opinion
from services.records.views.source import SourceText
from services.views import conversation_view
from services.views.archive import ArchivedTalk
from services.views.conversation_list import Hits, NamedConversation
from services.views.patient_chart import Identity

PAGE_LIMIT_TURNS = 200
_INLINE_UNSAFE = frozenset('"\\\r\n')


async def create_chat(request: web.Request) -> Json:
    """`POST /api/chats`: issue an id; its first message binds it."""
    chat_id = await request.app[CONTEXT].reader.create(owner=principal_of(request).id)
    return {"chat_id": chat_id}


async def show_chat(request: web.Request) -> Json:
    """`GET /api/chats/{chat_id}`: patient, roster, plan, scenario, question, running turn."""
    context, chat = chat_asked(request)
    view = await context.reader.view(chat)
    view = view.model_copy(update={"visit": await _visit(request, chat.chat_id)})
    return view.model_dump(mode="json", exclude={"scenario": {"keys"}})


async def _visit(request: web.Request, chat_id: str) -> conversation_view.VisitRow | None:
    """Return what the caller's own session was launched for."""
    smart, session_id = request.app.get(LAUNCHES), browser_session_of(request)
    if smart is None or session_id is None:
        return None
    place = await smart.visit_of(session_id, conversation_id=chat_id)
    if place is None or place.visit is None:
        return None
    return conversation_view.VisitRow(patient_id=place.patient_id, **place.visit.model_dump())


async def show_progress(request: web.Request) -> conversation_view.Progress:
    """`GET /api/chats/{chat_id}/progress`: what runs and what ended last; cheap enough to poll."""
    context, chat = chat_asked(request)
    return await context.reader.progress(chat)


async def show_messages(request: web.Request) -> Json:
    """`GET /api/chats/{chat_id}/messages`: a page of turns of one patient, oldest first."""
    (context, chat), query = chat_asked(request), request.query
    page = await context.reader.messages(
        chat,
        before=number_in(query["before"]) if "before" in query else None,
        limit=min(number_in(query.get("limit", "50")) or 50, PAGE_LIMIT_TURNS),
    )
    shown = chat._replace(patient_id=page.patient_id)
    return _page(page, await context.feedback.read_of_history(shown))


async def stop_turn(request: web.Request) -> Json:
    """`POST /api/chats/{chat_id}/stop`: cancel the running turn, for clients without a socket."""
    context, chat = chat_asked(request)
    await context.reader.access(chat)
    run_id = request.query.get("run_id")
    stopped = await context.scheduler.stop(chat.chat_id, owner=chat.owner, run_id=run_id)
    return {"stopped": stopped}


async def undo_clear(request: web.Request) -> Json:
    """`POST /api/chats/{chat_id}/restore`: bring back what the caller cleared in the last day."""
    context, chat = chat_asked(request)
    return {"chat_id": chat.chat_id, "documents": await context.restoring.restore(chat)}


async def list_archive(request: web.Request) -> Json:
    """`GET /api/chats/{chat_id}/archive`: what the owner's clears put away, the newest first."""
    context, chat = chat_asked(request)
    return {"archives": await context.archive.talks(chat)}


async def show_archive(request: web.Request) -> Json:
    """`GET /api/chats/{chat_id}/archive/{archive_id}`: turns of one patient, as `messages`."""
    (context, chat), before = chat_asked(request), request.query.get("before")
    page = await context.archive.turns(
        chat,
        request.match_info["archive_id"],
        before=None if before is None else number_in(before),
        limit=number_in(request.query.get("limit", "50")) or 50,
    )
    return _page(page, {})


async def show_artifact(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/artifacts/{artifact_id}`: download a file of one patient."""
    context, chat = chat_asked(request, needs_patient=True)
    artifact, data = await context.reader.artifact(chat, request.match_info["artifact_id"])
    return download(data, file_name=artifact.file_name, media_type=artifact.media_type)


async def show_receipt(request: web.Request) -> web.Response:
    """`GET /api/chats/{chat_id}/runs/{run_id}/receipt`: what one turn read, said and did."""
    (context, chat), run_id = chat_asked(request), request.match_info["run_id"]
    data = await context.reader.receipt(chat, run_id)
    return download(data, file_name=f"receipt-{run_id}.json", media_type="application/fhir+json")


async def show_patient(request: web.Request) -> Identity:
    """`GET /api/chats/{chat_id}/patients/{patient_id}`: who the patient is, for the banner."""
    (context, chat), patient = chat_asked(request), request.match_info["patient_id"]
    return await context.chart.demographics(chat._replace(patient_id=patient))


async def show_source(request: web.Request) -> SourceText:
    """`GET /api/chats/{chat_id}/sources`: the note, report or entry that an answer cites."""
    context, chat = chat_asked(request, needs_patient=True)
    return await context.chart.source(chat, ref=query_of(request, "ref"))


def _page(page: conversation_view.HistoryPage, opinions: Mapping[str, Opinion]) -> Json:
    turns = [
        _shown(turn, page.views, opinions) | {"tools": page.tools.get(turn.turn_id, [])}
        for turn in page.turns
    ]
    return {"patient_id": page.patient_id, "turns": turns, "next_before": page.next_before}


def _shown(
    turn: Turn, views: Mapping[str, ChartView], opinions: Mapping[str, Opinion]
) -> dict[str, Any]:
    """Return a turn as JSON with what the caller thinks of it and the rows of its views.

    Of a view that cannot be read its name is left.

    Words that were held back are not in it: nobody is to read them.
    """
    withheld = {"agent_responses": {"__all__": {"statements": {"__all__": {"text"}}}}}
    shown = turn.model_dump(mode="json", exclude=withheld)
    for answer in shown["agent_responses"]:
        answer["views"] = [
            {**one, **view_document(views[one["view_id"]])} if one["view_id"] in views else one
            for one in answer["views"]
        ]
    if turn.run_id in opinions:
        shown["feedback"] = opinions[turn.run_id].model_dump(mode="json")
    return shown


def download(data: bytes, *, file_name: str, media_type: str) -> web.Response:
    """Return `data` as a file to save, which no browser opens as a page."""
    safe = "".join("_" if char in _INLINE_UNSAFE or ord(char) < 32 else char for char in file_name)
    response = web.Response(body=data, content_type=media_type)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Disposition"] = _disposition(safe or "download")
    return response


def _disposition(file_name: str) -> str:
    # Not aiohttp's helper: it refuses what it cannot say in latin-1.
    plain = file_name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"


async def give_feedback(request: web.Request) -> None:
    """`PUT /api/chats/{chat_id}/runs/{run_id}/feedback`: keep what the caller thinks of it."""
    context, chat = chat_asked(request)
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat)
    opinion = await read_body(request, Opinion, refusal=FeedbackError("no opinion"))
    await context.feedback.give(chat, request.match_info["run_id"], opinion)


async def take_feedback_back(request: web.Request) -> None:
    """`DELETE /api/chats/{chat_id}/runs/{run_id}/feedback`: keep none of the caller's any more."""
    context, chat = chat_asked(request)
    await context.feedback.take_back(chat, request.match_info["run_id"])


# The caller's conversations: titles, what is put away, what was said in them, and branches.

_IS = {"true": True, "false": False, None: False}


class NameChange(BaseModel, extra="forbid", strict=True):
    """What is to be changed; what is None stays."""

    title: str | None = None
    archived: bool | None = None


async def list_chats(request: web.Request) -> Json:
    """`GET /api/chats`: the caller's conversations; `archived=true` those put away."""
    archived = request.query.get("archived")
    if archived not in _IS:
        raise BadFrameError("archived is true or false")
    owner = principal_of(request).id
    return {
        "chats": await request.app[CONTEXT].conversations.rows(owner=owner, archived=_IS[archived])
    }


async def search_chats(request: web.Request) -> Hits:
    """`GET /api/chats/search?q=`: turns of the caller's conversations that hold all the words."""
    words = request.query.get("q", "")
    found = request.app[CONTEXT].conversations
    return await found.search(words, owner=principal_of(request).id)


async def change_name(request: web.Request) -> Json:
    """`PATCH /api/chats/{chat_id}`: call it otherwise, put it away or back; for its user alone."""
    context, chat = chat_asked(request)
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat)
    change = await read_body(
        request,
        NameChange,
        refusal=BadFrameError('send {"title": "…"}, {"archived": true}, or both'),
    )
    kept = await context.conversations.change(chat, title=change.title, archived=change.archived)
    return {"title": kept.title, "archived": kept.is_archived}


NUMBER_LIMIT = 999_999_999


class BranchRequest(BaseModel, strict=True, extra="forbid"):
    """Whose talk is wanted, and before which turn it ends."""

    patient_id: Annotated[str, Field(min_length=1, max_length=PATIENT_ID_LIMIT_CHARS)]
    before_turn: Annotated[int, Field(ge=1, le=NUMBER_LIMIT)]


async def branch_chat(request: web.Request) -> Json:
    """`POST /api/chats/{chat_id}/branch`: begin a conversation with what was said until then."""
    context, chat = chat_asked(request)
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat)
    wanted = await read_body(request, BranchRequest, refusal=BranchError("not whole"))
    chat = chat._replace(patient_id=wanted.patient_id)
    return {"chat_id": await context.branching.branch(chat, before_turn=wanted.before_turn)}


_TURNS = of(turns=rows(Turn), patient_id=NULLABLE, next_before={"type": ["integer", "null"]})
_BEFORE = in_query("before", "`next_before` of the page that was read last.", NUMBER)
_LIMIT = in_query(
    "limit", "Turns on a page.", {**NUMBER, "minimum": 1, "maximum": PAGE_LIMIT_TURNS}
)
_RUN = in_query("run_id", "Stop only this run.")
_ARCHIVED = in_query("archived", "Put away.", FLAG)
_WORDS = in_query("q", "Words.", required=True)
_REF = in_query("ref", "Source id, such as `DocumentReference/note-1`.", required=True)


def chat_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    chats = "/api/chats"
    one = f"{chats}/{{chat_id}}"
    receipt = f"{one}/runs/{{run_id:[A-Za-z0-9_-]{{1,100}}}}/receipt"
    opinion = f"{one}/runs/{{run_id}}/feedback"
    bundle, file = {"application/fhir+json": OBJECT}, {"application/octet-stream": BINARY}
    restored = of(chat_id=STRING, documents=INTEGER)
    listed, named = of(chats=rows(NamedConversation)), of(title=STRING, archived=FLAG)
    return [
        # Before any id: a search is none.
        Endpoint("GET", f"{chats}/search", search_chats, Hits, parameters=(_WORDS,)),
        Endpoint("GET", chats, list_chats, listed, parameters=(_ARCHIVED,)),
        Endpoint("POST", chats, create_chat, NEW_CHAT, status=201),
        Endpoint("GET", one, show_chat, conversation_view.ConversationView),
        Endpoint("PATCH", one, change_name, named, sent=NameChange),
        Endpoint("GET", f"{one}/progress", show_progress, conversation_view.Progress),
        Endpoint(
            "GET", f"{one}/messages", show_messages, _TURNS, parameters=(WHOSE, _BEFORE, _LIMIT)
        ),
        Endpoint("POST", f"{one}/stop", stop_turn, of(stopped=FLAG), parameters=(_RUN,)),
        Endpoint("POST", f"{one}/restore", undo_clear, restored),
        Endpoint("GET", f"{one}/archive", list_archive, of(archives=rows(ArchivedTalk))),
        Endpoint(
            "GET",
            f"{one}/archive/{{archive_id:[A-Za-z0-9-]{{1,30}}}}",
            show_archive,
            _TURNS,
            parameters=(WHOSE, _BEFORE, _LIMIT),
        ),
        Endpoint("GET", f"{one}/patients/{{patient_id}}", show_patient, Identity),
        Endpoint("GET", f"{one}/sources", show_source, SourceText, parameters=(PATIENT, _REF)),
        Endpoint("GET", receipt, show_receipt, media=bundle, parameters=(WHOSE,)),
        Endpoint(
            "GET",
            f"{one}/artifacts/{{artifact_id}}",
            show_artifact,
            media=file,
            parameters=(PATIENT,),
        ),
        Endpoint("POST", f"{one}/branch", branch_chat, NEW_CHAT, status=201, sent=BranchRequest),
        Endpoint("PUT", opinion, give_feedback, sent=Opinion, parameters=(WHOSE,)),
        Endpoint("DELETE", opinion, take_feedback_back, parameters=(WHOSE,)),
    ]
