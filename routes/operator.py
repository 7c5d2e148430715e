"""`/api/operator/…`: scenarios, their versions and their migrations, for operators only."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any, TypeAlias

from aiohttp import web
from pydantic import BaseModel

from data_models.errors import ScenarioNotFoundError
from data_models.scenarios.scenario import is_scenario_id
from data_models.values import ClosedValue
from routes.requests.auth import operator_of
from routes.requests.context import CONTEXT
from routes.requests.endpoint import STRING, Endpoint, Schema, in_query, of, rows
from routes.requests.json_input import number_in
from routes.requests.operator_input import (
    PREFIX,
    BulkAct,
    Definition,
    Mapping,
    Policies,
    Preview,
    Proposal,
    Reason,
    Rollback,
    SentT,
    SessionAct,
    Share,
    decision,
)
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.dry_run import DryRunRow
from services.scenarios.operators.journal import JournalEntry
from services.scenarios.operators.operator_service import OperatorService
from services.scenarios.operators.plan_reader import ScenarioCard, ScenarioOverview
from services.scenarios.operators.plan_view import GraphView, PlanView, view_of_graph
from services.scenarios.operators.session_service import (
    FLAGGED,
    BulkResult,
    SessionCards,
    SessionFilter,
)
from services.scenarios.operators.session_view import SessionView

PAGE_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """What an operator asks.

    Attributes:
        who: The operator's id.
    """

    request: web.Request
    service: OperatorService
    who: str

    @property
    def scenario(self) -> str:
        """The scenario's id; what is none has no name in the store and is not looked up."""
        scenario_id = self.request.match_info["scenario_id"]
        if not is_scenario_id(scenario_id):
            raise ScenarioNotFoundError("there is no such scenario")
        return scenario_id

    @property
    def after(self) -> str:
        """The cursor of the page before; "" for the first one."""
        return self.request.query.get("after", "")

    @property
    def limit(self) -> int:
        """How many rows are wanted, at most 500."""
        return max(1, min(number_in(self.request.query.get("limit", "200")), PAGE_LIMIT))

    async def sent(self, model: type[SentT]) -> SentT:
        """Return the body."""
        return await decision(self.request, model)


Answer: TypeAlias = BaseModel | dict[str, Any]
Work: TypeAlias = Callable[[Asked], Awaitable[Answer]]


# `/api/operator/…/sessions`: single sessions of a scenario, looked at and acted on.


async def list_sessions(asked: Asked) -> Answer:
    """`GET …/sessions?step=&version=&review=&channel=`: sessions that fit."""
    query = asked.request.query
    wanted = SessionFilter(
        query.get("step", ""),
        number_in(query.get("version", "0")),
        query.get("review", ""),
        query.get("channel", ""),
    )
    sessions = asked.service.sessions
    return await sessions.find(asked.scenario, wanted, after=asked.after, limit=asked.limit)


async def show_scenario_session(asked: Asked) -> Answer:
    """`GET …/sessions/{session}`: its way, its fields, and what the next version would do."""
    session = asked.request.match_info["session"]
    return await asked.service.sessions.show(asked.scenario, session, operator=asked.who)


async def act(asked: Asked) -> Answer:
    """`POST …/sessions/{session}/act`: move, resume, ask again, end or pin it."""
    sent, session = await asked.sent(SessionAct), asked.request.match_info["session"]
    return await asked.service.sessions.act(asked.scenario, session, sent.act(), operator=asked.who)


async def act_on_all(asked: Asked) -> Answer:
    """`POST …/sessions/act`: the same for every session of a filter, 500 at a time."""
    sent = await asked.sent(BulkAct)
    return await asked.service.sessions.act_on_all(
        asked.scenario, sent.wanted(), sent.act(), operator=asked.who, after=sent.after
    )


async def list_scenarios(asked: Asked) -> Answer:
    """`GET scenarios`: every stored scenario, and who asks."""
    found, needs_second = await asked.service.scenarios(), asked.service.require_approval
    return {"scenarios": found, "operator": asked.who, "require_approval": needs_second}


async def validate(asked: Asked) -> Answer:
    """`POST validate`: check a version without storing it."""
    return await asked.service.check((await asked.sent(Definition)).definition)


async def publish(asked: Asked) -> Answer:
    """`POST scenarios`: make a scenario's first version active."""
    sent = await asked.sent(Definition)
    return view_of_graph(await asked.service.publish(sent.definition, operator=asked.who), ())


async def propose(asked: Asked) -> Answer:
    """`POST plans`: store a new version and the plan that leads to it."""
    sent = await asked.sent(Proposal)
    return await asked.service.propose(
        sent.definition, operator=asked.who, policies=sent.policies, mapping=sent.mapping
    )


async def show_scenario(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}`: versions, plan, deployment and live counts."""
    return await asked.service.overview(asked.scenario)


async def show_version(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}/versions/{version}`: one version, to be drawn."""
    version = number_in(asked.request.match_info["version"])
    return await asked.service.graph(asked.scenario, version)


async def show_plan(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}/plan`: the plan and both versions side by side."""
    return await asked.service.plan(asked.scenario)


