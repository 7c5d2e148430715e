"""Charts for programs, asked for by the protocol's own client over real connections."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx
import orjson
import pytest
from aiohttp import web
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from data_models.clock import SystemClock
from data_models.errors import RecordNotFoundError, UnauthenticatedError
from data_models.identifiers import PatientId
from routes.requests.context import authentication
from routes.requests.json_input import problems
from services.access.limits import MessageRate, OriginPolicy
from services.access.principal import Handshake, Principal
from services.chart_access.chart_guard import ChartGuard
from services.records.resources.ports import EVERYTHING, Need
from services.records.resources.record import PatientRecord
from services.views.patient_chart import ProgramCharts
from tests.fakes import CountingIds, RememberedAudit
from tests.routes.conftest import ADA, Server, Start
from tests.routes.fakes import FakeFinder
from tests.services.records import charts
from tests.tables import with_cases

HOSTILE = "Mass ![x](http://evil.example/p) <script>alert(1)</script> [a](javascript:b)"
PEOPLE = {
    "patient_4": charts.record(
        charts.ecog("e1", "2024-05-01", "1"),
        charts.resource("Condition", "mass", code={"text": HOSTILE}, recordedDate="2024-03-06"),
        person=charts.patient(birthDate="1957-03-14"),
    ),
    "patient_7": charts.record(person=charts.patient(birthDate="1990-01-02")),
}
CHART_TOOLS = {
    "allergies",
    "chart_summary",
    "documents",
    "encounters",
    "medications",
    "problems",
    "results",
    "timeline",
}


class Records:
    """Two charts, and how often each was read."""

    def __init__(self) -> None:
        self.read: list[PatientId] = []

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        self.read.append(patient_id)
        if patient_id not in PEOPLE:
            raise RecordNotFoundError
        return PEOPLE[patient_id]


class Policy:
    """Ada's charts are all but that of patient_7."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        return principal_id == "key:ada" and patient_id != "patient_7"


class Clinic:
    """What a test looks at beside the answers."""

    def __init__(self) -> None:
        self.records, self.trail, clock = Records(), RememberedAudit(), SystemClock()
        guard = ChartGuard(policy=Policy(), audit=self.trail, clock=clock)
        self.charts = ProgramCharts(finder=FakeFinder(guard=guard), records=self.records)


@pytest.fixture
def clinic() -> Clinic:
    return Clinic()


@pytest.fixture
async def served(start: Start, clinic: Clinic) -> Server:
    return await start(programs=clinic.charts)


