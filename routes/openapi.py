"""`GET /api/openapi.json`: what this server answers, for people and for tools."""

from typing import Any

from aiohttp import web

from data_models.chat_context import Turn
from routes.attachments import attachment_paths, attachment_schemas
from routes.branches import BranchRequest, branch_paths
from routes.chat_list import chat_list_paths, chat_list_schemas
from routes.described import (
    CHAT,
    OBJECT,
    OPEN,
    Json,
    content,
    in_path,
    in_query,
    of,
    operation,
    refusals,
    rows,
    schemas_of,
)
from routes.drafts import draft_paths
from routes.export import WORD_TYPE
from routes.feedback import feedback_paths, feedback_schemas
from routes.memory import memory_paths, memory_schemas
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

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_KIND = {"enum": ["language_model", "offline"]}

SCHEMAS: dict[str, Any] = {
    "Problem": of(
        type=_TEXT,
        title=_TEXT,
        status={"type": "integer"},
        detail=_TEXT,
        error=_TEXT,
        code=_TEXT,
        ref=_TEXT,
    ),
    "NewChat": of(chat_id=_TEXT),
    "Turns": of(
        turns=rows("Turn"),
        patient_id={"type": ["string", "null"]},
        next_before={"type": ["integer", "null"]},
    ),
    "ChartPart": of(
        view_id=_TEXT,
        patient_id=_TEXT,
        kind=_TEXT,
        title=_TEXT,
        rows=rows(OBJECT),
        sources=rows(OBJECT),
    ),
    "Agents": of(agents=rows(_TEXT), error=_TEXT_OR_NULL),
    "Agent": of(name=_TEXT, description=_TEXT, is_facilitator={"type": "boolean"}),
    "Session": of(
        principal=of(id=_TEXT, name=_TEXT),
        agents=rows("Agent"),
        model_kind=_KIND,
        patient_id_example=_TEXT,
        link_hosts=rows(_TEXT),
        dictation={"type": "boolean"},
    ),
    "Restored": of(chat_id={"type": "string"}, documents={"type": "integer"}),
    "Stopped": of(stopped={"type": "boolean"}),
    "RunAgentInput": of(
        threadId={"type": "string", "minLength": 1},
        runId={"type": "string", "minLength": 1, "maxLength": 200},
        messages=rows(OBJECT),
    ),
}


_OF_A_CHAT = refusals("400", "401", "404")
_PATIENT = in_query("patient_id", "Whose history; unset: the active patient; `session`: nobody's.")
_NUMBER = {"type": "integer", "minimum": 0, "maximum": 999_999_999}


def _chats() -> Json:
    shown = operation(
        "showChat", "Active patient, roster, plan, question and running turn",
        ("200", "The state.", content("ConversationView")), refused=_OF_A_CHAT, parameters=(CHAT,),
    )  # fmt: skip
    progress = operation(
        "showProgress", "Which run goes on and which ended last",
        ("200", "Ids of runs.", content("Progress")), refused=_OF_A_CHAT, parameters=(CHAT,),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}": {"get": shown},
        "/api/chats/{chat_id}/progress": {"get": progress},
    }


def _history() -> Json:
    before = in_query("before", "`next_before` of the page that was read last.", _NUMBER)
    limit = in_query("limit", "Turns on a page.", {**_NUMBER, "minimum": 1, "maximum": 200})
    messages = operation(
        "showMessages", "Turns of one patient, oldest first", ("200", "A page.", content("Turns")),
        refused=_OF_A_CHAT, parameters=(CHAT, _PATIENT, before, limit),
    )  # fmt: skip
    forms = {"enum": ["md", "json", "docx"], "default": "md"}
    form = in_query("format", "Form of the file.", forms)
    file = content({"type": "string"}, "text/markdown") | content({"type": "object"})
    file |= content({"type": "string", "format": "binary"}, WORD_TYPE)
    exported = operation(
        "exportChat", "One patient's whole history as a file", ("200", "The file.", file),
        refused=_OF_A_CHAT, parameters=(CHAT, _PATIENT, form),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/messages": {"get": messages},
        "/api/chats/{chat_id}/export": {"get": exported},
    }


def _of_one_patient() -> Json:
    patient = in_path("patient_id", "A patient of this conversation.")
    demographics = operation(
        "showPatient", "Who a patient is", ("200", "Name and birth date.", content("Demographics")),
        refused=_OF_A_CHAT, parameters=(CHAT, patient),
    )  # fmt: skip
    whose = in_query("patient_id", "Whose record it is in.", required=True)
    ref = in_query("ref", "Source id, such as `DocumentReference/note-1`.", required=True)
    source = operation(
        "showSource", "What an answer cites", ("200", "The text.", content("SourceText")),
        refused=_OF_A_CHAT, parameters=(CHAT, whose, ref),
    )  # fmt: skip
    part = in_query("part", "Which part.", {"enum": list(PARTS), "default": "summary"})
    name = in_query("name", "With `part=results`: the values of one thing over time.")
    chart = operation(
        "showChart", "A part of a chart", ("200", "Its rows.", content("ChartPart")),
        refused=_OF_A_CHAT, parameters=(CHAT, whose, part, name),
    )  # fmt: skip
    file, file_id = content(_TEXT, "application/octet-stream"), in_path("artifact_id", "Its id.")
    artifact = operation(
        "showArtifact", "A file that an agent made", ("200", "The file.", file),
        refused=_OF_A_CHAT, parameters=(CHAT, file_id, whose),
    )  # fmt: skip
    bundle, run = content(OBJECT, "application/fhir+json"), in_path("run_id", "Of the turn.")
    receipt = operation(
        "showReceipt", "What a turn read, said and did", ("200", "A FHIR Bundle.", bundle),
        refused=_OF_A_CHAT, parameters=(CHAT, run, _PATIENT),
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/runs/{run_id}/receipt": {"get": receipt},
        "/api/chats/{chat_id}/sources": {"get": source},
        "/api/chats/{chat_id}/chart": {"get": chart},
        "/api/chats/{chat_id}/patients/{patient_id}": {"get": demographics},
        "/api/chats/{chat_id}/artifacts/{artifact_id}": {"get": artifact},
    }


