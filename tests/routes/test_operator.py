"""The operators' API over HTTP, before real stores of scenarios."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest

from data_models.clock import SystemClock
from data_models.documents import Documents
from routes.operator import operator_routes
from routes.server import WebAccess, create_runner, create_web_app
from services.access.authenticators import ApiKeyAuthenticator
from services.access.limits import OriginPolicy
from services.conversations.maintenance_lease import caretaker_for
from services.scenarios.definition.definition_reader import read_publishable
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators import operator_service
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.scenarios.scenario_settings import MigrationConfig, ScenarioStores
from settings import Settings
from tests.fakes import CountingIds, RememberedAudit
from tests.fakes_store import MemoryBlobStore
from tests.routes.conftest import hashed_key, make_context
from tests.routes.fakes import FakeScheduler
from tests.services.scenarios.clinic import (
    BOOKING,
    FIRST,
    SECOND,
    Clinic,
    Visitor,
    conversation_of,
    crowd,
)
from tests.services.scenarios.worlds import MemoryIndex

VISITORS = [Visitor("minor", "confirmation", age=12), *crowd(60)]
ONE = f"scenarios/{BOOKING}"


class Office:
    """A server with two operators, a user, and sessions of the booking sample."""

    def __init__(self, folder: Path) -> None:
        self.blobs, self.ledger = MemoryBlobStore(), RememberedAudit()
        self.index = MemoryIndex(folder / "sessions.sqlite")
        self.documents = MemoryBlobStore(tags=self.index.local)
        self.registry = CollectorRegistry()
        store = ScenarioStore(blobs=self.blobs)
        clock, ids = SystemClock(), CountingIds()
        settings = Settings.model_validate({})
        self.stored = Documents(store=self.documents, clock=clock, ids=ids)
        maintenance_lease = caretaker_for(
            settings, sessions=self.documents, users=MemoryBlobStore(), clock=clock, ids=ids
        )
        stores = ScenarioStores(self.blobs, store, self.index, MigrationConfig())
        self.operators: Operators = operators_for(
            stores,
            documents=self.stored,
            audit=self.ledger,
            registry=self.registry,
            clock=clock,
            ids=ids,
            lease=maintenance_lease,
        )
        self.base = ""
        self.http: aiohttp.ClientSession

    async def admit(self, clinic: Clinic) -> None:
        for name, _, context in clinic.contexts(VISITORS):
            await self.documents.create(name, context.model_dump_json().encode())
            await self.documents.create(*conversation_of(context))

    async def call(
        self, method: str, path: str, body: object = None, *, who: str = "ann"
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {who}-key"}
        url = f"{self.base}/api/operator/{path}"
        async with self.http.request(method, url, json=body, headers=headers) as reply:
            return reply.status, await reply.json(content_type=None)

    async def planned(self) -> dict[str, Any]:
        assert (await self.call("POST", "scenarios", {"definition": FIRST}))[0] == 201
        status, view = await self.call("POST", "plans", {"definition": SECOND})
        assert status == 201
        found: dict[str, Any] = view
        return found

    async def rests(self) -> dict[str, Any]:
        return await self.until_in("flipped", "deployed")

    async def until_in(self, *states: str) -> dict[str, Any]:
        """Return the overview once the deployment has come to one of `states`."""
        async with asyncio.timeout(60):
            while True:
                _, overview = await self.call("GET", ONE)
                if overview["deployment"]["state"] in states:
                    found: dict[str, Any] = overview
                    return found
                await asyncio.sleep(0.01)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path)
    await office.admit(Clinic(tmp_path))
    keys = [(name, hashed_key(f"{name}-key")) for name in ("ann", "bob", "eve")]
    access = WebAccess(
        authenticator=ApiKeyAuthenticator(keys=keys, operators=("ann", "bob")),
        origins=OriginPolicy(allowed=(), public_host=None, loopback_only=False),
    )
    service = FakeScheduler(clock=SystemClock(), ids=CountingIds())
    app = create_web_app(
        context=make_context(service, operators=office.operators.service), access=access
    )
    runner = create_runner(app, handshake_seconds=10.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    office.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession() as office.http:
        yield office
    await office.operators.runner.close()
    await office.index.close()
    await service.close()
    await runner.cleanup()


@pytest.mark.slow
async def test_no_route_lets_in_who_is_no_operator(office: Office) -> None:
    for route in operator_routes():
        path = route.path.removeprefix("/api/operator/")
        path = path.replace("{scenario_id}", BOOKING).replace("{version}", "1")
        path = path.replace("{session}", "0123456789")
        status, problem = await office.call(route.method, path, {}, who="eve")
        assert (status, problem["code"]) == (403, "forbidden"), route
        status, problem = await office.call(route.method, path, {}, who="nobody")
        assert status == 401, route
    assert office.ledger.entries == []


@pytest.mark.slow
async def test_every_problem_of_a_version_names_step_and_field(office: Office) -> None:
    broken = SECOND.replace("age < 18", "agee < 18").replace("target: reminder", "target: nowhere")
    status, problem = await office.call("POST", "validate", {"definition": broken})
    assert (status, problem["code"]) == (400, "scenario_definition")
    assert len(problem["problems"]) == 2
    assert problem["problems"][0].startswith("step 'age_check', transition 1, condition: ")
    assert problem["problems"][1] == "step 'confirmation', transition 1: there is no step 'nowhere'"
    assert (await office.call("GET", "scenarios"))[1]["scenarios"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "definition"),
        ({"definition": FIRST, "more": 1}, "more"),
        ({"definition": FIRST, "policies": {"slot": {"update_downstream": "x"}}}, "slot"),
    ],
)
async def test_a_malformed_request_is_refused_with_its_place(
    office: Office, body: object, place: str
) -> None:
    status, problem = await office.call("POST", "plans", body)
    assert status == 400
    assert any(place in one for one in problem["problems"])


@pytest.mark.slow
async def test_a_plan_shows_both_versions_with_counts_of_sessions(office: Office) -> None:
    view = await office.planned()
    states = {node["id"]: node["state"] for node in view["new"]["nodes"]}
    assert (states["age_check"], states["slot"]) == ("inserted", "anchor")
    assert {node["fork"] for node in view["new"]["nodes"] if node["id"] == "age_check"} == {"new"}
    assert sum(node["sessions"] for node in view["old"]["nodes"]) == len(VISITORS)
    assert view["plan"]["summary"]["estimated_sessions_affected"] == len(VISITORS)
    anchor = next(one for one in view["anchors"] if one["step"] == "confirmation")
    assert anchor["blocked_by"] == ["Payment Processed"]
    assert anchor["redirects"][0]["condition"] == "age < 18"
    assert anchor["fields"] == ["age"]


@pytest.mark.slow
async def test_a_dry_run_pages_and_names_no_patient(office: Office) -> None:
    await office.planned()
    rows: list[dict[str, Any]] = []
    after = ""
    while True:
        status, page = await office.call("GET", f"{ONE}/dry-run?limit=25&after={after}")
        assert status == 200
        rows += page["rows"]
        after = page["cursor"]
        if not after:
            break
    assert len({row["session"] for row in rows}) == len(rows) == len(VISITORS)
    assert {row["effect"] for row in rows} >= {"blocked", "gap_fill", "re_route", "clean_graft"}
    assert not any(word in str(rows) for word in ("patient_4", "chat-", "session-"))


@pytest.mark.slow
async def test_policies_plan_again_and_take_the_approval_away(office: Office) -> None:
    view = await office.planned()
    assert (await office.call("POST", f"{ONE}/approve", who="bob"))[0] == 200
    policies = {"slot": {"update_downstream": False}}
    status, again = await office.call("PUT", f"{ONE}/plan/policies", {"policies": policies})
    assert (status, again["plan"]["status"]) == (200, "pending")
    assert again["plan"]["id"] != view["plan"]["id"]
    assert (await office.call("POST", f"{ONE}/deploy", {}))[0] == 409
    wrong = {"nowhere": {"update_downstream": False}}
    status, problem = await office.call("PUT", f"{ONE}/plan/policies", {"policies": wrong})
    assert (status, "nowhere" in problem["detail"]) == (409, True)


@pytest.mark.slow
async def test_whoever_proposed_does_not_approve(office: Office) -> None:
    await office.planned()
    status, problem = await office.call("POST", f"{ONE}/approve")
    assert (status, problem["detail"]) == (409, "A second person must approve the plan.")
    _, history = await office.call("GET", f"{ONE}/history")
    assert history["entries"][0]["outcome"] == "refused"


@pytest.mark.slow
async def test_a_deployment_runs_behind_its_answer_and_a_second_is_told(office: Office) -> None:
    await office.planned()
    await office.call("POST", f"{ONE}/approve", who="bob")
    answers = await asyncio.gather(
        office.call("POST", f"{ONE}/deploy", {}),
        office.call("POST", f"{ONE}/deploy", {}, who="bob"),
    )
    assert sorted(status for status, _ in answers) == [202, 409]
    refusal = next(problem for status, problem in answers if status == 409)
    assert refusal["code"] in ("scenario_plan", "scenario_conflict")
    overview = await office.rests()
    assert (overview["active"], overview["deployment"]["marked"]) == (2, len(VISITORS))
    assert overview["counts"][0]["marked"] == len(VISITORS)
    status, view = await office.call("POST", f"{ONE}/rollback", {"to": 1})
    _, first = await office.call("GET", f"{ONE}/versions/1")
    found = (status, view["new"]["version"], view["new"]["checksum"])
    assert found == (201, 3, first["checksum"])
    assert [node["id"] for node in view["old"]["nodes"] if node["state"] == "deleted"] == [
        "age_check",
        "rejected",
    ]
    text = generate_latest(office.registry).decode()
    assert f"migration_sessions_marked_total {float(len(VISITORS))}" in text
    assert "migration_plans_generated_total 2.0" in text
    assert "migration_plans_approved_total 1.0" in text


@pytest.mark.slow
async def test_a_canary_waits_and_is_widened(office: Office) -> None:
    await office.planned()
    await office.call("POST", f"{ONE}/approve", who="bob")
    await office.call("POST", f"{ONE}/deploy", {"share_percent": 30})
    overview = await office.rests()
    assert (overview["share_percent"], overview["deployment"]["state"]) == (30, "flipped")
    assert (await office.call("POST", f"{ONE}/share", {"share_percent": 101}))[0] == 400
    assert (await office.call("POST", f"{ONE}/share", {"share_percent": 100}))[0] == 202
    overview = await office.until_in("deployed")
    assert (overview["share_percent"], overview["deployment"]["marked"]) == (100, len(VISITORS))


async def test_a_definition_that_takes_long_to_read_holds_nobody_up(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def read(source: str) -> Graph:
        has_begun.set()
        assert may_end.wait(60), "nobody was served meanwhile"
        return read_publishable(source)

    monkeypatch.setattr(operator_service, "read_publishable", read)
    asked = asyncio.create_task(office.call("POST", "validate", {"definition": FIRST}))
    await asyncio.to_thread(has_begun.wait, 60)
    assert (await office.call("GET", "scenarios"))[0] == 200
    may_end.set()
    assert (await asked)[0] == 200


@pytest.mark.slow
async def test_the_review_list_gives_reasons_and_hashed_sessions(office: Office) -> None:
    await office.planned()
    _, page = await office.call("GET", f"{ONE}/review")
    assert {row["reason"] for row in page["rows"]} == {"undecidable"}
    assert all(len(row["session"]) == 32 for row in page["rows"])
    assert "place" not in page["rows"][0]


@pytest.mark.slow
async def test_every_act_is_on_record_before_it_happens(office: Office) -> None:
    await office.planned()
    acts = [
        (entry.principal, entry.actions[0], entry.conversation) for entry in office.ledger.entries
    ]
    assert acts == [
        ("key:ann", "operator.publish", f"scenario:{BOOKING}"),
        ("key:ann", "operator.propose", f"scenario:{BOOKING}"),
    ]
    assert (await office.call("GET", f"{ONE}/dry-run", who="bob"))[0] == 200
    assert office.ledger.entries[-1].actions == ("operator.dry_run",)
    office.ledger.is_down = True
    assert (await office.call("GET", f"{ONE}/dry-run"))[0] == 503
    status, problem = await office.call("POST", f"{ONE}/approve", who="bob")
    assert (status, problem["code"]) == (503, "audit_unavailable")
    _, view = await office.call("GET", f"{ONE}/plan")
    assert view["plan"]["status"] == "pending"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["nope", "..%2Fx", "a%20b", "%00", hashlib.sha256().hexdigest() * 2]
)
async def test_what_is_not_there_is_not_found(office: Office, name: str) -> None:
    status, problem = await office.call("GET", f"scenarios/{name}")
    assert (status, problem["code"]) == (404, "scenario_not_found")


async def test_operators_alone_see_how_good_answers_are(office: Office) -> None:
    assert await office.call("GET", "quality") == (200, {"rows": []})
    assert (await office.call("GET", "quality", who="eve"))[0] == 403
