"""The HTTP routes over real connections: answers, doors, headers."""

import asyncio
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from docx import Document
from openapi_spec_validator import validate
from prometheus_client import CollectorRegistry, Counter
from pydantic import SecretStr

from data_models.clock import SystemClock
from data_models.errors import StoreUnavailableError
from routes.requests.endpoint import Readiness
from routes.static_client import StaticClient
from services.access.authenticators import KeyFile
from tests.fakes import FixedClock
from tests.routes.conftest import ADA, BEN, OPERATOR, PATIENCE_SECONDS, Server, Start, hashed_key
from tests.routes.fakes import FakeReader
from tests.tables import with_cases

# Both pages are empty without the API, which asks who is there.
PUBLIC = {"/", "/operator", "/assets/{name}", "/healthz", "/readyz", "/print.css"} | {
    "/worker.js",
    "/privacy",
    "/terms",
}


async def get(
    server: Server, path: str, *, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    async with server.client.request(
        method, server.base + path, headers=ADA if headers is None else headers
    ) as reply:
        body = await reply.json() if "json" in reply.content_type else await reply.read()
        return reply.status, body


async def claimed(server: Server, chat_id: str = "chat_1") -> None:
    socket = await server.socket(chat_id)
    await socket.say("hello")
    await socket.until_done()


async def test_a_new_chat_gets_an_id_and_is_listed_once_it_was_used(server: Server) -> None:
    status, created = await get(server, "/api/chats", method="POST")
    assert status == 201
    await claimed(server, created["chat_id"])
    _, listed = await get(server, "/api/chats")
    assert [chat["chat_id"] for chat in listed["chats"]] == [created["chat_id"]]
    assert (await get(server, "/api/chats", headers=BEN))[1] == {"chats": []}


async def test_agents_are_listed_by_name(server: Server) -> None:
    assert await get(server, "/api/agents") == (
        200,
        {"agents": ["Orchestrator", "Radiology"], "error": None},
    )


async def test_a_client_learns_who_it_is_and_that_no_model_answers(server: Server) -> None:
    _, session = await get(server, "/api/session")
    assert session["principal"] == {"id": "key:ada", "name": "ada"}
    assert session["model_kind"] == "offline"


async def test_a_chat_shows_its_state(server: Server) -> None:
    await claimed(server)
    _, view = await get(server, "/api/chats/chat_1")
    assert view["patient_id"] == "patient_4"
    assert view["patients"][0]["patient_id"] == "patient_4"


async def test_history_is_read_in_pages(server: Server) -> None:
    await claimed(server)
    path = "/api/chats/chat_1/messages?patient_id=patient_4"
    _, newest = await get(server, path)
    assert newest["patient_id"] == "patient_4"
    assert [turn["turn_id"] for turn in newest["turns"]] == [4, 5]
    _, older = await get(server, f"{path}&before={newest['next_before']}&limit=1")
    assert [turn["turn_id"] for turn in older["turns"]] == [3]


@pytest.mark.parametrize("query", ["before=-1", "before=x", "limit=1e3", "limit=99999999999"])
async def test_a_number_that_is_none_is_refused(server: Server, query: str) -> None:
    await claimed(server)
    status, problem = await get(server, f"/api/chats/chat_1/messages?{query}")
    assert (status, problem["code"]) == (400, "bad_frame")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/chats/search", "q: words to look for"),
        ("/api/chats/chat_1/messages?limit=x", "a number has one to nine digits"),
        ("/api/chats/chat_1/export?format=pdf", "format must be one of md, json, docx"),
        ("/api/chats/chat_1/sources?patient_id=patient_4", "ref is needed"),
    ],
)
async def test_a_refusal_says_what_is_wrong_and_not_how_another_is_sent(
    server: Server, path: str, says: str
) -> None:
    await claimed(server)
    _, problem = await get(server, path)
    assert says in problem["detail"]
    assert "content" not in problem["detail"]


async def test_an_export_holds_every_page_in_order(server: Server) -> None:
    await claimed(server)
    path = "/api/chats/chat_1/export?patient_id=patient_4"
    async with server.client.get(server.base + path, headers=ADA) as reply:
        text = await reply.text()
        assert "attachment" in reply.headers["Content-Disposition"]
    assert re.findall(r"answer (\d)", text) == ["1", "2", "3", "4", "5"]
    assert "> # not a title" in text, "a user's words cannot become a heading"
    assert "- CT chest (DocumentReference/note-3)" in text
    _, exported = await get(server, path + "&format=json")
    assert len(exported["turns"]) == 5
    assert (await get(server, path + "&format=pdf"))[0] == 400


