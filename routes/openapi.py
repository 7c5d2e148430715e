"""`GET /api/openapi.json`: what this server answers, for people and for tools."""

from typing import Any, TypeAlias

from aiohttp import web

from data_models.chat_context import Turn
from routes.branches import BranchRequest, branch_paths
from routes.chat_list import chat_list_paths, chat_list_schemas
from routes.drafts import draft_paths
from routes.export import WORD_TYPE
from routes.feedback import feedback_paths, feedback_schemas
from routes.openapi_attachments import attachment_paths, attachment_schemas
from routes.openapi_memory import memory_paths, memory_schemas
from routes.openapi_operator import operator_paths, operator_schemas
from routes.openapi_rounds import round_paths, round_schemas
from routes.patients import patient_paths
from routes.rates import READS, UNCOUNTED
from routes.replies import json_reply
from routes.speech import speech_paths
from routes.user import user_paths
from routes.worklist import worklist_paths, worklist_schemas
from services.records.views.source import SourceText
from services.views.chart_parts import PARTS
from services.views.conversation_view import ConversationView, Progress
from services.views.patient_directory import Demographics
from services.views.patient_finder import FoundPatients

# Shapes of requests and answers, as JSON Schema, where no model says them.


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
        dictation={"type": "boolean"},
    ),
    "Restored": _of(chat_id={"type": "string"}, documents={"type": "integer"}),
    "Stopped": _of(stopped={"type": "boolean"}),
    "RunAgentInput": _of(
        threadId={"type": "string", "minLength": 1},
        runId={"type": "string", "minLength": 1, "maxLength": 200},
        messages={"type": "array", "items": _OBJECT},
    ),
}


Json: TypeAlias = dict[str, Any]
_REFUSALS = {"400": "The request is malformed.", "401": "Nobody is signed in."}
_OF_A_CHAT = {**_REFUSALS, "404": "Absent, malformed or not yours: one answer for all three."}


def _body(schema: Json | str, media_type: str = "application/json") -> Json:
    full = {"$ref": f"#/components/schemas/{schema}"} if isinstance(schema, str) else schema
    return {media_type: {"schema": full}}


def _operation(
    name: str,
    summary: str,
    *answers: tuple[str, str, Json],
    refusals: Json | None = None,
    parameters: tuple[Json, ...] = (),
    **more: Any,
) -> Json:
    responses: Json = {
        status: {"description": text, **({"content": content} if content else {})}
        for status, text, content in answers
    }
    for status, text in (refusals or {}).items():
        content = _body("Problem", "application/problem+json")
        responses[status] = {"description": text, "content": content}
    operation = {"operationId": name, "summary": summary, "responses": responses, **more}
    return {**operation, "parameters": list(parameters)} if parameters else operation


def _in_path(name: str, text: str) -> Json:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": text, "schema": schema}


def _in_query(name: str, text: str, schema: Json | None = None, *, required: bool = False) -> Json:
    given = schema or {"type": "string", "minLength": 1}
    found: Json = {"name": name, "in": "query", "required": required, "description": text}
    return found | {"schema": given}


_CHAT = _in_path("chat_id", "Id of the conversation, as issued by the server.")
_PATIENT = _in_query("patient_id", "Whose history; unset: the active patient; `session`: nobody's.")
_NUMBER = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_OPEN: Json = {"security": []}


def _chats() -> Json:
    shown = _operation(
        "showChat", "Active patient, roster, plan, question and running turn",
        ("200", "The state.", _body("ConversationView")), refusals=_OF_A_CHAT, parameters=(_CHAT,),
    )  # fmt: skip
    progress = _operation(
        "showProgress", "Which run goes on and which ended last",
        ("200", "Ids of runs.", _body("Progress")), refusals=_OF_A_CHAT, parameters=(_CHAT,),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}": {"get": shown},
        "/api/chats/{chat_id}/progress": {"get": progress},
    }


