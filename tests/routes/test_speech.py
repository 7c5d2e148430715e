"""Recordings become words: what is taken, what is refused, and what is not kept."""

import io
from collections.abc import AsyncIterator

import aiohttp
import pytest
from pydantic import SecretStr

from data_models.errors import AudioError, ConfigurationError, SpeechUnavailableError
from services.speech import AUDIO_LIMIT_BYTES, Speech
from tests.fakes_speech import FakeSpeech, running_speech
from tests.given_settings import given_settings
from tests.routes.conftest import ADA, Start


@pytest.fixture
async def server() -> AsyncIterator[FakeSpeech]:
    async with running_speech() as running:
        yield running


@pytest.fixture
async def speech(server: FakeSpeech) -> AsyncIterator[Speech]:
    async with aiohttp.ClientSession() as session:
        yield Speech(url=server.url, model="m", key=SecretStr("k"), session=session)


async def test_a_recording_is_sent_with_model_and_key(server: FakeSpeech, speech: Speech) -> None:
    server.text = "  what is the stage?\n"
    assert await speech.write_down(b"sound", media_type="audio/webm") == "what is the stage?"
    assert server.heard == [("audio/webm", 5, "m", "Bearer k")]


@pytest.mark.parametrize(
    ("audio", "kind"),
    [(b"", "audio/webm"), (b"x", "text/html"), (bytes(AUDIO_LIMIT_BYTES + 1), "audio/webm")],
)
async def test_what_is_no_recording_is_sent_nowhere(
    server: FakeSpeech, speech: Speech, audio: bytes, kind: str
) -> None:
    with pytest.raises(AudioError):
        await speech.write_down(audio, media_type=kind)
    assert server.heard == []


async def test_a_server_that_fails_is_an_error_that_tells_nothing_of_it(
    server: FakeSpeech, speech: Speech
) -> None:
    server.status = 500
    with pytest.raises(SpeechUnavailableError):
        await speech.write_down(b"sound", media_type="audio/webm")


async def test_the_route_answers_with_words_and_takes_more_than_a_message_may_have(
    start: Start, speech: Speech
) -> None:
    served = await start(speech=speech)
    sound = bytes(1_000_000)
    headers = {**ADA, "Content-Type": "audio/webm"}
    url = f"{served.base}/api/speech"
    async with served.client.post(url, data=sound, headers=headers) as reply:
        assert (reply.status, await reply.json()) == (200, {"text": "What is the current stage?"})
        assert "microphone=(self)" in reply.headers["Permissions-Policy"]
    too_much = bytes(AUDIO_LIMIT_BYTES + 1)
    async with served.client.post(url, data=io.BytesIO(too_much), headers=headers) as reply:
        assert reply.status == 400
        assert "larger than 5 MB" in (await reply.json())["detail"]
    async with served.client.post(url, data=sound) as reply:
        assert reply.status == 401


async def test_where_it_is_off_there_is_no_route_and_no_microphone(start: Start) -> None:
    served = await start()
    headers = {**ADA, "Content-Type": "audio/webm"}
    async with served.client.post(f"{served.base}/api/speech", data=b"x", headers=headers) as reply:
        assert reply.status == 404
        assert "microphone=()" in reply.headers["Permissions-Policy"]


def test_recordings_go_over_an_encrypted_line_or_stay_on_the_machine() -> None:
    with pytest.raises(ConfigurationError, match="SPEECH_URL"):
        given_settings(speech_url="http://speech.example.org/v1/audio/transcriptions")
    assert "127.0.0.1" in given_settings(speech_url="http://127.0.0.1:9/v1").outbound_hosts