async def test_an_export_stays_with_the_patient_of_its_first_page(server: Server) -> None:
    await claimed(server)
    reader = server.context.reader
    assert isinstance(reader, FakeReader)
    url = f"{server.base}/api/chats/chat_1/export"
    async with server.client.get(url, headers=ADA) as reply:
        text = await reply.text()
        assert 'filename="rounds-patient_4.md"' in reply.headers["Content-Disposition"]
    assert reader.pages_of == [None, "patient_4", "patient_4"]
    assert text.startswith("# Conversation about patient_4")


async def test_an_export_for_word_says_the_same(server: Server) -> None:
    await claimed(server)
    path = "/api/chats/chat_1/export?patient_id=patient_4&format=docx"
    async with server.client.get(server.base + path, headers=ADA) as reply:
        document = Document(io.BytesIO(await reply.read()))
        assert 'filename="rounds-patient_4.docx"' in reply.headers["Content-Disposition"]
    lines = [paragraph.text for paragraph in document.paragraphs]
    assert [line for line in lines if line.startswith("answer")] == [
        f"answer {number}" for number in range(1, 6)
    ]
    assert "CT chest (DocumentReference/note-3)" in lines


async def test_what_an_answer_cites_can_be_opened(server: Server) -> None:
    await claimed(server)
    path = "/api/chats/chat_1/sources?patient_id=patient_4&ref="
    status, source = await get(server, path + "DiagnosticReport/ct-1")
    assert (status, source["title"]) == (200, "CT chest")
    assert "Right upper lobe mass" in source["text"]
    assert (await get(server, path + "DiagnosticReport/absent"))[0] == 404
    assert (await get(server, path))[0] == 400


async def test_progress_tells_a_second_screen_what_ended_last(server: Server) -> None:
    await claimed(server)
    status, progress = await get(server, "/api/chats/chat_1/progress")
    assert (status, progress["running_run_id"]) == (200, None)
    assert progress["last_run_id"] == server.scheduler.last_run_id("chat_1") is not None


async def test_a_file_is_saved_and_never_opened_as_a_page(server: Server) -> None:
    await claimed(server)
    url = f"{server.base}/api/chats/chat_1/artifacts/artifact_1?patient_id=patient_4"
    async with server.client.get(url, headers=ADA) as reply:
        assert (reply.status, await reply.read()) == (200, b"PK\x03\x04")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        disposition = reply.headers["Content-Disposition"]
    expected = "attachment; filename=\"Tumor board ___.docx\"; filename*=UTF-8''Tumor%20board%20_"
    assert disposition.startswith(expected)


async def test_a_file_of_another_patient_is_not_there(server: Server) -> None:
    await claimed(server)
    path = "/api/chats/chat_1/artifacts/artifact_1"
    assert (await get(server, path + "?patient_id=patient_15"))[0] == 404
    assert (await get(server, path))[0] == 400


async def test_the_banner_learns_who_the_patient_is(start: Start) -> None:
    server = await start()
    await claimed(server)
    _, person = await get(server, "/api/chats/chat_1/patients/patient_4")
    assert (person["name"], person["birth_date"]) == ("Ada Example", "1950-02-03")
    assert (await get(server, "/api/chats/chat_1/patients/patient_9"))[0] == 404


async def test_patients_are_found_by_name_and_nothing_is_opened(start: Start) -> None:
    server = await start()
    _, found = await get(server, "/api/patients?q=other")
    assert [one["patient_id"] for one in found["patients"]] == ["patient_15"]
    assert found["is_whole"] is True
    assert (await get(server, "/api/patients?q=" + "x" * 201))[0] == 400


async def test_a_part_of_the_chart_is_shown_without_a_turn(start: Start) -> None:
    server = await start()
    await claimed(server)
    path = "/api/chats/chat_1/chart?patient_id=patient_4"
    _, summary = await get(server, path)
    assert (summary["patient_id"], summary["view_id"]) == ("patient_4", "view-summary")
    assert "tool" not in summary
    _, course = await get(server, path + "&part=results&name=Potassium")
    assert [row["number"] for row in course["rows"]] == [3.2, 3.4, 4.1]
    assert (await get(server, path + "&part=everything"))[0] == 400
    assert (await get(server, "/api/chats/chat_1/chart"))[0] == 400
    assert (await get(server, "/api/chats/chat_1/chart?patient_id=patient_15"))[0] == 404
    assert len(server.scheduler.messages) == 1