@asynccontextmanager
async def program(server: Server) -> AsyncIterator[ClientSession]:
    """The official client, with Ada's key."""
    async with (
        httpx.AsyncClient(headers=ADA, trust_env=False) as http,
        streamable_http_client(f"{server.base}/mcp", http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


async def called(server: Server, name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Return whether a tool refused, and its words."""
    async with program(server) as session:
        answer = await session.call_tool(name, arguments)
    [said] = answer.content
    assert isinstance(said, types.TextContent)
    return answer.isError, said.text


async def posted(
    server: Server, body: object, headers: Mapping[str, str] = ADA
) -> tuple[int, dict[str, Any]]:
    """Return status and body of one message that no official client would send."""
    kind = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    url = f"{server.base}/mcp"
    async with server.client.post(url, data=data, headers={**kind, **headers}) as reply:
        return reply.status, orjson.loads(await reply.read() or b"{}")


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def test_the_official_client_learns_which_tools_there_are_and_that_they_only_read(
    served: Server,
) -> None:
    async with program(served) as session:
        found = (await session.list_tools()).tools
        await session.send_ping()
    assert {tool.name for tool in found} == {"find_patients", *CHART_TOOLS}
    for tool in found:
        assert tool.annotations is not None
        assert tool.annotations.readOnlyHint is True
        assert tool.inputSchema["additionalProperties"] is False
        if tool.name in CHART_TOOLS:
            assert "patient_id" in tool.inputSchema["required"]


@pytest.mark.parametrize("tool", sorted(CHART_TOOLS))
@pytest.mark.slow
async def test_each_answer_names_both_identifiers_and_is_on_record_before_it_is_read(
    served: Server, clinic: Clinic, tool: str
) -> None:
    refused, text = await called(served, tool, {"patient_id": "patient_4"})
    assert (refused, text.splitlines()[0]) == (False, "Ada Example, born 1957-03-14 · patient_4")
    [entry] = clinic.trail.entries
    part = tool.removeprefix("chart_")
    assert (entry.principal, entry.patient) == ("key:ada", "patient_4")
    assert entry.actions == (f"program_read_{part}",)
    clinic.trail.is_down = True
    clinic.records.read.clear()
    refused, text = await called(served, tool, {"patient_id": "patient_4"})
    assert (refused, clinic.records.read) == (True, [])
    assert "Ada" not in text


async def test_one_value_is_shown_over_time(served: Server) -> None:
    asked = {"patient_id": "patient_4", "name": "ECOG performance status"}
    _, text = await called(served, "results", asked)
    assert "2024-05-01" in text


async def test_patients_are_found_by_name(served: Server) -> None:
    _, text = await called(served, "find_patients", {"query": "other"})
    assert "patient_15  Ben Other  1961-07-08  male" in text
    _, text = await called(served, "find_patients", {"query": "nobody"})
    assert text.startswith("Nobody")


async def test_a_closed_chart_stays_closed_and_the_refusal_is_on_record(
    served: Server, clinic: Clinic
) -> None:
    refused, text = await called(served, "problems", {"patient_id": "patient_7"})
    assert refused
    assert text == "This patient's chart is not open to you. Nothing of it was shown."
    assert clinic.records.read == []
    [entry] = clinic.trail.entries
    assert (entry.patient, entry.outcome) == ("patient_7", "refused")


@pytest.mark.slow
@with_cases("tool", "arguments", "says")
async def test_bad_arguments_are_refused_with_their_name_and_nothing_is_read(
    served: Server, clinic: Clinic, tool: str, arguments: dict[str, Any], says: str
) -> None:
    refused, text = await called(served, tool, arguments)
    assert refused
    assert says in text
    assert clinic.records.read == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", ["../patient_4", "patient_4 ", "PATIENT_4", "active", "patient_99"]
)
async def test_what_is_no_patients_number_finds_nobody(served: Server, number: str) -> None:
    refused, text = await called(served, "problems", {"patient_id": number})
    assert refused
    assert "Ada" not in text


async def test_what_the_record_says_arrives_inert(served: Server) -> None:
    _, text = await called(served, "problems", {"patient_id": "patient_4"})
    assert "Mass" in text
    assert not re.search(r"!\[|<script|\]\(javascript", text)


async def test_without_a_token_nothing_is_answered(served: Server, clinic: Clinic) -> None:
    for headers in ({}, {"Authorization": "Bearer nobody"}, {"Cookie": "__Host-rounds=x"}):
        status, problem = await posted(served, message("tools/list"), headers)
        assert (status, problem["code"]) == (401, "unauthenticated")
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{served.base}/mcp", json=message("ping"))
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert clinic.trail.entries == []


async def test_a_page_of_elsewhere_is_refused_with_a_good_token(served: Server) -> None:
    headers = {**ADA, "Origin": "https://evil.example"}
    assert (await posted(served, message("tools/list"), headers))[0] == 403


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"{}",
        b"[" * 100 + b"]" * 100,
        [message("ping")],
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
    ],
)
async def test_what_is_no_message_is_a_bad_request(served: Server, body: object) -> None:
    status, problem = await posted(served, body)
    assert (status, problem["code"]) == (400, "bad_frame")


async def test_a_method_that_nobody_offers_and_params_that_do_not_fit_are_told_so(
    served: Server,
) -> None:
    status, reply = await posted(served, message("resources/list"))
    assert (status, reply["error"]["code"]) == (200, types.METHOD_NOT_FOUND)
    status, reply = await posted(served, message("tools/call", name="SECRET", arguments=[4]))
    assert (status, reply["error"]["code"]) == (200, types.INVALID_PARAMS)
    assert "SECRET" not in str(reply)


async def test_notifications_are_taken_without_words(served: Server) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await posted(served, note) == (202, {})


async def test_other_versions_forms_and_methods_are_refused(served: Server) -> None:
    ping, url = message("ping"), f"{served.base}/mcp"
    assert (await posted(served, ping, {**ADA, "MCP-Protocol-Version": "1999-01-01"}))[0] == 400
    assert (await posted(served, ping, {**ADA, "Content-Type": "text/plain"}))[0] == 415
    async with served.client.get(url, headers=ADA) as reply:
        assert reply.status == 405
    asked = message("initialize", protocolVersion="1999-01-01", capabilities={}, clientInfo={
        "name": "old", "version": "1"})  # fmt: skip
    _, answer = await posted(served, asked)
    assert answer["result"]["protocolVersion"] == types.LATEST_PROTOCOL_VERSION


async def test_a_message_over_the_limit_is_refused_and_the_next_one_is_answered(
    served: Server,
) -> None:
    status, problem = await posted(served, message("ping", _meta={"pad": "x" * 300_000}))
    assert (status, problem["code"]) == (413, "too_large")
    assert (await posted(served, message("ping")))[0] == 200


async def test_programs_count_among_their_users_reads(start: Start, clinic: Clinic) -> None:
    reads = MessageRate(per_minute=2, clock=SystemClock())
    served = await start(programs=clinic.charts, reads=reads)
    statuses = [(await posted(served, message("ping")))[0] for _ in range(3)]
    assert statuses == [200, 200, 429]


async def test_where_it_is_not_switched_on_there_is_no_such_route(server: Server) -> None:
    assert (await posted(server, message("ping")))[0] != 200


class Asked:
    """An `Authenticator` that lets in whom a cookie or a proxy names."""

    async def authenticate(self, handshake: Handshake) -> Principal:
        if not (handshake.session_id or handshake.client_principal):
            raise UnauthenticatedError
        return Principal(id="oidc:ada", name="Ada", kind="oidc")


@pytest.mark.parametrize(
    "shown", [{"Cookie": "__Host-rounds=good"}, {"X-MS-CLIENT-PRINCIPAL": "good"}]
)
async def test_neither_a_cookie_nor_a_proxys_word_opens_the_programs_door(
    shown: dict[str, str],
) -> None:
    async def entered(_: web.Request) -> web.Response:
        return web.Response()

    origins = OriginPolicy(allowed=(), public_host=None, loopback_only=False)
    guard = authentication(authenticator=Asked(), origins=origins, trusted_proxy=True)
    app = web.Application(middlewares=[problems(ids=CountingIds()), guard])
    app.router.add_get("/mcp", entered)
    app.router.add_get("/api/mine", entered)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession(headers={**shown, "Sec-Fetch-Site": "same-origin"}) as client:
        found = [(await client.get(base + path)).status for path in ("/api/mine", "/mcp")]
    await runner.cleanup()
    assert found == [200, 401]
