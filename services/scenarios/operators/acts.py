"""What operators can ask for: one table behind the API and the command line."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError

from data_models.errors import ScenarioDefinitionError, ScenarioNotFoundError
from data_models.identifiers import number_in
from data_models.scenarios.scenario import is_scenario_id
from data_models.values import ClosedValue, Value
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy, MigrationPlan
from services.scenarios.migration.scenario_store import DeploymentRecord
from services.scenarios.operators.dry_run import DryRunPage, Score
from services.scenarios.operators.interventions import BulkIntervention, Intervention, Text, Why
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
SentT = TypeVar("SentT", bound=ClosedValue)
Percent = Annotated[int, Field(ge=0, le=100, strict=True)]


class Definition(ClosedValue):
    """A version as YAML or JSON text."""

    definition: str


class Proposal(Definition):
    """A new version, and what to do with sessions."""

    policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    mapping: dict[str, str] = Field(default_factory=dict)


class Preview(Definition):
    """A version, and the answers of its play so far."""

    answers: Annotated[tuple[Text, ...], Field(max_length=200)] = ()


class Policies(ClosedValue):
    """What to do with sessions, by step of the old version; `*` for every other step."""

    policies: dict[str, AnchorMigrationPolicy]


class Pairs(ClosedValue):
    """New step ids by old ones; "" undoes a pair."""

    mapping: dict[str, str]


class Share(ClosedValue):
    """How many of the sessions a new version reaches."""

    share_percent: Percent = 100


class Reason(ClosedValue):
    """Why."""

    reason: Why


class Rollback(ClosedValue):
    """The version whose content comes back."""

    to: Annotated[int, Field(ge=1, strict=True)]


class Scenarios(Value):
    """Every stored scenario, and who asks."""

    scenarios: tuple[ScenarioCard, ...]
    operator: str
    require_approval: bool


class ScoredPage(DryRunPage):
    """A page of a dry run; the first one with how the last one came true."""

    score: Score | None


class History(Value):
    """What operators did, newest first."""

    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What an operator asks.

    Attributes:
        who: The operator's id.
        place: Which scenario, version or session, as the path names them.
        body: As it was sent; checked where it is used.
    """

    service: OperatorService
    who: str
    place: Mapping[str, str]
    query: Mapping[str, str]
    body: Any

    @property
    def scenario(self) -> str:
        """The scenario's id; what is none has no name in the store and is not looked up."""
        scenario_id = self.place["scenario_id"]
        if not is_scenario_id(scenario_id):
            raise ScenarioNotFoundError("there is no such scenario")
        return scenario_id

    @property
    def page(self) -> dict[str, Any]:
        """The cursor of the page before, "" for the first one, and how many rows are wanted."""
        limit = number_in(self.query.get("limit", "200"))
        return {"after": self.query.get("after", ""), "limit": max(1, min(limit, PAGE_LIMIT))}

    def sent(self, model: type[SentT]) -> SentT:
        """Return the body.

        Raises:
            ScenarioDefinitionError: it is not of this shape; each problem names its place.
        """
        try:
            return model.model_validate(self.body)
        except ValidationError as error:
            problems = [
                f"{', '.join(map(str, one['loc'])) or 'the document'}: {one['msg']}"
                for one in error.errors(include_url=False, include_input=False)
            ]
            raise ScenarioDefinitionError(tuple(problems)) from None


Answer: TypeAlias = BaseModel | dict[str, Any]
Work: TypeAlias = Callable[[Asked], Awaitable[Answer]]


async def list_scenarios(asked: Asked) -> Scenarios:
    """List every stored scenario, and who asks."""
    found, needs_second = await asked.service.scenarios(), asked.service.require_approval
    return Scenarios(scenarios=tuple(found), operator=asked.who, require_approval=needs_second)


async def validate(asked: Asked) -> GraphView:
    """Check a version without storing it."""
    return await asked.service.check(asked.sent(Definition).definition)


async def publish(asked: Asked) -> GraphView:
    """Make a scenario's first version active."""
    source = asked.sent(Definition).definition
    return view_of_graph(await asked.service.publish(source, operator=asked.who), ())


async def propose(asked: Asked) -> PlanView:
    """Store a new version and the plan that leads to it."""
    sent = asked.sent(Proposal)
    return await asked.service.propose(
        sent.definition, operator=asked.who, policies=sent.policies, mapping=sent.mapping
    )


async def show_scenario(asked: Asked) -> ScenarioOverview:
    """Show versions, plan, deployment and live counts."""
    return await asked.service.overview(asked.scenario)


async def show_version(asked: Asked) -> GraphView:
    """Show one version, to be drawn."""
    return await asked.service.graph(asked.scenario, number_in(asked.place["version"]))


async def show_plan(asked: Asked) -> PlanView:
    """Show the plan and both versions side by side."""
    return await asked.service.plan(asked.scenario)


async def preview(asked: Asked) -> dict[str, Any]:
    """Play a version with made-up answers; nothing is stored."""
    sent = asked.sent(Preview)
    return asdict(await asked.service.preview(sent.definition, sent.answers))


async def dry_run(asked: Asked) -> ScoredPage:
    """Tell what the plan would do to a page of stored sessions."""
    page = await asked.service.dry_run(asked.scenario, **asked.page, operator=asked.who)
    score = None if asked.page["after"] else await asked.service.score(asked.scenario)
    return ScoredPage(**dict(page), score=score)


async def show_review(asked: Asked) -> SessionCards:
    """List sessions that a person must look at."""
    return await asked.service.sessions.find(asked.scenario, FLAGGED, **asked.page)