async def test_a_part_of_the_chart_is_in_the_language_that_a_page_asks_for(start: Start) -> None:
    server = await start()
    await claimed(server)
    path = "/api/chats/chat_1/chart?patient_id=patient_4&part=problems"
    shown = []
    for language in ("de-AT,en;q=0.5", "en-GB", "xx", ""):
        _, view = await get(server, path, headers={**ADA, "Accept-Language": language})
        shown.append((view["title"], view["rows"][0]["status"], view["rows"][0]["name"]))
    german, english = ("Diagnosen", "aktiv"), ("Problems", "active")
    assert shown == [(*each, "Lung cancer") for each in (german, english, english, english)]


@pytest.mark.slow
@with_cases("path")
async def test_absent_malformed_and_not_yours_are_answered_alike(server: Server, path: str) -> None:
    await claimed(server, "of_ada")
    answers = []
    for chat_id in ("of_ada", "absent", "..%2F..%2Fetc"):
        status, problem = await get(server, path.format(chat_id), headers=BEN)
        problem.pop("ref")
        answers.append((status, problem))
    assert answers[0][0] == 404
    assert answers[0] == answers[1] == answers[2]


async def test_a_stop_needs_the_conversation(server: Server) -> None:
    await claimed(server)
    assert await get(server, "/api/chats/chat_1/stop", method="POST") == (200, {"stopped": False})
    status, _ = await get(server, "/api/chats/chat_1/stop", method="POST", headers=BEN)
    assert status == 404


async def test_every_route_but_the_public_ones_needs_a_principal(server: Server) -> None:
    walked = 0
    for route in server.app.router.routes():
        assert route.resource is not None
        path = re.sub(r"\{\w+\}", "x", route.resource.canonical)
        status, _ = await get(server, path, method=route.method, headers={})
        is_public = route.resource.canonical in PUBLIC
        assert (status != 401) == is_public, route
        walked += 1
    assert walked >= 18


