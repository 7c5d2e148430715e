"""Dictation: sound in, words out; nothing of it is stored and nothing is sent as a message."""

from typing import Any

from aiohttp import web

from data_models.errors import AudioError
from routes.context import CONTEXT
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


def speech_paths() -> dict[str, Any]:
    """Return the OpenAPI description of the routes of this file."""
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    refusals = {
        "400": "No recording, or too large.",
        "401": "Nobody is signed in.",
        "404": "Nobody dictates here.",
        "502": "It could not be written down now.",
    }
    answers: dict[str, Any] = {
        status: {"description": text, "content": {"application/problem+json": problem}}
        for status, text in refusals.items()
    }
    words = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    content = {"application/json": {"schema": words}}
    sound = {"schema": {"type": "string", "format": "binary"}}
    operation = {
        "operationId": "writeDown",
        "summary": "The words of a recording; nothing is stored or sent as a message",
        "requestBody": {"required": True, "content": {"audio/webm": sound}},
        "responses": {"200": {"description": "The words.", "content": content}, **answers},
    }
    return {"/api/speech": {"post": operation}}


def speech_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    return [web.post("/api/speech", write_down)]
