"""A reverse proxy before Azurite that loses, delays or falsifies answers."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from aiohttp import ClientSession, web
from yarl import URL

Fault: TypeAlias = Literal[
    "pass",
    "lose answer",  # done, then the connection breaks
    "stall after",  # done, then silence
    "stall",  # not done, silence
    "503",
    "503 after",  # done, and then an error all the same
    "strange 200",  # a captive portal's page
    "strange 404",  # a load balancer's page
]
_HOP_HEADERS = {"host", "connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass
class FaultProxy:
    """Forwards to `target`; each data request meets the next of `faults`, then `otherwise`.

    Requests about the container itself always pass.
    """

    target: URL
    session: ClientSession
    faults: deque[Fault] = field(default_factory=deque)
    otherwise: Fault = "pass"
    only: frozenset[str] = frozenset({"PUT", "GET", "HEAD", "DELETE"})
    seen: list[str] = field(default_factory=list)
    after_losing: Callable[[], Awaitable[object]] | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.query.get("restype") == "container" and "comp" not in request.query:
            return await self._forward(request, body)
        self.seen.append(request.method)
        if request.method not in self.only:
            return await self._forward(request, body)
        fault = self.faults.popleft() if self.faults else self.otherwise
        done = fault in {"pass", "lose answer", "stall after", "503 after"}
        answer = await self._forward(request, body) if done else None
        return await self._answer(fault, request, answer)

    async def _answer(
        self, fault: Fault, request: web.Request, answer: web.Response | None
    ) -> web.StreamResponse:
        if fault == "pass" and answer is not None:
            return answer
        if fault in {"stall", "stall after"}:
            await asyncio.Event().wait()  # who waits for it never ends
        if fault.startswith("503"):
            return web.Response(status=503, headers={"x-ms-error-code": "ServerBusy"})
        if fault.startswith("strange"):
            return web.Response(
                status=int(fault[-3:]), text="<html>Welcome</html>", content_type="text/html"
            )
        if self.after_losing is not None:
            await self.after_losing()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP_HEADERS}
        url = URL(f"{self.target}{request.rel_url.raw_path_qs}", encoded=True)
        async with self.session.request(
            request.method,
            url,
            headers=headers,
            data=body if request.method == "PUT" else None,
            skip_auto_headers=["Content-Type", "Accept", "User-Agent"],
        ) as answer:
            content = await answer.read()
        kept = {k: v for k, v in answer.headers.items() if k.lower() not in _HOP_HEADERS}
        return web.Response(status=answer.status, headers=kept, body=content)


@asynccontextmanager
async def running_proxy(connection_string: str) -> AsyncIterator[tuple[FaultProxy, str]]:
    """Yield a proxy before the account and the connection string that leads through it."""
    before, _, endpoint = connection_string.partition("BlobEndpoint=")
    target = URL(endpoint.rstrip(";"))
    async with ClientSession(auto_decompress=False) as session:
        proxy = FaultProxy(target.origin(), session)
        app = web.Application(client_max_size=2**20)
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield proxy, f"{before}BlobEndpoint=http://{host}:{port}{target.path};"
        await runner.cleanup()
