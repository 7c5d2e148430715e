"""A FHIRcast hub on loopback: one session of one record system, checked as STU3 has it."""

import asyncio
from itertools import count
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer

TOPIC = "topic of ada"
PATIENCE_SECONDS = 30.0


class FakeHub:
    """Confirms subscriptions of who shows the launch's token, and sends what a test says.

    Attributes:
        forms: What subscribers asked for.
        refuses: The status that the next subscriptions are answered with.
        denies: Say in the line that nobody subscribes.
        confirms: The topic that is confirmed.
        current: The Patient who is open.
    """

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.refuses = 0
        self.denies = False
        self.confirms = TOPIC
        self.current: dict[str, Any] | None = None
        self.lines: list[web.WebSocketResponse] = []
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._numbers = count(1)
        self._gone = asyncio.Event()
        app = web.Application()
        app.router.add_post("/hub", self._subscribe)
        app.router.add_get("/hub/{topic}", self._current)
        app.router.add_get("/line", self._line)
        self.server = TestServer(app)

    @property
    def url(self) -> str:
        """Where it is, `hub.url` of launches."""
        return f"{str(self.server.make_url('')).rstrip('/')}/hub"

    @property
    def context(self) -> dict[str, str]:
        """What a launch says beside the tokens."""
        return {"hub.url": self.url, "hub.topic": TOPIC}

    async def opens(self, patient: dict[str, Any], *, topic: str = TOPIC, **more: Any) -> int:
        """Tell that a patient was opened; return the status that the subscriber answers with."""
        context = [{"key": "patient", "resource": patient}]
        return await self.tell("Patient-open", context, topic=topic, **more)

    async def tell(self, name: str, context: list[Any], *, topic: str = TOPIC, **more: Any) -> int:
        """Tell of any event; return the status of the answer."""
        event_id = f"event-{next(self._numbers)}"
        event = {"hub.topic": topic, "hub.event": name, "context": context}
        value = {"timestamp": "2030-01-02T03:04:05Z", "id": event_id, "event": event, **more}
        await self.lines[-1].send_json(value)
        answer = await asyncio.wait_for(self.answers.get(), PATIENCE_SECONDS)
        assert answer["id"] == event_id
        return int(answer["status"])

    async def is_dropped(self, patient: dict[str, Any]) -> bool:
        """Tell that a patient was opened; return whether the subscriber went instead."""
        context = [{"key": "patient", "resource": patient}]
        event = {"hub.topic": TOPIC, "hub.event": "Patient-open", "context": context}
        await self.lines[-1].send_json({"timestamp": "", "id": "last", "event": event})
        await asyncio.wait_for(self._gone.wait(), PATIENCE_SECONDS)
        return self.answers.empty()

    async def breaks(self) -> None:
        """Lose the line."""
        await self.lines[-1].close()

    async def close(self) -> None:
        """End."""
        await self.server.close()

    async def _subscribe(self, request: web.Request) -> web.Response:
        self.forms.append({name: str(value) for name, value in (await request.post()).items()})
        if self.refuses:
            return web.json_response({}, status=self.refuses)
        if request.headers.get("Authorization") != "Bearer at-secret":
            return web.json_response({}, status=401)
        line = str(self.server.make_url("/line")).replace("http", "ws", 1)
        return web.json_response({"hub.channel.endpoint": line}, status=202)

    async def _current(self, request: web.Request) -> web.Response:
        if request.match_info["topic"] != TOPIC or self.current is None:
            return web.json_response({"context.type": "", "context": []})
        context = [{"key": "patient", "resource": self.current}]
        return web.json_response({"context.type": "Patient", "context": context})

    async def _line(self, request: web.Request) -> web.WebSocketResponse:
        line = web.WebSocketResponse()
        await line.prepare(request)
        mode = "denied" if self.denies else "subscribe"
        events = self.forms[-1]["hub.events"]
        said = {"hub.mode": mode, "hub.topic": self.confirms, "hub.events": events}
        await line.send_json({**said, "hub.lease_seconds": 3_600})
        self.lines.append(line)
        async for message in line:
            if message.type is WSMsgType.TEXT:
                self.answers.put_nowait(message.json())
        self._gone.set()
        return line
