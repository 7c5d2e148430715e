"""What a user gives to a conversation beside messages: papers, drafts, dictated words."""

from typing import Any, get_args
from urllib.parse import unquote

from aiohttp import web

from data_models.chat_context import Attachment
from data_models.errors import AttachmentError, AudioError, BadFrameError
from routes.chats import download
from routes.requests.context import CONTEXT, chat_asked
from routes.requests.endpoint import (
    BINARY,
    INTEGER,
    STRING,
    TEXT,
    Endpoint,
    Json,
    in_header,
    in_query,
    of,
    rows,
)
from routes.requests.json_input import json_reply, query_of, read_body
from services.access.limits import large_body_of
from services.attachments.papers import Whose
from services.speech import AUDIO_LIMIT_BYTES
from services.views.conversation_list import LIMIT_CHARS
from services.views.owner_changes import BYTES_LIMIT, Draft

BODY_SECONDS = 120.0
PATIENT_HEADER = "X-Patient-Id"
NAME_HEADER = "X-File-Name"
_PATH = "/api/chats/{chat_id}/attachments"


async def add_attachment(request: web.Request) -> web.Response:
    """`POST …/attachments`: read a file; with `confirmed=true` keep it with the patient."""
    (context, chat), patient_id = chat_asked(request), request.headers.get(PATIENT_HEADER)
    # Before a byte of the body: a stranger sends none of it here.
    await context.reader.access(chat)
    file_name = unquote(request.headers.get(NAME_HEADER, ""))
    if not patient_id or not file_name:
        raise BadFrameError(f"{PATIENT_HEADER} and {NAME_HEADER} are needed")
    data = await large_body_of(request, limit_bytes=BYTES_LIMIT, seconds=BODY_SECONDS)
    if data is None:
        raise AttachmentError("That file is larger than 20 MB. Please give a smaller one.")
    found = await context.attachments.add(
        chat._replace(patient_id=patient_id),
        file_name=file_name,
        media_type=request.content_type if "Content-Type" in request.headers else "",
        data=data,
        is_confirmed=request.query.get("confirmed") == "true",
    )
    row = None if found.attachment is None else _row(found.attachment)
    body = {"whose": found.whose, "pages": found.pages, "gap": found.gap, "attachment": row}
    return json_reply(body, status=200 if row is None else 201)


async def list_attachments(request: web.Request) -> Json:
    """`GET …/attachments`: the papers of one patient."""
    context, chat = chat_asked(request, needs_patient=True)
    return {"attachments": [_row(one) for one in await context.attachments.all(chat)]}


async def show_attachment(request: web.Request) -> web.Response:
    """`GET …/attachments/{attachment_id}`: download a paper as it was given."""
    context, chat = chat_asked(request, needs_patient=True)
    row, data = await context.attachments.open(chat, request.match_info["attachment_id"])
    return download(data, file_name=row.file_name, media_type="application/octet-stream")


async def remove_attachment(request: web.Request) -> None:
    """`DELETE …/attachments/{attachment_id}`: take a paper away."""
    context, chat = chat_asked(request, needs_patient=True)
    await context.attachments.remove(chat, request.match_info["attachment_id"])


def _row(one: Attachment) -> dict[str, Any]:
    shown = {"attachment_id", "file_name", "media_type", "size_bytes", "pages", "gap", "added_at"}
    return {**one.model_dump(mode="json", include=shown), "ref": one.ref}


_CONFIRMED = in_query("confirmed", "Keep it.", {"enum": ["true"]})
_WHOSE = in_query("patient_id", "Whose.", required=True)
_ROW: Json = of(
    attachment_id=TEXT,
    ref=TEXT,
    file_name=TEXT,
    media_type=STRING,
    size_bytes=INTEGER,
    pages=INTEGER,
    gap=STRING,
    added_at=TEXT,
)
_READ: Json = of(
    whose={"enum": list(get_args(Whose))},
    pages=INTEGER,
    gap=STRING,
    attachment={"anyOf": [_ROW, {"type": "null"}]},
)


# What the caller has begun to write about a patient, on whichever device, or dictates.

DRAFT = "/api/chats/{chat_id}/draft"


async def show_draft(request: web.Request) -> Draft:
    """`GET /api/chats/{chat_id}/draft`: the caller's draft about a patient; "": none."""
    context, chat = chat_asked(request, needs_patient=True)
    return await context.drafts.read(chat)


async def write_draft(request: web.Request) -> None:
    """`PUT /api/chats/{chat_id}/draft`: keep it for seven days; "" takes it away."""
    context, chat = chat_asked(request)
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await context.reader.access(chat)
    draft = await read_body(request, Draft, refusal=BadFrameError('a draft is {"text": "…"}'))
    whose = query_of(request, "patient_id")
    await context.drafts.write(chat._replace(patient_id=whose), draft.text)


SPEECH_SECONDS = 60.0


async def write_down(request: web.Request) -> Json:
    """`POST /api/speech`: the words of a recording, for the draft of who dictated it."""
    if (speech := request.app[CONTEXT].speech) is None:
        raise web.HTTPNotFound
    audio = await large_body_of(request, limit_bytes=AUDIO_LIMIT_BYTES, seconds=SPEECH_SECONDS)
    if audio is None:
        raise AudioError("too large")
    return {"text": await speech.write_down(audio, media_type=request.content_type)}


def attachment_routes() -> list[Endpoint]:
    """Return the routes of this file; an answer of 200 waits for the user to confirm the paper."""
    one = f"{_PATH}/{{attachment_id}}"
    headers = (in_header(PATIENT_HEADER, required=True), in_header(NAME_HEADER, required=True))
    file = {"application/octet-stream": BINARY}
    whose = (in_query("patient_id", "Whose draft.", required=True),)
    words = of(text={**STRING, "maxLength": LIMIT_CHARS})
    return [
        Endpoint(
            "POST",
            _PATH,
            add_attachment,
            _READ,
            also={"201": _READ},
            sent_as="application/octet-stream",
            parameters=(*headers, _CONFIRMED),
        ),
        Endpoint("GET", _PATH, list_attachments, of(attachments=rows(_ROW)), parameters=(_WHOSE,)),
        Endpoint("GET", one, show_attachment, media=file, parameters=(_WHOSE,)),
        Endpoint("DELETE", one, remove_attachment, parameters=(_WHOSE,)),
        Endpoint("GET", DRAFT, show_draft, words, parameters=whose),
        Endpoint("PUT", DRAFT, write_draft, sent=words, parameters=whose),
        Endpoint("POST", "/api/speech", write_down, of(text=STRING), sent_as="audio/webm"),
    ]
