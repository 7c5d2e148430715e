"""What `/api/operator/…` answers, for `GET /api/openapi.json`."""

from typing import Any, TypeAlias

from pydantic import BaseModel

from routes.operator_input import (
    BulkAct,
    Definition,
    EmergencyReview,
    Mapping,
    Policies,
    Preview,
    Proposal,
    Reason,
    Rollback,
    SessionAct,
    Share,
)
from services.chart_access.break_glass import Grant
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.journal import JournalEntry
from services.scenarios.operators.plan_view import GraphView, PlanView
from services.scenarios.operators.session_view import SessionView
from services.scenarios.operators.views import ScenarioCard, ScenarioOverview

Json: TypeAlias = dict[str, Any]
_REF = "#/components/schemas/{model}"
_SENT = (
    *(Definition, Proposal, Policies, Mapping, Preview),
    *(Share, Rollback, Reason, SessionAct, BulkAct, EmergencyReview),
)
_ANSWERED = (
    ScenarioCard,
    ScenarioOverview,
    GraphView,
    PlanView,
    MigrationPlan,
    DeploymentRecord,
    JournalEntry,
    SessionView,
    Grant,
)
_REFUSALS = {
    "400": "Something must be solved first: `problems` says what.",
    "401": "Nobody is signed in.",
    "403": "The caller is no operator.",
    "404": "There is no such scenario or version.",
    "409": "Not as things stand: no plan, not approved, a second person, or somebody was faster.",
}
_TEXT = {"type": "string"}
_ROW = {"type": "object"}
_PAGE = {
    "type": "object",
    "required": ["rows", "cursor"],
    "properties": {"rows": {"type": "array", "items": _ROW}, "cursor": _TEXT},
}


def operator_paths() -> Json:
    """Return the paths of the operators' half of the API."""
    paths: Json = {}
    for method, path, name, summary, *rest in _ROUTES:
        operation = _operation(path, name, summary, *rest)
        paths.setdefault(f"/api/operator/{path}", {})[method] = operation
    return paths


def operator_schemas() -> Json:
    """Return the models that the paths name."""
    found: Json = {}
    for models, mode in ((_SENT, "validation"), (_ANSWERED, "serialization")):
        for model in models:
            schema = model.model_json_schema(ref_template=_REF, mode=mode)  # type: ignore[arg-type]
            found |= schema.pop("$defs", {}) | {model.__name__: schema}
    return found


def _given(name: str, place: str, text: str, schema: Json) -> Json:
    needed = place == "path"
    return {"name": name, "in": place, "required": needed, "description": text, "schema": schema}


_DONE = {
    "type": "object",
    "required": ["done", "refused", "cursor"],
    "properties": {
        "done": {"type": "integer"},
        "refused": {"type": "array", "items": _ROW},
        "cursor": _TEXT,
    },
}
_PLAYED = {"type": "object", "required": ["lines", "is_over"], "properties": {}}
_PARAMETERS = {
    "{session}": _given("session", "path", "Its hashed id.", {**_TEXT, "minLength": 8}),
    "{scenario_id}": _given("scenario_id", "path", "Its id.", {**_TEXT, "minLength": 1}),
    "{grant_id}": _given("grant_id", "path", "Its id.", {**_TEXT, "minLength": 1}),
    "{version}": _given("version", "path", "Its number.", {"type": "integer", "minimum": 1}),
}
_PAGING = (
    _given("after", "query", "`cursor` of the page before.", _TEXT),
    _given("limit", "query", "Rows.", {"type": "integer", "minimum": 1, "maximum": 500}),
)


def _listed(name: str) -> Json:
    rows = {"type": "array", "items": _ROW}
    return {"type": "object", "required": [name], "properties": {name: rows}}