def _history() -> Json:
    before = _in_query("before", "`next_before` of the page that was read last.", _NUMBER)
    limit = _in_query("limit", "Turns on a page.", {**_NUMBER, "minimum": 1, "maximum": 200})
    messages = _operation(
        "showMessages", "Turns of one patient, oldest first", ("200", "A page.", _body("Turns")),
        refusals=_OF_A_CHAT, parameters=(_CHAT, _PATIENT, before, limit),
    )  # fmt: skip
    forms = {"enum": ["md", "json", "docx"], "default": "md"}
    form = _in_query("format", "Form of the file.", forms)
    content = _body({"type": "string"}, "text/markdown") | _body({"type": "object"})
    content |= _body({"type": "string", "format": "binary"}, WORD_TYPE)
    exported = _operation(
        "exportChat", "One patient's whole history as a file", ("200", "The file.", content),
        refusals=_OF_A_CHAT, parameters=(_CHAT, _PATIENT, form),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/messages": {"get": messages},
        "/api/chats/{chat_id}/export": {"get": exported},
    }


def _of_one_patient() -> Json:
    patient = _in_path("patient_id", "A patient of this conversation.")
    demographics = _operation(
        "showPatient", "Who a patient is", ("200", "Name and birth date.", _body("Demographics")),
        refusals=_OF_A_CHAT, parameters=(_CHAT, patient),
    )  # fmt: skip
    whose = _in_query("patient_id", "Whose record it is in.", required=True)
    ref = _in_query("ref", "Source id, such as `DocumentReference/note-1`.", required=True)
    source = _operation(
        "showSource", "What an answer cites", ("200", "The text.", _body("SourceText")),
        refusals=_OF_A_CHAT, parameters=(_CHAT, whose, ref),
    )  # fmt: skip
    part = _in_query("part", "Which part.", {"enum": list(PARTS), "default": "summary"})
    name = _in_query("name", "With `part=results`: the values of one thing over time.")
    chart = _operation(
        "showChart", "A part of a chart", ("200", "Its rows.", _body("ChartPart")),
        refusals=_OF_A_CHAT, parameters=(_CHAT, whose, part, name),
    )  # fmt: skip
    file, file_id = _body(_TEXT, "application/octet-stream"), _in_path("artifact_id", "Its id.")
    artifact = _operation(
        "showArtifact", "A file that an agent made", ("200", "The file.", file),
        refusals=_OF_A_CHAT, parameters=(_CHAT, file_id, whose),
    )  # fmt: skip
    bundle, run = _body(_OBJECT, "application/fhir+json"), _in_path("run_id", "Of the turn.")
    receipt = _operation(
        "showReceipt", "What a turn read, said and did", ("200", "A FHIR Bundle.", bundle),
        refusals=_OF_A_CHAT, parameters=(_CHAT, run, _PATIENT),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/runs/{run_id}/receipt": {"get": receipt},
        "/api/chats/{chat_id}/sources": {"get": source},
        "/api/chats/{chat_id}/chart": {"get": chart},
        "/api/chats/{chat_id}/patients/{patient_id}": {"get": demographics},
        "/api/chats/{chat_id}/artifacts/{artifact_id}": {"get": artifact},
    }


def _turns() -> Json:
    stopped = _operation(
        "stopTurn", "Cancel the running turn", ("200", "Whether one ran.", _body("Stopped")),
        refusals=_OF_A_CHAT, parameters=(_CHAT, _in_query("run_id", "Stop only this run.")),
    )  # fmt: skip
    restored = _operation(
        "undoClear", "Bring back what the caller cleared in the last 24 hours",
        ("200", "How many documents are back.", _body("Restored")), parameters=(_CHAT,),
        refusals={**_OF_A_CHAT, "409": "The caller cleared nothing that could be undone."},
    )  # fmt: skip
    stream = _in_query("stream", "`1`: AG-UI events instead of whole messages.", {"enum": ["1"]})
    resumed = _in_query("run", "With `stream=1`: a run to go on watching.")
    after = _in_query("after", "With `run`: `metadata.seq` of the last event received.", _NUMBER)
    socket = _operation(
        "chatSocket", "WebSocket: messages in, whole messages or AG-UI events out",
        ("101", "The socket is open.", {}), refusals={**_OF_A_CHAT, "429": "Too many sockets."},
        parameters=(_CHAT, stream, resumed, after),
    )  # fmt: skip
    events = _body({"type": "string"}, "text/event-stream")
    refused = {**_OF_A_CHAT, "409": "A stale answer.", "413": "Too long.", "429": "Too many."}
    ag_ui = _operation(
        "runAgent", "A turn as AG-UI events", ("200", "Server-sent events.", events),
        refusals=refused, requestBody={"required": True, "content": _body("RunAgentInput")},
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/stop": {"post": stopped},
        "/api/chats/{chat_id}/restore": {"post": restored},
        "/api/ws/chats/{chat_id}/messages": {"get": socket},
        "/api/ag-ui": {"post": ag_ui},
    }


