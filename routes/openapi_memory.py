"""What `/api/chats/{chat_id}/memory` answers, for `GET /api/openapi.json`."""

from typing import Any, TypeAlias

from services.memory_edits.operations import MemoryPatch
from services.memory_edits.view import MemoryView

Json: TypeAlias = dict[str, Any]
_REF = "#/components/schemas/{model}"
_REFUSALS = {
    "400": "The body is malformed, or the revision is missing.",
    "401": "Nobody is signed in.",
    "404": "Absent, malformed or not yours: one answer for all three.",
    "409": "An item is not as it was, or a turn runs for too long.",
    "412": "The memory changed since it was read.",
}
_TEXT = {"type": "string", "minLength": 1}


def memory_paths() -> Json:
    """Return the path of a patient's memory."""
    parameters = [
        {"name": "chat_id", "in": "path", "required": True, "schema": _TEXT},
        {
            "name": "patient_id",
            "in": "query",
            "required": False,
            "description": "Whose memory; unset: the active patient's; `session`: nobody's.",
            "schema": _TEXT,
        },
    ]
    shown = {
        "operationId": "showMemory",
        "summary": "Memory blocks, entities and tool memory of one patient, with sources",
        "parameters": parameters,
        "responses": _answers("400", "401", "404"),
    }
    changed = {
        "operationId": "changeMemory",
        "summary": "Correct, retire, restore or undo; all operations or none",
        "parameters": [
            *parameters,
            {"name": "If-Match", "in": "header", "required": False, "schema": _TEXT},
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _schema("MemoryPatch")}},
        },
        "responses": _answers(*_REFUSALS),
    }
    return {"/api/chats/{chat_id}/memory": {"get": shown, "patch": changed}}


def memory_schemas() -> Json:
    """Return the models that the path names."""
    sent = MemoryPatch.model_json_schema(ref_template=_REF, mode="validation")
    answered = MemoryView.model_json_schema(ref_template=_REF, mode="serialization")
    found = sent.pop("$defs", {}) | answered.pop("$defs", {})
    return {**found, "MemoryPatch": sent, "MemoryView": answered}


def _answers(*refusals: str) -> Json:
    shown = {
        "description": "The memory as it stands.",
        "headers": {"ETag": {"description": "The revision.", "schema": _TEXT}},
        "content": {"application/json": {"schema": _schema("MemoryView")}},
    }
    problem = {"application/problem+json": {"schema": _schema("Problem")}}
    return {
        "200": shown,
        **{code: {"description": _REFUSALS[code], "content": problem} for code in refusals},
    }


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}
