"""What `/api/operator/…` answers, for `GET /api/openapi.json`."""

from typing import Any

from pydantic import BaseModel

from routes.described import (
    OBJECT,
    TEXT,
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
_REFUSED = refusals(
    "401",
    s400="Something must be solved first: `problems` says what.",
    s403="The caller is no operator.",
    s404="There is no such scenario or version.",
    s409="Not as things stand: no plan, not approved, a second person, or somebody was faster.",
)
_ROWS = rows(OBJECT)
_CURSOR = {"type": "string"}
_PAGE = of(rows=_ROWS, cursor=_CURSOR)
_DONE = of(done={"type": "integer"}, refused=_ROWS, cursor=_CURSOR)
_PLAYED = {"type": "object", "required": ["lines", "is_over"], "properties": {}}
_PARAMETERS = {
    "{session}": in_path("session", "Its hashed id.", {**TEXT, "minLength": 8}),
    "{scenario_id}": in_path("scenario_id"),
    "{grant_id}": in_path("grant_id"),
    "{version}": in_path("version", "Its number.", {"type": "integer", "minimum": 1}),
}
_PAGING = (
    in_query("after", "`cursor` of the page before.", _CURSOR),
    in_query("limit", "Rows.", {"type": "integer", "minimum": 1, "maximum": 500}),
)


def operator_paths() -> Json:
    """Return the paths of the operators' half of the API."""
    paths: Json = {}
    for method, path, name, summary, *rest in _ROUTES:
        described = _described(path, name, summary, *rest)
        paths.setdefault(f"/api/operator/{path}", {})[method] = described
    return paths


def operator_schemas() -> Json:
    """Return the models that the paths name."""
    return schemas_of(*_SENT, mode="validation") | schemas_of(*_ANSWERED)


def _listed(name: str) -> Json:
    return of(**{name: _ROWS})


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


def _described(
    path: str,
    name: str,
    summary: str,
    answer: type[BaseModel] | Json,
    sent: type[BaseModel] | None = None,
    status: str = "200",
) -> Json:
    in_it = [given for part, given in _PARAMETERS.items() if part in path]
    shown = content(answer if isinstance(answer, dict) else answer.__name__)
    body = None if sent is None else content(sent.__name__)
    needed = (
        {} if body is None else {"requestBody": {"required": sent is not Share, "content": body}}
    )
    return operation(
        name, summary, (status, "Done.", shown), refused=_REFUSED,
        parameters=(*in_it, *(_PAGING if answer is _PAGE else ())), **needed,
    )  # fmt: skip
