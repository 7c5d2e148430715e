"""The worklist over HTTP: each caller's own pins, open charts only."""

from datetime import UTC, datetime
from typing import Any

import pytest

from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.records.resources.entry import Entry
from tests.fakes import ClosedCharts, FixedClock
from tests.routes.conftest import ADA, BEN, Server, Start, make_worklist
from tests.routes.fakes import FakePeople

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
