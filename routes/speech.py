"""Dictation: sound in, words out; nothing of it is stored and nothing is sent as a message."""

from aiohttp import web

from data_models.errors import AudioError
from routes.context import CONTEXT
from routes.described import Json, content, of, operation, refusals
from routes.replies import json_reply
from services.access.bodies import large_body_of
from services.speech import AUDIO_LIMIT_BYTES

BODY_SECONDS = 60.0


async def write_down(request: web.Request) -> web.Response:
    """`POST /api/speech`: the words of a recording, for the draft of who dictated it."""
    speech = request.app[CONTEXT].speech
    if speech is None:
        raise web.HTTPNotFound
    audio = await large_body_of(request, limit_bytes=AUDIO_LIMIT_BYTES, seconds=BODY_SECONDS)
    if audio is None:
        raise AudioError("too large")
    return json_reply({"text": await speech.write_down(audio, media_type=request.content_type)})


def speech_paths() -> Json:
    """Return the OpenAPI description of the routes of this file."""
    refused = refusals(
        "401",
        s400="No recording, or too large.",
        s404="Nobody dictates here.",
        s502="It could not be written down now.",
    )
    written = operation(
        "writeDown", "The words of a recording; nothing is stored or sent as a message",
        ("200", "The words.", content(of(text={"type": "string"}))), refused=refused,
        body=content({"type": "string", "format": "binary"}, "audio/webm"),
    )  # fmt: skip
    return {"/api/speech": {"post": written}}


def speech_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.post("/api/speech", write_down)]
