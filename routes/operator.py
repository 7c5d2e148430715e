"""`/api/operator/…`: scenarios, their versions and their migrations, for operators only."""

from aiohttp import web

from data_models.errors import BadFrameError, ScenarioNotFoundError
from data_models.scenario import is_scenario_id
from routes.auth import operator_of
from routes.context import CONTEXT
from routes.endpoint import INTEGER, OBJECT, STRING, Endpoint, Handler, in_query, of, rows
from routes.operator_answers import (
    PREFIX,
    bulk_document,
    dry_run_document,
    played_document,
    review_document,
    sessions_document,
)
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
from routes.replies import json_reply
from services.scenarios.migration.migration_plan import MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.journal import JournalEntry
from services.scenarios.operators.operator_service import OperatorService
from services.scenarios.operators.plan_reader import ScenarioCard, ScenarioOverview
from services.scenarios.operators.plan_view import GraphView, PlanView, view_of_graph
from services.scenarios.operators.session_service import SessionFilter
from services.scenarios.operators.session_view import SessionView

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
    return max(1, min(number_of(request.query.get("limit", "200")), PAGE_LIMIT))


def number_of(raw: str) -> int:
    """Return a number of a path or query.

    Raises:
        BadFrameError: it is none.
    """
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= 9):
        raise BadFrameError("not a number")
    return int(raw)


# `/api/operator/…/sessions`: single sessions of a scenario, looked at and acted on.


async def list_sessions(request: web.Request) -> web.Response:
    """`GET …/sessions?step=&version=&review=&channel=`: sessions that fit."""
    service, _ = service_of(request)
    query = request.query
    wanted = SessionFilter(
        query.get("step", ""),
        number_of(query.get("version", "0")),
        query.get("review", ""),
        query.get("channel", ""),
    )
    rows, cursor = await service.sessions.list(
        scenario_of(request), wanted, after=after_of(request), limit=limit_of(request)
    )
    return json_reply(sessions_document(rows, cursor))


async def show_scenario_session(request: web.Request) -> web.Response:
    """`GET …/sessions/{session}`: its way, its fields, and what the next version would do."""
    service, who = service_of(request)
    view = await service.sessions.show(
        scenario_of(request), request.match_info["session"], operator=who
    )
    return json_reply(view.model_dump(mode="json"))


async def act(request: web.Request) -> web.Response:
    """`POST …/sessions/{session}/act`: move, resume, ask again, end or pin it."""
    service, who = service_of(request)
    sent = await decision(request, SessionAct)
    session = request.match_info["session"]
    await service.sessions.act(scenario_of(request), session, sent.act(), operator=who)
    return json_reply({"done": 1, "refused": [], "cursor": ""})


async def act_on_all(request: web.Request) -> web.Response:
    """`POST …/sessions/act`: the same for every session of a filter, 500 at a time."""
    service, who = service_of(request)
    sent = await decision(request, BulkAct)
    result = await service.sessions.act_on_all(
        scenario_of(request), sent.wanted(), sent.act(), operator=who, after=sent.after
    )
    return json_reply(bulk_document(result))


async def list_scenarios(request: web.Request) -> web.Response:
    """`GET scenarios`: every stored scenario, and who asks."""
    service, who = service_of(request)
    found = [card.model_dump(mode="json") for card in await service.scenarios()]
    needs_second = service.require_approval
    return json_reply({"scenarios": found, "operator": who, "require_approval": needs_second})


async def validate(request: web.Request) -> web.Response:
    """`POST validate`: check a version without storing it."""
    service, _ = service_of(request)
    sent = await decision(request, Definition)
    return json_reply((await service.check(sent.definition)).model_dump(mode="json"))


async def publish(request: web.Request) -> web.Response:
    """`POST scenarios`: make a scenario's first version active."""
    service, who = service_of(request)
    sent = await decision(request, Definition)
    graph = await service.publish(sent.definition, operator=who)
    return json_reply(view_of_graph(graph, ()).model_dump(mode="json"), status=201)


async def propose(request: web.Request) -> web.Response:
    """`POST plans`: store a new version and the plan that leads to it."""
    service, who = service_of(request)
    sent = await decision(request, Proposal)
    view = await service.propose(
        sent.definition, operator=who, policies=sent.policies, mapping=sent.mapping
    )
    return json_reply(view.model_dump(mode="json"), status=201)


