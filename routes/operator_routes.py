"""The routes of `/api/operator/…`, with what they take and answer."""

from routes import operator
from routes import operator_input as body
from routes.endpoint import INTEGER, OBJECT, STRING, Endpoint, Handler, in_query, of, rows
from routes.operator_answers import PREFIX
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.journal import JournalEntry
from services.scenarios.operators.plan_reader import ScenarioCard, ScenarioOverview
from services.scenarios.operators.plan_view import GraphView, PlanView
from services.scenarios.operators.session_view import SessionView

_ROWS = rows(OBJECT)
_PAGE = of(rows=_ROWS, cursor=STRING)
_DONE = of(done=INTEGER, refused=_ROWS, cursor=STRING)
_PLAYED = {"type": "object", "required": ["lines", "is_over"]}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": operator.PAGE_LIMIT}
_PAGING = (
    in_query("after", "`cursor` of the page before.", STRING),
    in_query("limit", "Rows.", _LIMIT),
)
_ONE = f"{PREFIX}scenarios/{{scenario_id}}"


def operator_routes() -> list[Endpoint]:
    """Return the routes; a body of `Share` may be left out."""
    return [*_authoring(), *_deploying(), *_sessions()]


def _authoring() -> list[Endpoint]:
    plan = f"{_ONE}/plan"
    version = f"{_ONE}/versions/{{version}}"
    scenarios = f"{PREFIX}scenarios"
    listed = of(scenarios=rows(ScenarioCard))
    return [
        Endpoint("GET", scenarios, operator.list_scenarios, listed),
        Endpoint("POST", scenarios, operator.publish, GraphView, sent=body.Definition, status=201),
        Endpoint("POST", f"{PREFIX}validate", operator.validate, GraphView, sent=body.Definition),
        Endpoint(
            "POST", f"{PREFIX}plans", operator.propose, PlanView, sent=body.Proposal, status=201
        ),
        Endpoint("GET", _ONE, operator.show_scenario, ScenarioOverview),
        Endpoint("GET", version, operator.show_version, GraphView),
        Endpoint("GET", plan, operator.show_plan, PlanView),
        Endpoint("PUT", f"{plan}/policies", operator.put_policies, PlanView, sent=body.Policies),
        Endpoint("PUT", f"{plan}/mapping", operator.put_mapping, PlanView, sent=body.Mapping),
        Endpoint("POST", f"{PREFIX}preview", operator.preview, _PLAYED, sent=body.Preview),
        Endpoint("POST", f"{_ONE}/withdraw", operator.withdraw, ScenarioOverview, sent=body.Reason),
        Endpoint("POST", f"{_ONE}/offer-again", operator.offer_again, ScenarioOverview),
    ]


def _deploying() -> list[Endpoint]:
    rollback, deployed = f"{_ONE}/rollback", DeploymentRecord
    history = of(entries=rows(JournalEntry))
    return [
        Endpoint("GET", f"{_ONE}/dry-run", operator.dry_run, _PAGE, parameters=_PAGING),
        Endpoint("POST", f"{_ONE}/approve", operator.approve, MigrationPlan),
        Endpoint("POST", f"{_ONE}/cancel", operator.cancel, MigrationPlan),
        _shared("deploy", operator.deploy),
        Endpoint("POST", f"{_ONE}/pause", operator.pause, deployed),
        Endpoint("POST", f"{_ONE}/resume", operator.resume, deployed, status=202),
        _shared("share", operator.set_share),
        Endpoint("POST", rollback, operator.rollback, PlanView, sent=body.Rollback, status=201),
        Endpoint("GET", f"{_ONE}/review", operator.show_review, _PAGE, parameters=_PAGING),
        Endpoint("GET", f"{_ONE}/history", operator.show_history, history),
    ]


def _shared(name: str, handler: Handler) -> Endpoint:
    path = f"{_ONE}/{name}"
    return Endpoint(
        "POST", path, handler, DeploymentRecord, sent=body.Share, may_be_empty=True, status=202
    )


def _sessions() -> list[Endpoint]:
    sessions = f"{_ONE}/sessions"
    one = f"{sessions}/{{session}}"
    return [
        Endpoint("GET", sessions, operator.list_sessions, _PAGE, parameters=_PAGING),
        Endpoint("POST", f"{sessions}/act", operator.act_on_all, _DONE, sent=body.BulkAct),
        Endpoint("GET", one, operator.show_scenario_session, SessionView),
        Endpoint("POST", f"{one}/act", operator.act, _DONE, sent=body.SessionAct),
    ]
