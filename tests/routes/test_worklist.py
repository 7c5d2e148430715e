"""Over HTTP: whom a user pinned, a patient's memory, and what they began to write."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from data_models.clock import SystemClock
from data_models.identifiers import hashed
from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.records.resources.entry import Entry
from services.views.conversation_reader import OwnedChat
from services.views.owner_changes import KEPT_DAYS, Drafts
from tests.fakes import ClosedCharts, CountingIds, FixedClock
from tests.fakes_store import _START as BLOBS_BEGIN
from tests.fakes_store import MemoryBlobStore
from tests.routes.conftest import ADA, BEN, Server, Start, make_worklist
from tests.routes.fakes import FakePeople, FakeReader, FakeScheduler

PATH = "/api/worklist"
FOUR = f"{PATH}/patient_4"


def seen(patient_id: str) -> Entry:
    subject = {"reference": f"Patient/{patient_id}"}
    raw = {"subject": subject, "start": "2026-11-24T09:30:00Z", "description": "Restaging"}
    return Entry(f"Appointment/{patient_id}", "Appointment", raw)


@pytest.fixture
async def ward(start: Start) -> Server:
    people = FakePeople()
    people.visits = [seen("patient_15"), seen("patient_4")]
    clock = FixedClock(datetime(2026, 11, 24, 8, 0, tzinfo=UTC))
    guard = ChartGuard(policy=ClosedCharts("patient_15"), audit=NoAudit(), clock=clock)
    return await start(worklist=make_worklist(people, guard=guard))


async def ask(server: Server, method: str, path: str = PATH, who: Any = ADA) -> tuple[int, Any]:
    async with server.client.request(method, server.base + path, headers=who) as reply:
        return reply.status, await reply.json(content_type=None)


async def pinned(server: Server, who: Any = ADA) -> list[str]:
    return [one["patient_id"] for one in (await ask(server, "GET", who=who))[1]["pinned"]]


async def test_who_is_seen_is_told_with_both_identifiers_and_no_closed_chart(ward: Server) -> None:
    status, found = await ask(ward, "GET")
    assert (status, found["day"], found["time_zone"]) == (200, "2026-11-24", "UTC")
    assert found["today"] == [
        {
            "patient_id": "patient_4", "name": "Ada Example", "birth_date": "1950-02-03", "sex": "",
            "kind": "appointment", "time": "09:30", "since": "", "reason": "Restaging",
        }
    ]  # fmt: skip


async def test_a_caller_sees_their_own_pins_only(ward: Server) -> None:
    assert await ask(ward, "PUT", FOUR) == (204, None)
    assert await ask(ward, "PUT", FOUR) == (204, None)
    assert (await pinned(ward), await pinned(ward, BEN)) == (["patient_4"], [])
    assert await ask(ward, "DELETE", FOUR, BEN) == (204, None)
    assert await pinned(ward) == ["patient_4"]
    assert await ask(ward, "DELETE", FOUR) == (204, None)
    assert await pinned(ward) == []


async def test_what_cannot_be_pinned_is_said_with_the_remedy(ward: Server) -> None:
    status, problem = await ask(ward, "PUT", f"{PATH}/patient_99")
    assert (status, problem["code"]) == (404, "no_such_patient")
    assert "find the patient by name" in problem["detail"]
    status, problem = await ask(ward, "PUT", f"{PATH}/patient_15")
    assert (status, problem["code"]) == (403, "chart_closed")
    assert await pinned(ward) == []


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("PUT", FOUR), ("DELETE", FOUR)])
async def test_nobody_asks_unknown(ward: Server, method: str, path: str) -> None:
    assert (await ask(ward, method, path, {}))[0] == 401


MEMORY = "/api/chats/chat_1/memory?patient_id=patient_4"
WISH = "wish:doctor_preference"
CORRECT = {"op": "correct", "item": WISH, "value": "Dr. Who"}


def wish(view: Any) -> Any:
    return next(one for one in view["understood"] if one["id"] == WISH)


async def ask_memory(
    server: Server, method: str, *, body: Any = None, headers: dict[str, str] | None = None,
    path: str = MEMORY,
) -> tuple[int, Any, str]:  # fmt: skip
    asked = server.client.request(
        method, server.base + path, json=body, headers={**ADA, **(headers or {})}
    )
    async with asked as reply:
        return reply.status, await reply.json(), reply.headers.get("ETag", "")


@pytest.mark.slow
async def test_the_memory_carries_its_revision_as_an_etag(used: Server) -> None:
    status, view, etag = await ask_memory(used, "GET")
    assert status == 200
    assert etag == f'"{view["revision"]}"'
    assert wish(view)["value"] == "Dr. Lindqvist"


@pytest.mark.parametrize("in_header", [True, False])
async def test_a_change_names_the_revision_it_was_made_for(used: Server, in_header: bool) -> None:
    _, view, etag = await ask_memory(used, "GET")
    body: dict[str, Any] = {"operations": [CORRECT]}
    headers = {"If-Match": etag} if in_header else {}
    if not in_header:
        body["revision"] = view["revision"]
    status, changed, new_etag = await ask_memory(used, "PATCH", body=body, headers=headers)
    assert (status, wish(changed)["value"]) == (200, "Dr. Who")
    assert new_etag != etag
    status, problem, _ = await ask_memory(used, "PATCH", body=body, headers=headers)
    assert (status, problem["code"]) == (412, "memory_changed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"operations": []},
        {"operations": [{"op": "delete", "item": WISH}], "revision": "x"},
        {"operations": [{"op": "correct", "item": WISH}], "revision": "x"},
        {"operations": [{**CORRECT, "more": 1}], "revision": "x"},
        {"operations": [CORRECT] * 21, "revision": "x"},
        {"operations": [CORRECT]},
        {"operations": [{"op": "undo", "change_id": -1}], "revision": "x"},
    ],
)
async def test_a_malformed_change_is_refused_without_quoting_it(used: Server, body: Any) -> None:
    status, problem, _ = await ask_memory(used, "PATCH", body=body)
    assert (status, problem["code"]) == (400, "bad_frame")
    assert "Dr. Who" not in str(problem)


async def test_an_item_that_is_not_there_is_a_conflict(used: Server) -> None:
    _, view, _ = await ask_memory(used, "GET")
    body = {"operations": [{"op": "retire", "item": "wish:x"}], "revision": view["revision"]}
    status, problem, _ = await ask_memory(used, "PATCH", body=body)
    assert (status, problem["code"]) == (409, "memory_item")


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_a_foreign_user_gets_the_answer_of_an_unknown_id(used: Server, method: str) -> None:
    body = {"operations": [CORRECT], "revision": "x"} if method == "PATCH" else None
    foreign = await ask_memory(used, method, body=body, headers=BEN)
    unknown = await ask_memory(
        used, method, body=body, path="/api/chats/chat_9/memory?patient_id=patient_4"
    )
    for one in (foreign, unknown):
        one[1].pop("ref")
    assert foreign == unknown
    assert foreign[0] == 404


DRAFT = "/api/chats/chat_1/draft?patient_id=patient_4"


async def ask_draft(
    server: Server, method: str, *, path: str = DRAFT, body: Any = None, who: Any = ADA
) -> tuple[int, Any]:
    async with server.client.request(method, server.base + path, json=body, headers=who) as reply:
        return reply.status, await reply.json(content_type=None)


async def test_what_was_begun_is_there_on_another_device_until_it_is_sent(used: Server) -> None:
    assert await ask_draft(used, "GET") == (200, {"text": ""})
    assert (await ask_draft(used, "PUT", body={"text": "Is she"}))[0] == 204
    assert (await ask_draft(used, "PUT", body={"text": "Is she on warfarin?"}))[0] == 204
    assert await ask_draft(used, "GET") == (200, {"text": "Is she on warfarin?"})
    assert (await ask_draft(used, "PUT", body={"text": ""}))[0] == 204
    assert await ask_draft(used, "GET") == (200, {"text": ""})


async def test_nobody_else_reads_it_nor_anyone_once_the_chart_is_closed(used: Server) -> None:
    await ask_draft(used, "PUT", body={"text": "mine"})
    assert (await ask_draft(used, "GET", who=BEN))[0] == 404
    assert (await ask_draft(used, "GET", path=DRAFT.replace("patient_4", "patient_5")))[0] == 404
    reader = used.context.reader
    assert isinstance(reader, FakeReader)
    reader.closed.add("patient_4")
    assert (await ask_draft(used, "GET"))[0] == 403
    assert (await ask_draft(used, "PUT", body={"text": "more"}))[0] == 403
    reader.closed.clear()
    assert await ask_draft(used, "GET") == (200, {"text": "mine"})


@pytest.mark.parametrize(
    ("body", "status"), [({}, 400), ([], 400), ({"text": 4}, 400), ({"text": "x" * 16_001}, 413)]
)
async def test_what_is_no_draft_is_refused_with_why(used: Server, body: Any, status: int) -> None:
    found, problem = await ask_draft(used, "PUT", body=body)
    assert (found, bool(problem["detail"])) == (status, True)
    assert (await ask_draft(used, "GET", path="/api/chats/chat_1/draft"))[0] == 400


async def test_after_seven_days_it_is_gone() -> None:
    scheduler = FakeScheduler(clock=SystemClock(), ids=CountingIds())
    scheduler.owners["chat_1"] = "ada"
    store, clock = MemoryBlobStore(), FixedClock(BLOBS_BEGIN)
    reader = FakeReader(scheduler=scheduler, ids=CountingIds(), clock=clock)
    drafts = Drafts(reader=reader, store=store)
    await drafts.write(OwnedChat("chat_1", "ada", "patient_4"), "Is she")
    assert list(store.contents) == [f"drafts/{hashed('ada')}/patient_4.json"]
    clock.advance(timedelta(days=KEPT_DAYS - 1).total_seconds())
    assert (await drafts.read(OwnedChat("chat_1", "ada", "patient_4"))).text == "Is she"
    clock.advance(timedelta(days=1.1).total_seconds())
    assert (await drafts.read(OwnedChat("chat_1", "ada", "patient_4"))).text == ""
    assert list(store.contents) == []
    await scheduler.close()