async def show_scenario(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}`: versions, plan, deployment and live counts."""
    service, _ = service_of(request)
    return json_reply((await service.overview(scenario_of(request))).model_dump(mode="json"))


async def show_version(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/versions/{version}`: one version, to be drawn."""
    service, _ = service_of(request)
    version = number_of(request.match_info["version"])
    return json_reply((await service.graph(scenario_of(request), version)).model_dump(mode="json"))


async def show_plan(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/plan`: the plan and both versions side by side."""
    service, _ = service_of(request)
    return json_reply((await service.plan(scenario_of(request))).model_dump(mode="json"))


async def put_policies(request: web.Request) -> web.Response:
    """`PUT scenarios/{scenario_id}/plan/policies`: plan again with other policies."""
    service, who = service_of(request)
    sent = await decision(request, Policies)
    view = await service.set_policies(scenario_of(request), sent.policies, operator=who)
    return json_reply(view.model_dump(mode="json"))


async def put_mapping(request: web.Request) -> web.Response:
    """`PUT scenarios/{scenario_id}/plan/mapping`: plan again with steps paired by hand."""
    service, who = service_of(request)
    sent = await decision(request, Mapping)
    view = await service.set_mapping(scenario_of(request), sent.mapping, operator=who)
    return json_reply(view.model_dump(mode="json"))


async def preview(request: web.Request) -> web.Response:
    """`POST preview`: play a version with made-up answers; nothing is stored."""
    service, _ = service_of(request)
    sent = await decision(request, Preview)
    return json_reply(played_document(await service.preview(sent.definition, sent.answers)))


async def withdraw(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/withdraw`: offer it no more."""
    service, who = service_of(request)
    sent = await decision(request, Reason)
    view = await service.withdraw(scenario_of(request), reason=sent.reason, operator=who)
    return json_reply(view.model_dump(mode="json"))


async def offer_again(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/offer-again`: offer what was withdrawn."""
    service, who = service_of(request)
    view = await service.offer_again(scenario_of(request), operator=who)
    return json_reply(view.model_dump(mode="json"))


async def dry_run(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/dry-run`: what the plan would do to a page of sessions."""
    service, who = service_of(request)
    page = await service.dry_run(
        scenario_of(request), after=after_of(request), limit=limit_of(request), operator=who
    )
    score = None if after_of(request) else await service.score(scenario_of(request))
    shown = None if score is None else score.model_dump(mode="json")
    return json_reply({**dry_run_document(page), "score": shown})


async def approve(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/approve`: a second person says yes."""
    service, who = service_of(request)
    plan = await service.approve(scenario_of(request), operator=who)
    return json_reply(plan.model_dump(mode="json"))


async def cancel(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/cancel`: give the plan up."""
    service, who = service_of(request)
    plan = await service.cancel(scenario_of(request), operator=who)
    return json_reply(plan.model_dump(mode="json"))


async def deploy(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/deploy`: begin; the work goes on behind the answer."""
    service, who = service_of(request)
    sent = await decision(request, Share)
    record = await service.deploy(
        scenario_of(request), operator=who, share_percent=sent.share_percent
    )
    return json_reply(record.model_dump(mode="json"), status=202)


async def pause(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/pause`: stop after the page under way."""
    service, who = service_of(request)
    record = await service.pause(scenario_of(request), operator=who)
    return json_reply(record.model_dump(mode="json"))


async def resume(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/resume`: go on."""
    service, who = service_of(request)
    record = await service.resume(scenario_of(request), operator=who)
    return json_reply(record.model_dump(mode="json"), status=202)


async def set_share(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/share`: change how many sessions a canary reaches."""
    service, who = service_of(request)
    sent = await decision(request, Share)
    record = await service.set_share(
        scenario_of(request), share_percent=sent.share_percent, operator=who
    )
    return json_reply(record.model_dump(mode="json"), status=202)


async def rollback(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/rollback`: propose an earlier version's content again."""
    service, who = service_of(request)
    sent = await decision(request, Rollback)
    view = await service.rollback(scenario_of(request), to=sent.to, operator=who)
    return json_reply(view.model_dump(mode="json"), status=201)


async def show_review(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/review`: sessions that a person must look at."""
    service, _ = service_of(request)
    page = await service.list_flagged(
        scenario_of(request), after=after_of(request), limit=limit_of(request)
    )
    return json_reply(review_document(page))


async def show_history(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/history`: what operators did, newest first."""
    service, _ = service_of(request)
    entries = await service.history(scenario_of(request))
    return json_reply({"entries": [entry.model_dump(mode="json") for entry in entries]})


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
