"""`/api/operator/…`: scenarios, their versions and their migrations, for operators only."""

from aiohttp import web

from data_models.errors import ScenarioNotFoundError
from data_models.scenario import is_scenario_id
from routes.auth import operator_of
from routes.context import CONTEXT
from routes.endpoint import INTEGER, OBJECT, STRING, Endpoint, Handler, Json, in_query, of, rows
from routes.json_input import number_in
from routes.operator_answers import PREFIX, dry_run_document, sessions_document
from routes.operator_input import (
    BulkAct,
    Definition,
    Mapping,
    Policies,
    Preview,
    Proposal,
    Reason,
    Rollback,
    SessionAct,
    Share,
    decision,
)
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.journal import JournalEntry
from services.scenarios.operators.operator_service import OperatorService
from services.scenarios.operators.plan_reader import ScenarioCard, ScenarioOverview
from services.scenarios.operators.plan_view import GraphView, PlanView, view_of_graph
from services.scenarios.operators.session_service import SessionFilter
from services.scenarios.operators.session_view import SessionView
from services.scenarios.session.preview import Played

# What the operators' handlers read of a request: who asks, and of what.

PAGE_LIMIT = 500


def service_of(request: web.Request) -> tuple[OperatorService, str]:
    """Return the service and the operator's id; the role comes first."""
    who = operator_of(request)
    return request.app[CONTEXT].operators, who.id


def scenario_of(request: web.Request) -> str:
    """Return the scenario's id; what is none has no name in the store and is not looked up."""
    scenario_id = request.match_info["scenario_id"]
    if not is_scenario_id(scenario_id):
        raise ScenarioNotFoundError("there is no such scenario")
    return scenario_id


def after_of(request: web.Request) -> str:
    """Return the cursor of the page before; "" for the first one."""
    return request.query.get("after", "")


def limit_of(request: web.Request) -> int:
    """Return how many rows are wanted, at most 500."""
    return max(1, min(number_in(request.query.get("limit", "200")), PAGE_LIMIT))


# `/api/operator/…/sessions`: single sessions of a scenario, looked at and acted on.


async def list_sessions(request: web.Request) -> Json:
    """`GET …/sessions?step=&version=&review=&channel=`: sessions that fit."""
    service, _ = service_of(request)
    query = request.query
    wanted = SessionFilter(
        query.get("step", ""),
        number_in(query.get("version", "0")),
        query.get("review", ""),
        query.get("channel", ""),
    )
    rows, cursor = await service.sessions.list(
        scenario_of(request), wanted, after=after_of(request), limit=limit_of(request)
    )
    return sessions_document(rows, cursor)


async def show_scenario_session(request: web.Request) -> SessionView:
    """`GET …/sessions/{session}`: its way, its fields, and what the next version would do."""
    service, who = service_of(request)
    return await service.sessions.show(
        scenario_of(request), request.match_info["session"], operator=who
    )


async def act(request: web.Request) -> Json:
    """`POST …/sessions/{session}/act`: move, resume, ask again, end or pin it."""
    service, who = service_of(request)
    sent = await decision(request, SessionAct)
    session = request.match_info["session"]
    await service.sessions.act(scenario_of(request), session, sent.act(), operator=who)
    return {"done": 1, "refused": [], "cursor": ""}


async def act_on_all(request: web.Request) -> Json:
    """`POST …/sessions/act`: the same for every session of a filter, 500 at a time."""
    service, who = service_of(request)
    sent = await decision(request, BulkAct)
    result = await service.sessions.act_on_all(
        scenario_of(request), sent.wanted(), sent.act(), operator=who, after=sent.after
    )
    refused = [{"session": session, "why": why} for session, why in result.refused]
    return {"done": result.done, "refused": refused, "cursor": result.cursor}


async def list_scenarios(request: web.Request) -> Json:
    """`GET scenarios`: every stored scenario, and who asks."""
    service, who = service_of(request)
    found, needs_second = await service.scenarios(), service.require_approval
    return {"scenarios": found, "operator": who, "require_approval": needs_second}


async def validate(request: web.Request) -> GraphView:
    """`POST validate`: check a version without storing it."""
    service, _ = service_of(request)
    sent = await decision(request, Definition)
    return await service.check(sent.definition)


