"""What the recording model does with tools that ask the user: it books, writes letters, lists."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from tests.fakes_openai import RecordedRequest, Reply, ToolCall

BOOK, LIST = "book a time", "show my appointments"
WRITE, SEND = "write a mail", "send it"
_ASKS = re.compile(rf"@(?:AppointmentManager|Secretary) ({BOOK}|{LIST}|{WRITE}|{SEND})")
_Results: TypeAlias = Sequence[Mapping[str, Any]]
_Canary: TypeAlias = Callable[[], str]
_Arguments: TypeAlias = Callable[[_Results, _Canary], dict[str, Any]]


def _slot(results: _Results, canary: _Canary) -> dict[str, Any]:
    slots = results[0].get("slots") or [{"slot_id": "none is left"}]
    return {"slot_id": slots[0]["slot_id"], "reason": canary()}


def _letter(_: _Results, canary: _Canary) -> dict[str, Any]:
    return {"to": ["a@b.example"], "title": f"Letter {canary()}", "text": canary()}


_STEPS: Mapping[str, Sequence[tuple[str, _Arguments]]] = {
    BOOK: (
        ("available_slots", lambda *_: {"doctor": "Smith", "day": "tomorrow"}),
        ("book_appointment", _slot),
    ),
    WRITE: (("draft_mail", _letter),),
    SEND: (("send_mail", lambda *_: {"mail_id": ""}),),
    LIST: (("list_appointments", lambda *_: {}),),
}


def looked_up(row: Mapping[str, Any]) -> bool:
    """Whether the server fetched a tool's rows before it asked the model."""
    return str(row.get("tool_call_id", "")).startswith("look_up")


def asking(request: RecordedRequest, canary: _Canary) -> Reply | None:
    """Return the next step towards a question to the user; None if the message asks for none.

    What is booked and written carries canaries, so that back ends hold every patient's words.
    """
    wanted = _ASKS.search(request.said)
    if wanted is None:
        return None
    results = [
        orjson.loads(row["content"])
        for row in request.messages
        if row["role"] == "tool" and not looked_up(row)
    ]
    steps = _STEPS[wanted[1]][len(results) :]
    if not steps:
        return Reply(text="As you wish.")
    name, arguments = steps[0]
    offered = [one for one in request.tool_names if one.rpartition("-")[2] == name]
    calls = [ToolCall(one, arguments(results, canary)) for one in offered]
    return Reply(tool_calls=calls) if calls else Reply(text="That is not mine to do.")
