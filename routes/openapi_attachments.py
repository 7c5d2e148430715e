"""What `/api/chats/{chat_id}/attachments` answers, for `GET /api/openapi.json`."""

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from services.attachments.whose_paper import Whose

Json: TypeAlias = dict[str, Any]
_REFUSALS: Mapping[str, str] = {
    "400": "It cannot be read, is too large, or names another patient; the text says which.",
    "401": "Nobody is signed in.",
    "404": "Absent, malformed or not yours: one answer for all three.",
    "409": "A turn runs for too long.",
}
_TEXT: Json = {"type": "string", "minLength": 1}
_WHOSE: Json = {"enum": list(get_args(Whose))}
_BINARY: Json = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_PATIENT: Json = {"name": "patient_id", "in": "query", "required": True, "schema": _TEXT}


def attachment_paths() -> Json:
    """Return the paths of a patient's papers."""
    chat = _parameter("chat_id", "path")
    one = _parameter("attachment_id", "path")
    adding = [
        chat,
        _parameter("X-Patient-Id", "header"),
        _parameter("X-File-Name", "header"),
        {"name": "confirmed", "in": "query", "required": False, "schema": {"enum": ["true"]}},
    ]
    listed = _of({"attachments": {"type": "array", "items": _schema("Attachment")}})
    path = "/api/chats/{chat_id}/attachments"
    added = {
        "operationId": "addAttachment",
        "summary": "Read a paper; with `confirmed=true` keep it with the patient",
        "parameters": adding,
        "requestBody": {"required": True, "content": _BINARY},
        "responses": {
            "200": _answer("Read; the user has to confirm that it is the patient's.", "PaperRead"),
            "201": _answer("Kept with the patient.", "PaperRead"),
            **_refusals("400", "401", "404", "409"),
        },
    }
    shown = {
        "operationId": "listAttachments",
        "summary": "The papers of a patient",
        "parameters": [chat, _PATIENT],
        "responses": {
            "200": {"description": "The papers.", "content": {"application/json": listed}},
            **_refusals("401", "404"),
        },
    }
    opened = {
        "operationId": "showAttachment",
        "summary": "A paper as it was given",
        "parameters": [chat, one, _PATIENT],
        "responses": {
            "200": {"description": "The file.", "content": _BINARY},
            **_refusals("401", "404"),
        },
    }
    removed = {
        "operationId": "removeAttachment",
        "summary": "Take a paper away",
        "parameters": [chat, one, _PATIENT],
        "responses": {"204": {"description": "It is gone."}, **_refusals("401", "404", "409")},
    }
    return {
        path: {"post": added, "get": shown},
        f"{path}/{{attachment_id}}": {"get": opened, "delete": removed},
    }


def attachment_schemas() -> Json:
    """Return the shapes that the paths name."""
    number: Json = {"type": "integer"}
    row = _properties(
        attachment_id=_TEXT, ref=_TEXT, file_name=_TEXT, media_type={"type": "string"},
        size_bytes=number, pages=number, gap={"type": "string"}, added_at=_TEXT,
    )  # fmt: skip
    read = _properties(
        whose=_WHOSE, pages=number, gap={"type": "string"},
        attachment={"anyOf": [_schema("Attachment"), {"type": "null"}]},
    )  # fmt: skip
    return {"Attachment": row, "PaperRead": read}


def _parameter(name: str, place: str) -> Json:
    return {"name": name, "in": place, "required": True, "schema": _TEXT}


def _properties(**properties: Json) -> Json:
    return {"type": "object", "required": list(properties), "properties": properties}


def _of(properties: Json) -> Json:
    return {"schema": _properties(**properties)}


def _answer(text: str, schema: str) -> Json:
    return {"description": text, "content": {"application/json": {"schema": _schema(schema)}}}


def _refusals(*statuses: str) -> Json:
    content = {"application/problem+json": {"schema": _schema("Problem")}}
    return {one: {"description": _REFUSALS[one], "content": content} for one in statuses}


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}