def _turns() -> Json:
    stopped = operation(
        "stopTurn", "Cancel the running turn", ("200", "Whether one ran.", content("Stopped")),
        refused=_OF_A_CHAT, parameters=(CHAT, in_query("run_id", "Stop only this run.")),
    )  # fmt: skip
    restored = operation(
        "undoClear", "Bring back what the caller cleared in the last 24 hours",
        ("200", "How many documents are back.", content("Restored")), parameters=(CHAT,),
        refused={**_OF_A_CHAT, "409": "The caller cleared nothing that could be undone."},
    )  # fmt: skip
    stream = in_query("stream", "`1`: AG-UI events instead of whole messages.", {"enum": ["1"]})
    resumed = in_query("run", "With `stream=1`: a run to go on watching.")
    after = in_query("after", "With `run`: `metadata.seq` of the last event received.", _NUMBER)
    socket = operation(
        "chatSocket", "WebSocket: messages in, whole messages or AG-UI events out",
        ("101", "The socket is open.", {}), refused={**_OF_A_CHAT, "429": "Too many sockets."},
        parameters=(CHAT, stream, resumed, after),
    )  # fmt: skip
    events = content({"type": "string"}, "text/event-stream")
    refused = {**_OF_A_CHAT, "409": "A stale answer.", "413": "Too long.", "429": "Too many."}
    ag_ui = operation(
        "runAgent", "A turn as AG-UI events", ("200", "Server-sent events.", events),
        refused=refused, requestBody={"required": True, "content": content("RunAgentInput")},
    )  # fmt: skip
    return {
        "/api/chats/{chat_id}/stop": {"post": stopped},
        "/api/chats/{chat_id}/restore": {"post": restored},
        "/api/ws/chats/{chat_id}/messages": {"get": socket},
        "/api/ag-ui": {"post": ag_ui},
    }


def _about_the_server() -> Json:
    shown = ("200", "A page.", content({"type": "string"}, "text/html"))
    text = content({"type": "string"}, "text/plain")
    hidden: tuple[str, str, Json] = ("401", "A token is set, and not this one.", {})
    figures = ("200", "Figures.", text)
    states = content({"type": "object", "additionalProperties": {"type": "string"}})
    unready = ("503", "Something is not reachable.", states)
    asset = operation(
        "showAsset", "A file of the web client", ("200", "The file.", {}),
        ("404", "No such file.", {}), parameters=(in_path("name", "File name."),), **OPEN,
    )  # fmt: skip
    worker = operation(
        "showWorker", "Lets the page open without a connection", ("200", "A script.", {}),
        ("404", "The page is not built.", {}), **OPEN,
    )  # fmt: skip
    agents = ("200", "Names.", content("Agents"))
    session = ("200", "The session.", content("Session"))
    return {
        "/": {"get": operation("showPage", "The web client", shown, **OPEN)},
        "/operator": {"get": operation("showOperatorPage", "For operators", shown, **OPEN)},
        **user_paths(),
        "/worker.js": {"get": worker},
        "/assets/{name}": {"get": asset},
        "/healthz": {"get": operation("healthz", "It lives", ("200", "Yes.", states), **OPEN)},
        "/readyz": {
            "get": operation("readyz", "It can work", ("200", "Yes.", states), unready, **OPEN)
        },
        "/metrics": {"get": operation("metrics", "For Prometheus", figures, hidden, **OPEN)},
        "/api/openapi.json": {
            "get": operation("showOpenapi", "This", ("200", "It.", content({"type": "object"})))
        },
        "/api/agents": {
            "get": operation("listAgents", "The team", agents, refused=refusals("400", "401"))
        },
        "/api/session": {
            "get": operation(
                "showSession", "Caller and team", session, refused=refusals("400", "401")
            )
        },
    }


def _schemas() -> Json:
    own = schemas_of(
        BranchRequest, Demographics, FoundPatients, Turn, ConversationView, Progress, SourceText
    )
    parts = (memory_schemas, feedback_schemas, chat_list_schemas, attachment_schemas)
    for schemas in (*parts, round_schemas, operator_schemas, worklist_schemas):
        own |= schemas()
    return SCHEMAS | own


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
            "schemas": _schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _say_what_is_counted(paths: Json) -> None:
    refusal = {
        "description": "Too many messages and changes in a minute.",
        "content": content("Problem", "application/problem+json"),
        "headers": {"Retry-After": {"schema": {"type": "string"}}},
    }
    for path, operations in paths.items():
        for method, described in operations.items():
            if method.upper() not in READS and path not in UNCOUNTED:
                described["responses"]["429"] = refusal


async def show_openapi(_: web.Request) -> web.Response:
    """Return the description."""
    return json_reply(document())
