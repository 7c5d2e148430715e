"""A scripted model that books appointments as a capable one does: by typed calls, never by text."""

import re
from typing import Any

import orjson

from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer

_MARK = "ENTITIES_JSON: "
_DOCTOR = re.compile(r"Dr\. [A-Z][a-z]+")
_HOUR = re.compile(r"(?:at|actually) ([1-6])\b")
_REASON = re.compile(r"about my ([a-z]+)")


def booking_brain(request: RecordedRequest) -> Reply:
    """Answer for whichever agent is asked."""
    if "response_format" in request.body:
        return Reply(text=structured_answer(request.body))
    tools = {name.rpartition("-")[2]: name for name in request.tool_names}
    if "book_appointment" in tools:
        return _booking(request, tools)
    if "insurance_eligibility" in tools:
        return _scheduler(request, tools)
    return Reply(text="Noted.")


def shown_entities(request: RecordedRequest) -> dict[str, Any]:
    """What the agent of `request` was shown."""
    lines = [line for line in request.asked.splitlines() if line.startswith(_MARK)]
    empty: dict[str, Any] = {"entities": {}, "derived_entities": {}}
    return dict(orjson.loads(lines[-1].removeprefix(_MARK))) if lines else empty


def _booking(request: RecordedRequest, tools: dict[str, str]) -> Reply:
    asked, results = request.said, _results(request)
    known = shown_entities(request)
    if "show my appointments" in asked:
        rows = [row["start"] for row in results[-1].get("appointments", ())] if results else []
        said = "\n".join(f"- {row}" for row in rows)
        return Reply(text=said) if results else _call(tools, "list_appointments")
    proposal = known["derived_entities"].get("appointment_proposal")
    if "book it" in asked and proposal is not None and not results:
        return _call(tools, "book_appointment", slot_id=proposal["slot_id"])
    wishes = {**known["entities"], **_read(asked)}
    if not results:
        return _call(tools, "update_entities", entities_to_update=_read(asked))
    if "proposal" in results[-1]:
        return Reply(text="I propose that time.")
    if results[-1].get("wanted_time_is_free"):
        slot_id = results[-1]["slots"][0]["slot_id"]
        reason = wishes.get("reason_visit", "")
        return _call(tools, "book_appointment", slot_id=slot_id, reason=reason)
    if "slots" in results[-1]:
        return Reply(text="That time is taken. Which other time suits you?")
    missing = [one for one in ("doctor", "date", "time") if f"{one}_preference" not in wishes]
    if missing:
        return Reply(text=f"Which {missing[0]} suits you?")
    names = {"doctor": "doctor_preference", "day": "date_preference", "time": "time_preference"}
    return _call(tools, "available_slots", **{key: wishes[name] for key, name in names.items()})


def _scheduler(request: RecordedRequest, tools: dict[str, str]) -> Reply:
    results, asked = _results(request), request.said
    if "register" in asked and not results:
        born = asked.rpartition(" ")[2]
        known = {"name": "Ada Leeward", "birth_date": born}
        return Reply(text=None, tool_calls=[ToolCall(tools["register_person"], known)])
    if not results:
        return _call(tools, "insurance_eligibility")
    if "proposal" in results[-1]:
        return Reply(text="I propose to register this person.")
    return Reply(text=f"Covered: {results[-1].get('eligible')}.")


def _read(asked: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if (doctor := _DOCTOR.search(asked)) is not None:
        found["doctor_preference"] = doctor[0]
    if "tomorrow" in asked:
        found["date_preference"] = "tomorrow"
    if (hour := _HOUR.search(asked)) is not None:
        found["time_preference"] = f"{int(hour[1]) + 12}:00"
    if (reason := _REASON.search(asked)) is not None:
        found["reason_visit"] = reason[1]
    return found


def _results(request: RecordedRequest) -> list[dict[str, Any]]:
    """The results of this message's calls so far, oldest first."""
    return [orjson.loads(one["content"]) for one in request.messages if one["role"] == "tool"]


def _call(tools: dict[str, str], name: str, **arguments: Any) -> Reply:
    return Reply(text=None, tool_calls=[ToolCall(tools[name], arguments)])