@pytest.mark.slow
async def test_every_route_is_described_and_nothing_else(server: Server) -> None:
    _, document = await get(server, "/api/openapi.json")
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }
    served = {
        (route.method, route.resource.canonical)
        for route in server.app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    assert described == served
    validate(document)


async def test_health_asks_nobody_and_readiness_names_each_part(start: Start) -> None:
    down = asyncio.Event()

    async def storage() -> None:
        if down.is_set():
            raise StoreUnavailableError("refused")

    async def model() -> None:
        await asyncio.sleep(0)

    probes = {"storage": storage, "model": model}
    readiness = Readiness(probes=probes, clock=SystemClock(), fresh_seconds=0.0)
    server = await start(readiness=readiness)
    ready = {"status": "ready", "process": "ok", "storage": "ok", "model": "ok"}
    assert await get(server, "/readyz", headers={}) == (200, ready)
    down.set()
    unready = ready | {"status": "unavailable", "storage": "unavailable"}
    assert await get(server, "/readyz", headers={}) == (503, unready)
    assert await get(server, "/healthz", headers={}) == (200, {"status": "ok"})
    down.clear()
    readiness.drain()
    assert (await get(server, "/readyz", headers={}))[0] == 503


async def test_a_probe_that_hangs_is_unavailable_and_probes_are_not_repeated_at_once() -> None:
    asked = 0

    async def hangs() -> None:
        nonlocal asked
        asked += 1
        await asyncio.Event().wait()

    probes = {"model": hangs}
    readiness = Readiness(probes=probes, clock=SystemClock(), probe_seconds=0.05)
    states = await asyncio.gather(*(readiness.states() for _ in range(20)))
    assert states[0]["model"] == "unavailable"
    assert asked == 1


async def test_what_was_ready_is_asked_seldom_and_what_was_not_soon_again() -> None:
    clock, asked = FixedClock(), 0

    async def storage() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise StoreUnavailableError("not there yet")

    readiness = Readiness(probes={"storage": storage}, clock=clock)
    for seconds, answer, times in (
        (0.0, "unavailable", 1),
        (0.2, "unavailable", 1),
        (0.1, "ok", 2),
        (1.9, "ok", 2),
        (0.2, "ok", 3),
    ):
        clock.advance(seconds)
        assert ((await readiness.states())["storage"], asked) == (answer, times)


async def test_figures_are_served_for_prometheus(start: Start) -> None:
    registry = CollectorRegistry()
    Counter("rounds_turns", "Turns", registry=registry).inc()
    server = await start(registry=registry)
    _, body = await get(server, "/metrics", headers=OPERATOR)
    assert b"rounds_turns_total 1.0" in body


async def test_a_caller_learns_as_whom_it_is_known_and_what_it_may_do(server: Server) -> None:
    assert await get(server, "/api/user/me") == (
        200,
        {
            "id": "key:ada",
            "name": "ada",
            "kind": "api_key",
            "roles": [],
            "scopes": ["chat", "read"],
            "expires_at": None,
        },
    )


async def test_a_key_of_operators_alone_learns_who_it_is_and_reads_no_chart(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "keys.yaml"
    ops = {"name": "ops", "sha256": hashed_key("ops-key"), "scopes": ["operator"]}
    path.write_text(yaml.safe_dump({"keys": [ops]}))
    server = await start(keys=KeyFile(path=path))
    headers = {"Authorization": "Bearer ops-key"}
    status, me = await get(server, "/api/user/me", headers=headers)
    assert (status, me["roles"], me["scopes"]) == (200, ["operator"], [])
    assert (await get(server, "/api/chats", headers=headers))[0] == 403


@pytest.mark.parametrize(("path", "title"), [("/privacy", "Privacy"), ("/terms", "Terms of use")])
async def test_the_pages_that_the_teams_manifest_names_are_there(
    server: Server, path: str, title: str
) -> None:
    async with server.client.get(server.base + path) as reply:
        assert (reply.status, reply.content_type) == (200, "text/html")
        assert f"<h1>{title}</h1>" in await reply.text()


@pytest.mark.parametrize("token", ["scrape-me", None])
async def test_figures_are_for_who_shows_the_token_or_has_the_role(
    start: Start, token: str | None
) -> None:
    server = await start(metrics_token=None if token is None else SecretStr(token))
    shown: dict[str, int] = {
        "Bearer scrape-me": 401 if token is None else 200,
        "Bearer scrape-m": 401,
        "Bearer ": 401,
        "Basic scrape-me": 401,
        "Bearer é": 401,
        ADA["Authorization"]: 403,
        OPERATOR["Authorization"]: 200,
    }
    for authorization, status in shown.items():
        answer = await get(server, "/metrics", headers={"Authorization": authorization})
        assert answer[0] == status, authorization
    status, problem = await get(server, "/metrics", headers={})
    assert (status, problem["type"]) == (401, "urn:rounds:error:unauthenticated")


async def test_answers_of_the_api_are_not_kept_by_anybody(server: Server) -> None:
    async with server.client.get(f"{server.base}/api/agents", headers=ADA) as reply:
        assert reply.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]


@pytest.mark.slow
async def test_a_client_that_never_finishes_its_headers_is_let_go(start: Start) -> None:
    server = await start(handshake_seconds=0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.runner.addresses[0][1])
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    closed = asyncio.create_task(reader.read())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not closed.done():
            writer.write(b"X-Slow: 1\r\n")
            await asyncio.sleep(0.05)
    writer.close()


async def test_without_a_build_the_page_says_how_to_build(tmp_path: Any) -> None:
    client = StaticClient(tmp_path)
    client.load()
    reply = await client.page(make_mocked_request("GET", "/"))
    assert "scripts.build_web" in (reply.text or "")
    with pytest.raises(web.HTTPNotFound):
        await client.worker(make_mocked_request("GET", "/worker.js"))


async def test_a_build_is_served_and_its_assets_are_kept_forever(tmp_path: Any) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>built")
    (tmp_path / "assets" / "index-1.js").write_text("1")
    client = StaticClient(tmp_path)
    client.load()
    page = await client.page(make_mocked_request("GET", "/"))
    assert (page.body, page.headers["Cache-Control"]) == (b"<!doctype html>built", "no-cache")
    request = make_mocked_request("GET", "/assets/index-1.js", match_info={"name": "index-1.js"})
    asset = await client.asset(request)
    assert asset.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert (asset.body, "Content-Encoding" in asset.headers) == (b"1", False)
    assert "immutable" in asset.headers["Cache-Control"]
    packed = await client.asset(request.clone(headers={"Accept-Encoding": "br, gzip"}))
    assert isinstance(packed.body, bytes)
    assert gzip.decompress(packed.body) == b"1"
