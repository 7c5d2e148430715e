"""`GET /api/chats/{chat_id}/export`: one patient's whole history as a file."""

from typing import Any

import orjson
from aiohttp import web

from data_models.chat_context import AgentMessage, Turn
from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.chats import download
from routes.context import CONTEXT
from routes.ports import Reader

PAGE_TURNS = 200


async def export_chat(request: web.Request) -> web.Response:
    """Return the history as Markdown (`format=md`, the default) or JSON (`format=json`)."""
    form = request.query.get("format", "md")
    if form not in ("md", "json"):
        raise BadFrameError("format must be md or json")
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    patient_id = request.query.get("patient_id")
    turns = await _all_turns(request.app[CONTEXT].reader, chat_id, owner, patient_id)
    name = f"rounds-{patient_id or 'active-patient'}.{form}"
    if form == "json":
        rows = [turn.model_dump(mode="json") for turn in turns]
        exported: dict[str, Any] = {"chat_id": chat_id, "patient_id": patient_id, "turns": rows}
        body = orjson.dumps(exported, option=orjson.OPT_INDENT_2)
        return download(body, file_name=name, media_type="application/json")
    body = as_markdown(turns, patient_id=patient_id).encode()
    return download(body, file_name=name, media_type="text/markdown")


async def _all_turns(
    reader: Reader, chat_id: str, owner: str, patient_id: str | None
) -> list[Turn]:
    pages: list[list[Turn]] = []
    before: int | None = None
    while True:
        page = await reader.messages(
            chat_id, owner=owner, patient_id=patient_id, before=before, limit=PAGE_TURNS
        )
        pages.append(list(page.turns))
        before = page.next_before
        if before is None:
            return [turn for turns in reversed(pages) for turn in turns]


def as_markdown(turns: list[Turn], *, patient_id: str | None) -> str:
    """Return the turns as a document for people."""
    title = f"# Conversation about {patient_id}" if patient_id else "# Conversation"
    return "\n\n".join([title, *(part for turn in turns for part in _turn_parts(turn))]) + "\n"


def _turn_parts(turn: Turn) -> list[str]:
    asked = f"## {turn.timestamp:%Y-%m-%d %H:%M} UTC · {turn.user or 'User'}"
    parts = [asked, _quoted(turn.user_message)]
    parts += [_answer(message) for message in turn.agent_responses]
    if turn.turn_status in ("FAILED", "STOPPED"):
        parts.append(f"*This turn ended early: {turn.turn_status.lower()}.*")
    return parts


def _answer(message: AgentMessage) -> str:
    sources = [f"- {one.title or one.ref} ({one.ref})" for one in message.citations]
    listed = "\n\nSources:\n\n" + "\n".join(sources) if sources else ""
    return f"**{message.agent}**\n\n{message.text}{listed}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