_ONE = "scenarios/{scenario_id}"
_ROUTES: tuple[tuple[Any, ...], ...] = (
    ("get", "scenarios", "listScenarios", "Every stored scenario", _listed("scenarios")),
    ("post", "scenarios", "publishScenario", "A first version", GraphView, Definition, "201"),
    ("post", "validate", "validateVersion", "Check; nothing is stored", GraphView, Definition),
    ("post", "plans", "proposeVersion", "A new version, its plan", PlanView, Proposal, "201"),
    ("get", _ONE, "showScenario", "Where it stands, with live counts", ScenarioOverview),
    ("get", f"{_ONE}/versions/{{version}}", "showVersion", "One version, drawn", GraphView),
    ("get", f"{_ONE}/plan", "showPlan", "Both versions side by side", PlanView),
    ("put", f"{_ONE}/plan/policies", "putPolicies", "Plan again", PlanView, Policies),
    ("put", f"{_ONE}/plan/mapping", "putMapping", "Pair steps by hand", PlanView, Mapping),
    ("post", "preview", "previewVersion", "Play a version; nothing is stored", _PLAYED, Preview),
    ("post", f"{_ONE}/withdraw", "withdrawScenario", "Offer it no more", ScenarioOverview, Reason),
    ("post", f"{_ONE}/offer-again", "offerAgain", "Offer it again", ScenarioOverview),
    ("get", f"{_ONE}/sessions", "listRuns", "Sessions that fit", _PAGE),
    ("post", f"{_ONE}/sessions/act", "actOnRuns", "Act on all that fit", _DONE, BulkAct),
    ("get", f"{_ONE}/sessions/{{session}}", "showRun", "One session", SessionView),
    ("post", f"{_ONE}/sessions/{{session}}/act", "actOnRun", "Act on it", _DONE, SessionAct),
    ("get", f"{_ONE}/dry-run", "dryRun", "What would become of sessions", _PAGE),
    ("post", f"{_ONE}/approve", "approvePlan", "A second person's yes", MigrationPlan),
    ("post", f"{_ONE}/cancel", "cancelPlan", "Give the plan up", MigrationPlan),
    ("post", f"{_ONE}/deploy", "deploy", "Begin to deploy", DeploymentRecord, Share, "202"),
    ("post", f"{_ONE}/pause", "pauseDeployment", "Stop after a page", DeploymentRecord),
    ("post", f"{_ONE}/resume", "resumeDeployment", "Go on", DeploymentRecord, None, "202"),
    ("post", f"{_ONE}/share", "setShare", "Widen a canary", DeploymentRecord, Share, "202"),
    ("post", f"{_ONE}/rollback", "rollback", "An earlier content", PlanView, Rollback, "201"),
    ("get", f"{_ONE}/review", "showReview", "Flagged sessions", _PAGE),
    ("get", "quality", "showQuality", "How good answers are, live", _listed("rows")),
    ("get", "emergencies", "listEmergencies", "Charts opened so", _listed("emergencies")),
    ("post", "emergencies/{grant_id}/review", "review", "A finding", Grant, EmergencyReview),
    ("get", f"{_ONE}/history", "showHistory", "What operators did", _listed("entries")),
)


def _operation(
    path: str,
    name: str,
    summary: str,
    answer: type[BaseModel] | Json,
    sent: type[BaseModel] | None = None,
    status: str = "200",
) -> Json:
    parameters = [given for part, given in _PARAMETERS.items() if part in path]
    parameters += _PAGING if answer is _PAGE else ()
    schema = answer if isinstance(answer, dict) else _ref(answer.__name__)
    content = {"application/json": {"schema": schema}}
    told: Json = {status: {"description": "Done.", "content": content}}
    problem = {"application/problem+json": {"schema": _ref("Problem")}}
    told |= {code: {"description": text, "content": problem} for code, text in _REFUSALS.items()}
    operation: Json = {"operationId": name, "summary": summary, "responses": told}
    if parameters:
        operation["parameters"] = parameters
    if sent is not None:
        body = {"application/json": {"schema": _ref(sent.__name__)}}
        operation["requestBody"] = {"required": sent is not Share, "content": body}
    return operation


def _ref(name: str) -> Json:
    return {"$ref": _REF.format(model=name)}
