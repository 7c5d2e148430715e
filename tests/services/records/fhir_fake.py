"""A FHIR server on loopback that answers what a test tells it to, faults included."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.clock import Clock
from services.own_sign_in import OwnToken
from services.records.fhir.fhir_chosen import checked_base_url
from services.records.fhir.fhir_client import FhirClient, FhirLimits
from tests.services.records.charts import Json, entries, patient

Reply = Callable[[web.Request], web.StreamResponse]


def answer(body: Any, status: int = 200, **headers: str) -> Reply:
    """A reply of JSON, or of the bytes or text as they are."""
    raw = (
        body
        if isinstance(body, bytes)
        else (body if isinstance(body, str) else json.dumps(body)).encode()
    )

    def reply(_: web.Request) -> web.StreamResponse:
        kind = "application/fhir+json"
        return web.Response(body=raw, status=status, content_type=kind, headers=headers)

    return reply


def found(*resources: Json, link: str | None = None) -> Json:
    """A Bundle of search results."""
    links = [{"relation": "next", "url": link}] if link else []
    return {
        "resourceType": "Bundle",
        "type": "searchset",
        "link": links,
        "entry": entries(*resources),
    }


def outcome(code: str, text: str = "") -> Json:
    return {
        "resourceType": "OperationOutcome",
        "issue": [{"severity": "error", "code": code, "diagnostics": text}],
    }


class FakeFhir:
    """Replies by path and query; the last reply to a target is given again and again."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self._replies: dict[str, deque[Reply]] = defaultdict(deque)
        self.base_url = ""
        self.delay_seconds = 0.0

    def on(self, target: str, *replies: Reply | Json) -> None:
        """Set the replies to `target`, which is a path below the base or a path with its query."""
        made = [reply if callable(reply) else answer(reply) for reply in replies]
        self._replies[target] = deque(made)

    def holds_patient(self, *resources: Json) -> None:
        """Serve the usual patient and everything about them."""
        self.on("Patient", found(patient()))
        self.on("Patient/p9/$everything", found(patient(), *resources))

    def targets(self) -> list[str]:
        """The paths asked for, in order."""
        return [request.path.removeprefix("/fhir/") for request in self.requests]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        await asyncio.sleep(self.delay_seconds)
        path = request.path.removeprefix("/fhir/")
        with_query = f"{path}?{request.query_string}"
        replies = self._replies.get(with_query) or self._replies.get(path)
        if not replies:
            return answer(outcome("not-found"), 404)(request)
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        return reply(request)


def client_of(
    url: str,
    session: aiohttp.ClientSession,
    *,
    clock: Clock,
    limits: FhirLimits | None = None,
    token: str | None = None,
) -> FhirClient:
    """Return a client of the server at `url`."""
    return FhirClient(
        base_url=checked_base_url(url), tokens=OwnToken(token=token) if token else None,
        session=session, clock=clock, limits=limits or FhirLimits(),
    )  # fmt: skip


@asynccontextmanager
async def running(fake: FakeFhir) -> AsyncIterator[FakeFhir]:
    """Serve `fake` on a free port of loopback."""
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", fake.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        fake.base_url = f"http://127.0.0.1:{server.port}/fhir"
        yield fake
