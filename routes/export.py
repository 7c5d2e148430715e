"""`GET /api/chats/{chat_id}/export`: one patient's whole history as a file."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import orjson
from aiohttp import web

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Attachment, Turn
from data_models.errors import BadFrameError
from data_models.patient_context_models import PatientIdentity
from routes.chats import download
from routes.requests.context import CONTEXT, chat_asked
from routes.requests.endpoint import BINARY, OBJECT, STRING, WHOSE, Endpoint, in_query
from services.attachments.papers import PAPERS_HEAD, paper_line
from services.language.model_output.inert import inert
from services.statements.shown import maker_label, not_supported, pipe_table, views_of

Views: TypeAlias = Mapping[str, ChartView]
PAGE_TURNS = 200
SESSION = "session"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMATS = ("md", "json", "docx")


class History(NamedTuple):
    """All that was said of one patient, the rows shown with it, and who that is."""

    turns: Sequence[Turn]
    views: Views = MappingProxyType({})
    chat_id: str = ""
    patient_id: str | None = None
    patient: PatientIdentity | None = None
    papers: Sequence[Attachment] = ()


async def export_chat(request: web.Request) -> web.Response:
    """`GET …/export`: one patient's history as Markdown (`md`, the default), JSON or Word."""
    form = request.query.get("format", "md")
    if form not in FORMATS:
        raise BadFrameError(f"format must be one of {', '.join(FORMATS)}")
    found = await _read(request)
    name = f"rounds-{found.patient_id or SESSION}.{form}"
    match form:
        case "json":
            body, media_type = await asyncio.to_thread(_as_json, found), "application/json"
        case "docx":
            body, media_type = await asyncio.to_thread(_as_word, found), WORD_TYPE
        case _:
            hosts = request.app[CONTEXT].link_hosts
            body = (await asyncio.to_thread(as_markdown, found, hosts)).encode()
            media_type = "text/markdown"
    return download(body, file_name=name, media_type=media_type)


async def _read(request: web.Request) -> History:
    """Return every turn of one patient.

    Without an id it is who is active at the first page: a switch while the others are read would
    put two patients into one file. Papers are listed; each can be downloaded by itself.
    """
    context, chat = chat_asked(request)
    pages: list[list[Turn]] = []
    views: dict[str, ChartView] = {}
    papers: Sequence[Attachment] = ()
    before: int | None = None
    while True:
        page = await context.reader.messages(chat, before=before, limit=PAGE_TURNS)
        pages.append(list(page.turns))
        views |= page.views
        before, chat = page.next_before, chat._replace(patient_id=page.patient_id or SESSION)
        if before is None:
            break
    if page.patient_id is not None:
        papers = await context.attachments.all(chat)
    turns = [turn for turns in reversed(pages) for turn in turns]
    return History(turns, views, chat.chat_id, page.patient_id, page.patient, papers)


def _as_json(found: History) -> bytes:
    exported: dict[str, Any] = {
        "chat_id": found.chat_id,
        "patient_id": found.patient_id,
        "patient": None if found.patient is None else found.patient._asdict(),
        "attachments": [one.model_dump(mode="json") for one in found.papers],
        "turns": [turn.model_dump(mode="json") for turn in found.turns],
    }
    return orjson.dumps(exported, option=orjson.OPT_INDENT_2)


def _as_word(found: History) -> bytes:
    # Here, in a thread: the library is large and few ask for a document.
    from routes.export_word import as_word

    return as_word(found)


def as_markdown(found: History, hosts: Collection[str] = ()) -> str:
    """Return the turns as a document for people, rows of the chart as tables.

    Args:
        hosts: Where links of answers may lead to.
    """
    patient_id, patient = found.patient_id, found.patient
    title = f"# Conversation about {patient_id}" if patient_id else "# Conversation"
    who = [] if patient is None else [f"**Patient:** {patient.label} ({patient_id})"]
    if found.papers:
        papers = (f"- {_inert(paper_line(one))}" for one in found.papers)
        listed = [f"{PAPERS_HEAD}:", "", *papers]
        who.append("\n".join(listed))
    parts = [part for turn in found.turns for part in _turn_parts(turn, found.views, hosts)]
    return "\n\n".join([title, *who, *parts]) + "\n"


def _turn_parts(turn: Turn, views: Views, hosts: Collection[str]) -> list[str]:
    asked = f"## {turn.timestamp:%Y-%m-%d %H:%M} UTC · {turn.user or 'User'}"
    quoted = "\n".join(f"> {line}" for line in _inert(turn.user_message).splitlines())
    parts = [_inert(asked), quoted]
    parts += [_answer(message, views, hosts) for message in turn.agent_responses]
    if turn.turn_status in ("FAILED", "STOPPED"):
        parts.append(f"*This turn ended early: {turn.turn_status.lower()}.*")
    return parts


def _answer(message: AgentMessage, views: Views, hosts: Collection[str]) -> str:
    head = " · ".join(one for one in (f"**{message.agent}**", maker_label(message)) if one)
    tables = "".join(f"\n\n{pipe_table(view)}" for view in views_of(message, views))
    sources = [_inert(f"- {one.title or one.ref} ({one.ref})") for one in message.citations]
    listed = "\n\nSources:\n\n" + "\n".join(sources) if sources else ""
    unsupported = not_supported(message)
    marked = f"\n\n{unsupported}" if unsupported else ""
    # A message that an earlier version stored was not filtered where it came into being.
    return f"{head}\n\n{inert(message.text, hosts=hosts)}{tables}{marked}{listed}"


def _inert(text: str) -> str:
    return inert(text, hosts=())


def export_routes() -> list[Endpoint]:
    """Return the route of this file."""
    form = in_query("format", "Form of the file.", {"enum": list(FORMATS), "default": "md"})
    return [
        Endpoint(
            "GET",
            "/api/chats/{chat_id}/export",
            export_chat,
            OBJECT,
            media={"text/markdown": STRING, WORD_TYPE: BINARY},
            parameters=(WHOSE, form),
        )
    ]