async def publish(request: web.Request) -> GraphView:
    """`POST scenarios`: make a scenario's first version active."""
    service, who = service_of(request)
    sent = await decision(request, Definition)
    return view_of_graph(await service.publish(sent.definition, operator=who), ())


async def propose(request: web.Request) -> PlanView:
    """`POST plans`: store a new version and the plan that leads to it."""
    service, who = service_of(request)
    sent = await decision(request, Proposal)
    return await service.propose(
        sent.definition, operator=who, policies=sent.policies, mapping=sent.mapping
    )


async def show_scenario(request: web.Request) -> ScenarioOverview:
    """`GET scenarios/{scenario_id}`: versions, plan, deployment and live counts."""
    service, _ = service_of(request)
    return await service.overview(scenario_of(request))


async def show_version(request: web.Request) -> GraphView:
    """`GET scenarios/{scenario_id}/versions/{version}`: one version, to be drawn."""
    service, _ = service_of(request)
    return await service.graph(scenario_of(request), number_in(request.match_info["version"]))


async def show_plan(request: web.Request) -> PlanView:
    """`GET scenarios/{scenario_id}/plan`: the plan and both versions side by side."""
    service, _ = service_of(request)
    return await service.plan(scenario_of(request))


async def put_policies(request: web.Request) -> PlanView:
    """`PUT scenarios/{scenario_id}/plan/policies`: plan again with other policies."""
    service, who = service_of(request)
    sent = await decision(request, Policies)
    return await service.set_policies(scenario_of(request), sent.policies, operator=who)


async def put_mapping(request: web.Request) -> PlanView:
    """`PUT scenarios/{scenario_id}/plan/mapping`: plan again with steps paired by hand."""
    service, who = service_of(request)
    sent = await decision(request, Mapping)
    return await service.set_mapping(scenario_of(request), sent.mapping, operator=who)


async def preview(request: web.Request) -> Played:
    """`POST preview`: play a version with made-up answers; nothing is stored."""
    service, _ = service_of(request)
    sent = await decision(request, Preview)
    return await service.preview(sent.definition, sent.answers)


async def withdraw(request: web.Request) -> ScenarioOverview:
    """`POST scenarios/{scenario_id}/withdraw`: offer it no more."""
    service, who = service_of(request)
    sent = await decision(request, Reason)
    return await service.withdraw(scenario_of(request), reason=sent.reason, operator=who)


async def offer_again(request: web.Request) -> ScenarioOverview:
    """`POST scenarios/{scenario_id}/offer-again`: offer what was withdrawn."""
    service, who = service_of(request)
    return await service.offer_again(scenario_of(request), operator=who)


async def dry_run(request: web.Request) -> Json:
    """`GET scenarios/{scenario_id}/dry-run`: what the plan would do to a page of sessions."""
    service, who = service_of(request)
    page = await service.dry_run(
        scenario_of(request), after=after_of(request), limit=limit_of(request), operator=who
    )
    score = None if after_of(request) else await service.score(scenario_of(request))
    return {**dry_run_document(page), "score": score}


async def approve(request: web.Request) -> MigrationPlan:
    """`POST scenarios/{scenario_id}/approve`: a second person says yes."""
    service, who = service_of(request)
    return await service.approve(scenario_of(request), operator=who)


async def cancel(request: web.Request) -> MigrationPlan:
    """`POST scenarios/{scenario_id}/cancel`: give the plan up."""
    service, who = service_of(request)
    return await service.cancel(scenario_of(request), operator=who)


async def deploy(request: web.Request) -> DeploymentRecord:
    """`POST scenarios/{scenario_id}/deploy`: begin; the work goes on behind the answer."""
    service, who = service_of(request)
    sent = await decision(request, Share)
    return await service.deploy(
        scenario_of(request), operator=who, share_percent=sent.share_percent
    )


async def pause(request: web.Request) -> DeploymentRecord:
    """`POST scenarios/{scenario_id}/pause`: stop after the page under way."""
    service, who = service_of(request)
    return await service.pause(scenario_of(request), operator=who)


async def resume(request: web.Request) -> DeploymentRecord:
    """`POST scenarios/{scenario_id}/resume`: go on."""
    service, who = service_of(request)
    return await service.resume(scenario_of(request), operator=who)


