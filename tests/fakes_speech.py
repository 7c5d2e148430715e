"""A server of transcriptions: OpenAI's wire, one sentence for whatever is said."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class FakeSpeech:
    """Notes what it was asked.

    Attributes:
        heard: Of each request: media type, bytes, model, key.
    """

    text: str = "What is the current stage?"
    status: int = 200
    url: str = ""
    heard: list[tuple[str, int, str, str]] = field(default_factory=list)

    async def transcribe(self, request: web.Request) -> web.Response:
        """`POST /v1/audio/transcriptions`."""
        form = await request.post()
        sound = form["file"]
        assert isinstance(sound, web.FileField)
        key = request.headers.get("Authorization", "")
        size = len(sound.file.read())
        self.heard.append((sound.content_type, size, str(form["model"]), key))
        return web.json_response({"text": self.text}, status=self.status)


@asynccontextmanager
async def running_speech() -> AsyncIterator[FakeSpeech]:
    """Run the server on a port of its own."""
    speech = FakeSpeech()
    app = web.Application(client_max_size=10_000_000)
    app.router.add_post("/v1/audio/transcriptions", speech.transcribe)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    speech.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/audio/transcriptions"
    yield speech
    await runner.cleanup()
