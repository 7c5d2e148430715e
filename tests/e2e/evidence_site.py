"""A whole server with the offline rules, a folder of charts of its own and a clock that moves."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from data_models.clock import SystemClock
from services.stores import Stores
from settings import Settings
from tests.e2e.in_process import serving
from tests.e2e.server import ROOT
from tests.e2e.talks import Answer, StreamTalk


class MovingClock(SystemClock):
    """The time, put forward as the test says."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead.total_seconds()


class EvidenceSite:
    """A running server.

    Attributes:
        charts: Its folder of patients.
    """

    def __init__(
        self, base: str, client: aiohttp.ClientSession, charts: Path, clock: MovingClock,
        stores: Stores,
    ) -> None:  # fmt: skip
        self.base, self.client, self.charts, self.clock = base, client, charts, clock
        self.stores = stores
        self.told: list[str] = []
        """Texts of the notices of the last turn."""

    async def talk(self, *said: str) -> Answer:
        """Say each in a new conversation; return the last answer."""
        async with self.client.post(f"{self.base}/api/chats") as reply:
            chat = str((await reply.json())["chat_id"])
        url = f"{self.base}/api/ws/chats/{chat}/messages?stream=1"
        answer = Answer(())
        async with self.client.ws_connect(url) as socket:
            talk = StreamTalk(chat, socket)
            for text in said:
                answer = await talk.say(text)
                values = [one.get("value") for one in talk.runs[-1] if one.get("name") == "notice"]
                self.told = [one["text"] for one in values if one]
        return answer

    def change(
        self, patient_id: str, *added: dict[str, Any], without: tuple[str, ...] = ()
    ) -> None:
        """Rewrite a chart."""
        file = self.charts / f"{patient_id}.json"
        bundle = orjson.loads(file.read_bytes())
        kept = [one for one in bundle["entry"] if one["resource"].get("id") not in without]
        bundle["entry"] = [*kept, *({"resource": one} for one in added)]
        file.write_bytes(orjson.dumps(bundle))


@asynccontextmanager
async def evidence_site(folder: Path, **more: Any) -> AsyncIterator[EvidenceSite]:
    """Serve a copy of the samples."""
    samples = folder / "samples"
    shutil.copytree(ROOT / "samples", samples)
    settings = Settings(
        llm_provider="offline", data_dir=folder / "data", samples_dir=samples, **more
    )
    clock = MovingClock()
    async with serving(settings, clock=clock) as served, aiohttp.ClientSession() as client:
        yield EvidenceSite(served.base, client, samples / "patients", clock, served.stores)