async def set_share(request: web.Request) -> DeploymentRecord:
    """`POST scenarios/{scenario_id}/share`: change how many sessions a canary reaches."""
    service, who = service_of(request)
    sent = await decision(request, Share)
    return await service.set_share(
        scenario_of(request), share_percent=sent.share_percent, operator=who
    )


async def rollback(request: web.Request) -> PlanView:
    """`POST scenarios/{scenario_id}/rollback`: propose an earlier version's content again."""
    service, who = service_of(request)
    sent = await decision(request, Rollback)
    return await service.rollback(scenario_of(request), to=sent.to, operator=who)


async def show_review(request: web.Request) -> Json:
    """`GET scenarios/{scenario_id}/review`: sessions that a person must look at."""
    service, _ = service_of(request)
    page = await service.list_flagged(
        scenario_of(request), after=after_of(request), limit=limit_of(request)
    )
    return sessions_document(page.rows, page.cursor)


async def show_history(request: web.Request) -> Json:
    """`GET scenarios/{scenario_id}/history`: what operators did, newest first."""
    service, _ = service_of(request)
    return {"entries": await service.history(scenario_of(request))}


# The routes of `/api/operator/…`, with what they take and answer.

_ROWS = rows(OBJECT)
_PAGE = of(rows=_ROWS, cursor=STRING)
_DONE = of(done=INTEGER, refused=_ROWS, cursor=STRING)
_PLAYED = {"type": "object", "required": ["lines", "is_over"]}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT}
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
        Endpoint("GET", scenarios, list_scenarios, listed),
        Endpoint("POST", scenarios, publish, GraphView, sent=Definition, status=201),
        Endpoint("POST", f"{PREFIX}validate", validate, GraphView, sent=Definition),
        Endpoint("POST", f"{PREFIX}plans", propose, PlanView, sent=Proposal, status=201),
        Endpoint("GET", _ONE, show_scenario, ScenarioOverview),
        Endpoint("GET", version, show_version, GraphView),
        Endpoint("GET", plan, show_plan, PlanView),
        Endpoint("PUT", f"{plan}/policies", put_policies, PlanView, sent=Policies),
        Endpoint("PUT", f"{plan}/mapping", put_mapping, PlanView, sent=Mapping),
        Endpoint("POST", f"{PREFIX}preview", preview, _PLAYED, sent=Preview),
        Endpoint("POST", f"{_ONE}/withdraw", withdraw, ScenarioOverview, sent=Reason),
        Endpoint("POST", f"{_ONE}/offer-again", offer_again, ScenarioOverview),
    ]


def _deploying() -> list[Endpoint]:
    deployed = DeploymentRecord
    history = of(entries=rows(JournalEntry))
    return [
        Endpoint("GET", f"{_ONE}/dry-run", dry_run, _PAGE, parameters=_PAGING),
        Endpoint("POST", f"{_ONE}/approve", approve, MigrationPlan),
        Endpoint("POST", f"{_ONE}/cancel", cancel, MigrationPlan),
        _shared("deploy", deploy),
        Endpoint("POST", f"{_ONE}/pause", pause, deployed),
        Endpoint("POST", f"{_ONE}/resume", resume, deployed, status=202),
        _shared("share", set_share),
        Endpoint("POST", f"{_ONE}/rollback", rollback, PlanView, sent=Rollback, status=201),
        Endpoint("GET", f"{_ONE}/review", show_review, _PAGE, parameters=_PAGING),
        Endpoint("GET", f"{_ONE}/history", show_history, history),
    ]


def _shared(name: str, handler: Handler) -> Endpoint:
    path = f"{_ONE}/{name}"
    return Endpoint(
        "POST", path, handler, DeploymentRecord, sent=Share, may_be_empty=True, status=202
    )


def _sessions() -> list[Endpoint]:
    sessions = f"{_ONE}/sessions"
    one = f"{sessions}/{{session}}"
    return [
        Endpoint("GET", sessions, list_sessions, _PAGE, parameters=_PAGING),
        Endpoint("POST", f"{sessions}/act", act_on_all, _DONE, sent=BulkAct),
        Endpoint("GET", one, show_scenario_session, SessionView),
        Endpoint("POST", f"{one}/act", act, _DONE, sent=SessionAct),
    ]
