"""A clinician's scheduler: entities of every kind, asked through the same door as the command."""

from datetime import datetime
from typing import Any

from data_models.tool_memory import ToolMemory
from evals.parts.references import CaseFile, answers
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds, FixedClock

NOW = "2026-11-24T10:00:00Z"  # a Tuesday
Answer = str | list[str] | None


def entity(entity_id: str, kind: str, name: str, turn: int, **data: Any) -> dict[str, Any]:
    return {"id": entity_id, "type": kind, "name": name, "turn": turn, "data": data}


def event(entity_id: str, name: str, start: str, turn: int = 1, **data: Any) -> dict[str, Any]:
    return entity(entity_id, "calendar_event", name, turn, start=start, **data)


GONE = {**event("evt_9", "Gone meeting", "2026-11-25T09:00:00Z", 5), "status": "deleted"}
STALE = {**event("evt_10", "Stale handover", "2026-11-25T07:00:00Z", 5), "status": "expired"}
FOREIGN = {**event("evt_8", "Foreign huddle", "2026-11-25T08:00:00Z", 5), "session": "patient_15"}
ANNA = {"emailAddress": {"name": "Anna Schmidt", "address": "anna@h.org"}}
SCHEDULER = [
    event("evt_1", "Dentist appointment", "2026-11-25T15:00:00Z", 1),
    event("evt_2", "Lunch with Bob", "2026-11-25T12:00:00Z", 2),
    event(
        "evt_3",
        "Tumor board",
        "2026-11-27T15:00:00Z",
        3,
        attendees=[ANNA],
        end="2026-11-27T15:30:00Z",
    ),
    event("evt_4", "All hands", "2026-12-03T09:00:00Z"),
    event("evt_5", "Do not disturb block", "2026-12-04T09:00:00Z"),
    event("evt_6", "First aid training", "2026-12-05T09:00:00Z"),
    event("evt_7", "Standup", "2026-11-27T08:00:00Z", 2),
    entity("con_1", "contact", "Mary Klein", 1, email="mary.klein@h.org"),
    entity("tsk_1", "task", "Call the lab", 1, due="2026-11-30"),
    entity(
        "em_1",
        "email",
        "Budget review Q3",
        2,
        **{"from": "Carol Jones <carol@x.org>", "received": "2026-11-20T09:00:00Z"},
    ),
    entity(
        "em_2", "email", "Radiology rota", 4, **{"from": "Dave", "received": "2026-11-22T09:00:00Z"}
    ),
    entity("doc_1", "document", "Discharge summary", 1),
    GONE,
    STALE,
    FOREIGN,
]


def ask(
    message: str,
    *,
    focus: str | None = None,
    shown: list[str] | None = None,
    given: dict[str, Any] | None = None,
    entities: list[dict[str, Any]] | None = None,
    now: str = NOW,
) -> Answer:
    """Return the one id, the candidates sorted, or None."""
    case = {
        "id": "case",
        "context": {
            "now": now,
            "session": "patient_4",
            "turn": 6,
            "focus": focus,
            "last_list": shown or [],
        },
        "entities": [
            {"session": "patient_4", "status": "active", "access_count": 0, **one}
            for one in (SCHEDULER if entities is None else entities)
        ],
        "message": message,
        "parameters": given or {},
    }
    found = answers(CaseFile.model_validate({"cases": [case]}))["results"]["case"]
    return sorted(found["ambiguous"]) if "ambiguous" in found else found["id"]


def session_of(
    memory: ToolMemory | None = None,
    *,
    now: datetime | None = None,
    text: str = "go",
    principal: str = "",
    **more: Any,
) -> ToolMemorySession:
    """Return the tool memory of a turn in which `principal` writes `text`."""
    now = now or FixedClock().now()
    store = ToolEntityStore(
        memory=ToolMemory() if memory is None else memory,
        limits=ToolMemoryLimits(),
        now=now,
        principal=principal,
    )
    given: dict[str, Any] = {"turn_id": 1, "roster": frozenset(), "ids": CountingIds(), **more}
    return ToolMemorySession(store=store, user_text=text, now=now, **given)


def run_of(data: Any, *, tool: str = "list_events", error: str | None = None) -> FinishedRun:
    """Return a run of one of the secretary's tools."""
    return FinishedRun(tool, "Secretary", {}, data, error, 1.0)
