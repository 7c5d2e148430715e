"""What `/api/rounds` answers, for `GET /api/openapi.json`."""

from typing import Any, TypeAlias

from pydantic import BaseModel

from routes.rounds import Acceptance, NewNote, NewRound, NewSignOut, Tick
from services.rounds.round_view import RoundCard, RoundSummary, RoundView

Json: TypeAlias = dict[str, Any]
_REF = "#/components/schemas/{model}"
_TEXT = {"type": "string", "minLength": 1}
_REFUSALS = {
    "400": "The request is malformed, or an entry is not one patient's; the text says which.",
    "401": "Nobody is signed in.",
    "403": "The chart is not open to the caller, or to the colleague.",
    "404": "Absent, malformed or not yours: one answer for all three.",
    "409": "A stored document cannot be read.",
}
_PATIENT = "/api/rounds/{round_id}/patients/{patient_id}"


def round_paths() -> Json:
    """Return the paths of rounds."""
    listed: Json = {"type": "object", "required": ["rounds"]}
    listed |= {"properties": {"rounds": {"type": "array", "items": _schema("RoundSummary")}}}
    language: Json = {
        "name": "lang", "in": "query", "required": False, "schema": {"enum": ["en", "de"]},
    }  # fmt: skip
    page = {"text/html": {"schema": {"type": "string"}}}
    printed = _operation("printRound", "The ward list as a page to print", page)
    style = {"text/css": {"schema": {"type": "string"}}}
    found: Json = {
        "/api/rounds": {
            "get": _operation("listRounds", "The caller's lists, newest first", _json(listed)),
            "post": _operation(
                "createRound",
                "Prepare a list of patients, by name or of a day, in the background",
                _json(_schema("RoundSummary")),
                status="201",
                body="NewRound",
            ),
        },
        "/api/rounds/{round_id}": {
            "get": _operation(
                "showRound", "Who is on it, how far it is", _json(_schema("RoundView"))
            )
        },
        "/api/rounds/{round_id}/print": {"get": {**printed, "parameters": [language]}},
        "/print.css": {
            "get": {
                "operationId": "printStyle",
                "summary": "How the ward list looks on paper",
                "security": [],
                "responses": {"200": {"description": "A style sheet.", "content": style}},
            }
        },
        _PATIENT: {
            "get": _operation("showRoundCard", "One patient's card", _json(_schema("RoundCard")))
        },
        **_deeds(),
    }
    return _with_parameters(found)


def _with_parameters(paths: Json) -> Json:
    for path, operations in paths.items():
        names = [name for name in ("round_id", "patient_id") if f"{{{name}}}" in path]
        in_path = [
            {"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names
        ]
        for operation in operations.values():
            given = [*in_path, *operation.get("parameters", ())]
            if given:
                operation["parameters"] = given
    return paths


def round_schemas() -> Json:
    """Return the models that the paths name."""
    found: Json = {}
    shown: tuple[type[BaseModel], ...] = (RoundSummary, RoundView, RoundCard)
    for model in shown:
        schema = _described(model, "serialization")
        found |= schema.pop("$defs", {}) | {model.__name__: schema}
    part = {
        "type": "object",
        "required": ["part", "view"],
        "properties": {
            "part": {"type": "string"},
            "view": {"$ref": _REF.format(model="ChartPart")},
        },
    }
    found["RoundCard"]["properties"]["parts"] = {"type": "array", "items": part}
    sent: tuple[type[BaseModel], ...] = (NewRound, Tick, NewNote, NewSignOut, Acceptance)
    for model in sent:
        found[model.__name__] = _described(model, "validation")
    return found


def _deeds() -> Json:
    return {
        f"{_PATIENT}/{word}": {"post": _operation(name, text, None, status="204", body=body)}
        for word, name, text, body in (
            ("tick", "tickPatient", "Tick a patient off, or take that back", "Tick"),
            ("note", "notePatient", "Add a note", "NewNote"),
            ("hand-over", "handOverPatient", "Hand over to a colleague (I-PASS)", "NewSignOut"),
            ("accept", "acceptPatient", "Take over, with a synthesis", "Acceptance"),
            ("prepare", "preparePatient", "Prepare once more", None),
        )
    }


def _operation(
    name: str, summary: str, content: Json | None, *, status: str = "200", body: str | None = None
) -> Json:
    problem = {"application/problem+json": {"schema": _schema("Problem")}}
    responses: Json = {status: {"description": "Done."}}
    if content is not None:
        responses[status]["content"] = content
    for code, text in _REFUSALS.items():
        responses[code] = {"description": text, "content": problem}
    found: Json = {"operationId": name, "summary": summary, "responses": responses}
    if body is not None:
        found["requestBody"] = {"required": True, "content": _json(_schema(body))}
    return found


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _described(model: type[BaseModel], mode: Any) -> Json:
    return model.model_json_schema(ref_template=_REF, mode=mode)