async def show_history(asked: Asked) -> History:
    """Show what operators did, newest first."""
    return History(entries=tuple(await asked.service.log.newest(asked.scenario)))


async def list_sessions(asked: Asked) -> SessionCards:
    """List sessions that fit."""
    step, version, review, channel = (asked.query.get(name, "") for name in SESSION_FILTER)
    wanted = SessionFilter(step, number_in(version or "0"), review, channel)
    return await asked.service.sessions.find(asked.scenario, wanted, **asked.page)


async def show_scenario_session(asked: Asked) -> SessionView:
    """Show a session's way, its fields, and what the next version would do."""
    session = asked.place["session"]
    return await asked.service.sessions.show(asked.scenario, session, operator=asked.who)


async def act(asked: Asked) -> BulkResult:
    """Move, resume, ask again, end or pin one session."""
    sent, session = asked.sent(Intervention), asked.place["session"]
    return await asked.service.sessions.act(asked.scenario, session, sent, operator=asked.who)


async def act_on_all(asked: Asked) -> BulkResult:
    """Do the same to every session of a filter, 500 at a time."""
    sent = asked.sent(BulkIntervention)
    wanted = SessionFilter(sent.at_step, sent.version, sent.review, sent.channel)
    return await asked.service.sessions.act_on_all(
        asked.scenario, wanted, sent, operator=asked.who, after=sent.after
    )


def _on_scenario(work: Callable[..., Awaitable[Answer]], sent: type[ClosedValue] | None) -> Work:
    """Return an act of the service on a scenario; the body gives its further arguments."""

    @wraps(work)
    async def handle(asked: Asked) -> Answer:
        given = {} if sent is None else dict(asked.sent(sent))
        return await work(asked.service, asked.scenario, operator=asked.who, **given)

    return handle


SESSION_FILTER = ("step", "version", "review", "channel")
PAGING = ("after", "limit")


@dataclass(frozen=True, slots=True)
class Act:
    """One row of the table.

    Attributes:
        command: Its name on the command line; empty where authors have one of their own.
        query: What stands behind the `?`, or in options.
        may_be_empty: Whether the body may be left out.
    """

    command: str
    method: str
    path: str
    work: Work
    answer: type[BaseModel] | dict[str, Any]
    sent: type[ClosedValue] | None = None
    query: tuple[str, ...] = ()
    status: int = 200
    may_be_empty: bool = False


def _of_service(
    name: str,
    work: Callable[..., Awaitable[Answer]],
    answer: type[BaseModel],
    sent: type[ClosedValue] | None = None,
    *,
    method: str = "POST",
    path: str = "",
    **more: Any,
) -> Act:
    place = f"{_ONE}/{path or name}"
    return Act(name, method, place, _on_scenario(work, sent), answer, sent, **more)


_ONE, _SESSIONS = "scenarios/{scenario_id}", "scenarios/{scenario_id}/sessions"
_PLAYED = {"type": "object", "required": ["lines", "is_over"]}
_SERVICE = OperatorService
ACTS = (
    Act("scenarios", "GET", "scenarios", list_scenarios, Scenarios),
    Act("publish", "POST", "scenarios", publish, GraphView, Definition, status=201),
    Act("", "POST", "validate", validate, GraphView, Definition),
    Act("propose", "POST", "plans", propose, PlanView, Proposal, status=201),
    Act("status", "GET", _ONE, show_scenario, ScenarioOverview),
    Act("show", "GET", f"{_ONE}/versions/{{version}}", show_version, GraphView),
    Act("diff", "GET", f"{_ONE}/plan", show_plan, PlanView),
    _of_service("set-policies", _SERVICE.set_policies, PlanView, Policies,
                method="PUT", path="plan/policies"),
    _of_service("set-mapping", _SERVICE.set_mapping, PlanView, Pairs,
                method="PUT", path="plan/mapping"),
    Act("", "POST", "preview", preview, _PLAYED, Preview),
    _of_service("withdraw", _SERVICE.withdraw, ScenarioOverview, Reason),
    _of_service("offer-again", _SERVICE.offer_again, ScenarioOverview),
    Act("dry-run", "GET", f"{_ONE}/dry-run", dry_run, ScoredPage, query=PAGING),
    _of_service("approve", _SERVICE.approve, MigrationPlan),
    _of_service("cancel", _SERVICE.cancel, MigrationPlan),
    _of_service("deploy", _SERVICE.deploy, DeploymentRecord, Share, status=202, may_be_empty=True),
    _of_service("pause", _SERVICE.pause, DeploymentRecord),
    _of_service("resume", _SERVICE.resume, DeploymentRecord, status=202),
    _of_service("share", _SERVICE.set_share, DeploymentRecord, Share,
                status=202, may_be_empty=True),
    _of_service("rollback", _SERVICE.rollback, PlanView, Rollback, status=201),
    Act("review", "GET", f"{_ONE}/review", show_review, SessionCards, query=PAGING),
    Act("history", "GET", f"{_ONE}/history", show_history, History),
    Act("sessions", "GET", _SESSIONS, list_sessions, SessionCards,
        query=(*SESSION_FILTER, *PAGING)),
    Act("act-on-all", "POST", f"{_SESSIONS}/act", act_on_all, BulkResult, BulkIntervention),
    Act("session", "GET", f"{_SESSIONS}/{{session}}", show_scenario_session, SessionView),
    Act("act", "POST", f"{_SESSIONS}/{{session}}/act", act, BulkResult, Intervention),
)  # fmt: skip
"""In the order in which paths are tried."""
