"""Writes dictated words down by OpenAI's transcription wire; keeps neither sound nor text."""

from dataclasses import dataclass

import aiohttp
from pydantic import BaseModel, SecretStr

from data_models.errors import AudioError, SpeechUnavailableError
from data_models.http_answers import Bounds, Refusal, fetch
from data_models.values import read_value
from settings import Settings

AUDIO_LIMIT_BYTES = 5 * 1024 * 1024
"""About 25 minutes of speech as browsers record it for this server."""
_ENDINGS = {
    "audio/webm": "webm",
    "audio/ogg": "ogg",
    "audio/mp4": "mp4",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
}
_BOUNDS = Bounds(seconds=60.0, limit_bytes=1_000_000)
_UNAVAILABLE = Refusal(SpeechUnavailableError, "the server")


class _Written(BaseModel):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """One server of transcriptions.

    Attributes:
        url: Where audio is posted, such as `https://…/v1/audio/transcriptions`.
        session: Reaches only hosts that may be called, and follows no redirect.
    """

    url: str
    model: str
    key: SecretStr | None
    session: aiohttp.ClientSession

    async def write_down(self, audio: bytes, *, media_type: str) -> str:
        """Return the words of `audio`, without blanks around them; "" where nobody spoke.

        Raises:
            AudioError: it is empty, over 5 MB, or of a kind that is not known.
            SpeechUnavailableError: the server did not answer, or not as expected.
        """
        ending = _ENDINGS.get(media_type)
        if ending is None or not 0 < len(audio) <= AUDIO_LIMIT_BYTES:
            raise AudioError("empty, too large or of an unknown kind")
        form = aiohttp.FormData()
        form.add_field("file", audio, filename=f"dictation.{ending}", content_type=media_type)
        form.add_field("model", self.model)
        form.add_field("response_format", "json")
        key = self.key.get_secret_value() if self.key is not None else None
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        data = await fetch(
            self.session, "POST", self.url, _BOUNDS,
            refusal=_UNAVAILABLE, data=form, headers=headers,
        )  # fmt: skip
        return read_value(data, _Written, refusal=_UNAVAILABLE("wrote nothing down")).text.strip()


def speech_for(settings: Settings, *, session: aiohttp.ClientSession) -> Speech | None:
    """Return what writes dictated words down; None where no operator has said who does."""
    url, key = settings.speech_url, settings.speech_api_key
    if url is None:
        return None
    return Speech(url=url, model=settings.speech_model, key=key, session=session)