async def put_policies(asked: Asked) -> Answer:
    """`PUT scenarios/{scenario_id}/plan/policies`: plan again with other policies."""
    sent = await asked.sent(Policies)
    return await asked.service.set_policies(asked.scenario, sent.policies, operator=asked.who)


async def put_mapping(asked: Asked) -> Answer:
    """`PUT scenarios/{scenario_id}/plan/mapping`: plan again with steps paired by hand."""
    sent = await asked.sent(Mapping)
    return await asked.service.set_mapping(asked.scenario, sent.mapping, operator=asked.who)


async def preview(asked: Asked) -> Answer:
    """`POST preview`: play a version with made-up answers; nothing is stored."""
    sent = await asked.sent(Preview)
    return asdict(await asked.service.preview(sent.definition, sent.answers))


async def dry_run(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}/dry-run`: what the plan would do to a page of sessions."""
    page = await asked.service.dry_run(
        asked.scenario, after=asked.after, limit=asked.limit, operator=asked.who
    )
    score = None if asked.after else await asked.service.score(asked.scenario)
    return {**page.model_dump(mode="json"), "score": score}


async def show_review(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}/review`: sessions that a person must look at."""
    sessions = asked.service.sessions
    return await sessions.find(asked.scenario, FLAGGED, after=asked.after, limit=asked.limit)


async def show_history(asked: Asked) -> Answer:
    """`GET scenarios/{scenario_id}/history`: what operators did, newest first."""
    return {"entries": await asked.service.log.newest(asked.scenario)}


# The routes of `/api/operator/…`, with what they take and answer.

_DRY_RUN = of(rows=rows(DryRunRow), cursor=STRING)
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
        _endpoint("GET", scenarios, list_scenarios, listed),
        _endpoint("POST", scenarios, publish, GraphView, sent=Definition, status=201),
        _endpoint("POST", f"{PREFIX}validate", validate, GraphView, sent=Definition),
        _endpoint("POST", f"{PREFIX}plans", propose, PlanView, sent=Proposal, status=201),
        _endpoint("GET", _ONE, show_scenario, ScenarioOverview),
        _endpoint("GET", version, show_version, GraphView),
        _endpoint("GET", plan, show_plan, PlanView),
        _endpoint("PUT", f"{plan}/policies", put_policies, PlanView, sent=Policies),
        _endpoint("PUT", f"{plan}/mapping", put_mapping, PlanView, sent=Mapping),
        _endpoint("POST", f"{PREFIX}preview", preview, _PLAYED, sent=Preview),
        _act("withdraw", OperatorService.withdraw, ScenarioOverview, sent=Reason),
        _act("offer-again", OperatorService.offer_again, ScenarioOverview),
    ]


def _deploying() -> list[Endpoint]:
    deployed = DeploymentRecord
    history = of(entries=rows(JournalEntry))
    shared: dict[str, Any] = {"sent": Share, "may_be_empty": True, "status": 202}
    return [
        _endpoint("GET", f"{_ONE}/dry-run", dry_run, _DRY_RUN, parameters=_PAGING),
        _act("approve", OperatorService.approve, MigrationPlan),
        _act("cancel", OperatorService.cancel, MigrationPlan),
        _act("deploy", OperatorService.deploy, deployed, **shared),
        _act("pause", OperatorService.pause, deployed),
        _act("resume", OperatorService.resume, deployed, status=202),
        _act("share", OperatorService.set_share, deployed, **shared),
        _act("rollback", OperatorService.rollback, PlanView, sent=Rollback, status=201),
        _endpoint("GET", f"{_ONE}/review", show_review, SessionCards, parameters=_PAGING),
        _endpoint("GET", f"{_ONE}/history", show_history, history),
    ]


def _sessions() -> list[Endpoint]:
    sessions = f"{_ONE}/sessions"
    one = f"{sessions}/{{session}}"
    return [
        _endpoint("GET", sessions, list_sessions, SessionCards, parameters=_PAGING),
        _endpoint("POST", f"{sessions}/act", act_on_all, BulkResult, sent=BulkAct),
        _endpoint("GET", one, show_scenario_session, SessionView),
        _endpoint("POST", f"{one}/act", act, BulkResult, sent=SessionAct),
    ]


def _act(
    name: str,
    act: Callable[..., Awaitable[Answer]],
    answer: Schema,
    *,
    sent: type[ClosedValue] | None = None,
    **more: Any,
) -> Endpoint:
    """Return the route of an act on a scenario; the body gives its further arguments."""

    @wraps(act)
    async def work(asked: Asked) -> Answer:
        given = {} if sent is None else dict(await asked.sent(sent))
        return await act(asked.service, asked.scenario, operator=asked.who, **given)

    return _endpoint("POST", f"{_ONE}/{name}", work, answer, sent=sent, **more)


def _endpoint(method: str, path: str, work: Work, answer: Schema, **more: Any) -> Endpoint:
    """Return the route that asks `work`; the operator's role comes first."""

    @wraps(work)
    async def handle(request: web.Request) -> Answer:
        who = operator_of(request)
        return await work(Asked(request, request.app[CONTEXT].operators, who.id))

    return Endpoint(method, path, handle, answer, **more)
