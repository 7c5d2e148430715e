"""Shapes of requests and answers, as JSON Schema, where no model says them."""

from typing import Any


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_OBJECT = {"type": "object"}
_KIND = {"enum": ["language_model", "offline"]}

SCHEMAS: dict[str, Any] = {
    "Problem": _of(
        type=_TEXT,
        title=_TEXT,
        status={"type": "integer"},
        detail=_TEXT,
        error=_TEXT,
        code=_TEXT,
        ref=_TEXT,
    ),
    "NewChat": _of(chat_id=_TEXT),
    "Chats": _of(chats={"type": "array", "items": _ref("ConversationSummary")}),
    "Turns": _of(
        turns={"type": "array", "items": _ref("Turn")},
        patient_id={"type": ["string", "null"]},
        next_before={"type": ["integer", "null"]},
    ),
    "ChartPart": _of(
        view_id=_TEXT,
        patient_id=_TEXT,
        kind=_TEXT,
        title=_TEXT,
        rows={"type": "array", "items": _OBJECT},
        sources={"type": "array", "items": _OBJECT},
    ),
    "Agents": _of(agents={"type": "array", "items": _TEXT}, error=_TEXT_OR_NULL),
    "Agent": _of(name=_TEXT, description=_TEXT, is_facilitator={"type": "boolean"}),
    "Session": _of(
        principal=_of(id=_TEXT, name=_TEXT),
        agents={"type": "array", "items": _ref("Agent")},
        model_kind=_KIND,
        patient_id_example=_TEXT,
        link_hosts={"type": "array", "items": _TEXT},
    ),
    "Restored": _of(chat_id={"type": "string"}, documents={"type": "integer"}),
    "Stopped": _of(stopped={"type": "boolean"}),
    "RunAgentInput": _of(
        threadId={"type": "string", "minLength": 1},
        runId={"type": "string", "minLength": 1, "maxLength": 200},
        messages={"type": "array", "items": _OBJECT},
    ),
}
