"""Between the server and its model: counts, keeps what was asked, and stops at the budget.

It passes requests on as they are, to any OpenAI-compatible server, and the answers back as they
come. Prompts are kept by conversation, whose id stands in every request of an agent; a request
without it belongs to the conversation whose newest message it holds.
"""

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import aiohttp
import orjson
from aiohttp import web

from evals.spending import Spending, Usage, usage_of

Json: TypeAlias = dict[str, Any]
_CHAT = re.compile(r"chat_[A-Za-z0-9_-]{8,64}")
_HOP = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}
BODY_BYTES = 16 * 1024 * 1024


@dataclass(slots=True)
class Asked:
    """One request of the server and the model's answer."""

    path: str
    body: Json
    answer: str = ""
    status: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


class Source(Protocol):
    """Answers in place of a server: a cassette."""

    def answer(self, case: str, body: Json) -> tuple[int, str, bytes]:
        """Return status, content type and body."""
        ...


class Wire:
    """The model's server as Rounds sees it."""

    def __init__(self, *, upstream: str, spending: Spending, source: Source | None = None) -> None:
        self.asked: dict[str, list[Asked]] = defaultdict(list)
        """By conversation; "" for what belongs to none, such as the probe of readiness."""
        self._upstream = upstream.rstrip("/")
        self._spending = spending
        self._source = source
        self._talks: dict[str, tuple[str, str]] = {}
        self._runner: web.AppRunner | None = None
        self._client: aiohttp.ClientSession | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        # How long a call may take is the server's to say: it hangs up on a model that is too slow.
        self._client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def begin(self, conversation: str, case: str, message: str) -> None:
        """Say which case a conversation is, and what is about to be said in it."""
        self._talks[conversation] = (case, message)

    def end(self, conversation: str) -> list[Asked]:
        """Return and forget what was asked in a conversation."""
        self._talks.pop(conversation, None)
        return self.asked.pop(conversation, [])

    def case_of(self, text: str) -> str:
        """Return the case to which a request belongs; "" if none."""
        return self._talks.get(self._conversation(text), ("", ""))[0]

    def is_last(self, text: str, message: str) -> bool:
        """Whether `message` is what is being answered in the conversation of a request."""
        return self._talks.get(self._conversation(text), ("", ""))[1] == message

    def _conversation(self, text: str) -> str:
        for found in _CHAT.findall(text):
            if found in self._talks:
                return str(found)
        return next((key for key, (_, said) in self._talks.items() if _quoted(said) in text), "")

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        if request.method != "POST" and self._source is not None:
            return web.json_response({"object": "list", "data": []})  # a cassette is ready
        if self._source is not None and not request.path.endswith("/chat/completions"):
            return web.Response(status=404)  # what a server is asked about its window
        if request.method != "POST":
            return await self._pass_on(request, raw, None)
        text = raw.decode("utf-8", "replace")
        conversation = self._conversation(text)
        asked = Asked(path=request.path, body=orjson.loads(raw or b"{}"))
        self.asked[conversation].append(asked)
        if self._spending.is_over:
            return web.json_response({"error": {"message": "the budget is spent"}}, status=402)
        if self._source is not None:
            case = self._talks.get(conversation, ("", ""))[0]
            asked.status, kind, body = self._source.answer(case, asked.body)
            asked.answer = body.decode("utf-8", "replace")
            return web.Response(status=asked.status, body=body, content_type=kind)
        return await self._pass_on(request, raw, asked)

    def _open(self) -> aiohttp.ClientSession:
        if self._client is None:
            raise RuntimeError("the wire is not open")
        return self._client

    async def _pass_on(
        self, request: web.Request, raw: bytes, asked: Asked | None
    ) -> web.StreamResponse:
        client = self._open()
        headers = {key: value for key, value in request.headers.items() if key.lower() not in _HOP}
        began = time.perf_counter()
        address = f"{self._upstream}{request.path_qs}"
        try:
            async with client.request(
                request.method, address, data=raw or None, headers=headers
            ) as answer:
                response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
                await response.prepare(request)
                whole = bytearray()
                async for chunk in answer.content.iter_any():
                    whole += chunk
                    await response.write(chunk)
                await response.write_eof()
        except aiohttp.ClientError as error:
            return web.json_response({"error": {"message": str(error)}}, status=502)
        if asked is not None:
            asked.status, asked.answer = answer.status, whole.decode("utf-8", "replace")
            asked.seconds = time.perf_counter() - began
            asked.usage = usage_of(asked.body, asked.answer)
            self._spending.add(asked.usage)
        return response


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in headers.items()
        if key.lower() in ("content-type", "retry-after", "x-request-id")
    }


def _quoted(text: str) -> str:
    """Return `text` as it stands inside JSON inside JSON, as far as plain words go."""
    return orjson.dumps(text).decode()[1:-1][:200]
