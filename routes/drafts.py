"""What the caller has begun to write about a patient, on whichever device, or dictates."""

from aiohttp import web

from data_models.errors import AudioError, BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.endpoint import STRING, Endpoint, Json, in_query, of
from routes.json_input import query_of, read_body
from services.access.bodies import large_body_of
from services.speech import AUDIO_LIMIT_BYTES
from services.views.drafts import LIMIT_CHARS, Draft

PATH = "/api/chats/{chat_id}/draft"


async def show_draft(request: web.Request) -> Draft:
    """`GET /api/chats/{chat_id}/draft`: the caller's draft about a patient; "": none."""
    return await request.app[CONTEXT].drafts.read(
        request.match_info["chat_id"],
        owner=principal_of(request).id,
        patient_id=query_of(request, "patient_id"),
    )


async def write_draft(request: web.Request) -> None:
    """`PUT /api/chats/{chat_id}/draft`: keep it for seven days; "" takes it away."""
    chat_id, owner = request.match_info["chat_id"], principal_of(request).id
    # Before the body is looked at: a stranger learns nothing of what it should be.
    await request.app[CONTEXT].reader.access(chat_id, owner=owner)
    draft = await read_body(request, Draft, refusal=BadFrameError('a draft is {"text": "…"}'))
    await request.app[CONTEXT].drafts.write(
        chat_id,
        draft.text,
        owner=owner,
        patient_id=query_of(request, "patient_id"),
    )


def draft_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    whose = (in_query("patient_id", "Whose draft.", required=True),)
    words = of(text={**STRING, "maxLength": LIMIT_CHARS})
    return [
        Endpoint("GET", PATH, show_draft, words, parameters=whose),
        Endpoint("PUT", PATH, write_draft, sent=words, parameters=whose),
    ]


BODY_SECONDS = 60.0


async def write_down(request: web.Request) -> Json:
    """`POST /api/speech`: the words of a recording, for the draft of who dictated it."""
    speech = request.app[CONTEXT].speech
    if speech is None:
        raise web.HTTPNotFound
    audio = await large_body_of(request, limit_bytes=AUDIO_LIMIT_BYTES, seconds=BODY_SECONDS)
    if audio is None:
        raise AudioError("too large")
    return {"text": await speech.write_down(audio, media_type=request.content_type)}


def speech_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [Endpoint("POST", "/api/speech", write_down, of(text=STRING), sent_as="audio/webm")]