def _about_the_server() -> Json:
    shown = ("200", "A page.", _body({"type": "string"}, "text/html"))
    text = _body({"type": "string"}, "text/plain")
    hidden: tuple[str, str, Json] = ("401", "A token is set, and not this one.", {})
    figures = ("200", "Figures.", text)
    states = _body({"type": "object", "additionalProperties": {"type": "string"}})
    unready = ("503", "Something is not reachable.", states)
    asset = _operation(
        "showAsset", "A file of the web client", ("200", "The file.", {}),
        ("404", "No such file.", {}), parameters=(_in_path("name", "File name."),), **_OPEN,
    )  # fmt: skip
    worker = _operation(
        "showWorker", "Lets the page open without a connection", ("200", "A script.", {}),
        ("404", "The page is not built.", {}), **_OPEN,
    )  # fmt: skip
    agents = ("200", "Names.", _body("Agents"))
    session = ("200", "The session.", _body("Session"))
    return {
        "/": {"get": _operation("showPage", "The web client", shown, **_OPEN)},
        "/operator": {"get": _operation("showOperatorPage", "For operators", shown, **_OPEN)},
        **user_paths(),
        "/worker.js": {"get": worker},
        "/assets/{name}": {"get": asset},
        "/healthz": {"get": _operation("healthz", "It lives", ("200", "Yes.", states), **_OPEN)},
        "/readyz": {
            "get": _operation("readyz", "It can work", ("200", "Yes.", states), unready, **_OPEN)
        },
        "/metrics": {"get": _operation("metrics", "For Prometheus", figures, hidden, **_OPEN)},
        "/api/openapi.json": {
            "get": _operation("showOpenapi", "This", ("200", "It.", _body({"type": "object"})))
        },
        "/api/agents": {"get": _operation("listAgents", "The team", agents, refusals=_REFUSALS)},
        "/api/session": {
            "get": _operation("showSession", "Caller and team", session, refusals=_REFUSALS)
        },
    }


def _models() -> Json:
    found: Json = {}
    for model in (
        BranchRequest,
        Demographics,
        FoundPatients,
        Turn,
        ConversationView,
        Progress,
        SourceText,
    ):
        schema = model.model_json_schema(
            ref_template="#/components/schemas/{model}", mode="serialization"
        )
        found |= schema.pop("$defs", {}) | {model.__name__: schema}
    return found


def document() -> Json:
    """Return the OpenAPI 3.1 description of every route."""
    paths = {**_about_the_server(), **_chats(), **_history(), **_of_one_patient(), **_turns()}
    paths |= speech_paths() | patient_paths() | memory_paths() | round_paths() | operator_paths()
    paths |= attachment_paths() | draft_paths() | worklist_paths() | branch_paths()
    paths |= feedback_paths()
    for path, operations in chat_list_paths().items():
        paths[path] = {**paths.get(path, {}), **operations}
    _say_what_is_counted(paths)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rounds",
            "version": "1",
            "description": "A clinical multi-agent chat. Errors are RFC 9457 problems.",
        },
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {
                **(SCHEMAS | _models() | memory_schemas() | feedback_schemas()),
                **chat_list_schemas(),
                **(attachment_schemas() | round_schemas() | operator_schemas()),
                **worklist_schemas(),
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _say_what_is_counted(paths: Json) -> None:
    refusal = {
        "description": "Too many messages and changes in a minute.",
        "content": _body("Problem", "application/problem+json"),
        "headers": {"Retry-After": {"schema": {"type": "string"}}},
    }
    for path, operations in paths.items():
        for method, operation in operations.items():
            if method.upper() not in READS and path not in UNCOUNTED:
                operation["responses"]["429"] = refusal


async def show_openapi(_: web.Request) -> web.Response:
    """Return the description."""
    return json_reply(document())
