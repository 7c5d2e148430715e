"""Dictation: sound in, words out; nothing of it is stored and nothing is sent as a message."""

from aiohttp import web

from data_models.errors import AudioError
from routes.context import CONTEXT
from routes.endpoint import STRING, Endpoint, of
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


def speech_routes() -> list[Endpoint]:
    """Return the routes of this file."""
    return [Endpoint("POST", "/api/speech", write_down, of(text=STRING), sent_as="audio/webm")]
