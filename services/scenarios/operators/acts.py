"""What operators can ask for: one table behind the API and the command line."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from string import Formatter
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from data_models.errors import ScenarioDefinitionError, ScenarioNotFoundError
from data_models.identifiers import number_in
from data_models.scenarios.scenario import is_scenario_id
from data_models.values import ClosedValue
from services.scenarios.migration.plans.migration_plan import DeploymentRecord, MigrationPlan
from services.scenarios.operators import asked
from services.scenarios.operators.asked import Intervention
from services.scenarios.operators.dry_run import DryRunPage, SessionView
from services.scenarios.operators.operator_service import History, OperatorService, Scenarios
from services.scenarios.operators.plan_view import GraphView, PlanView, ScenarioOverview
from services.scenarios.operators.session_service import BulkResult, SessionCards, SessionService

Answer: TypeAlias = BaseModel | dict[str, Any]
Work: TypeAlias = Callable[..., Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Act:
    """One row of the table.

    Attributes:
        command: Its name on the command line; empty where authors have one of their own.
        work: Takes the service of the operator who asks, what the path names, and then what is
            sent or stands behind the `?`.
        query: What stands behind the `?`, or in options.
        may_be_empty: Whether the body may be left out.
    """

    command: str
    method: str
    path: str
    work: Work
    answer: type[BaseModel] | dict[str, Any]
    sent: type[ClosedValue] | None = None
    query: type[ClosedValue] | None = None
    status: int = 200
    may_be_empty: bool = False

    @property
    def places(self) -> list[str]:
        """What the path names: a scenario, a version, a session."""
        return [name for _, name, _, _ in Formatter().parse(self.path) if name is not None]

    async def carry_out(
        self,
        service: OperatorService,
        *,
        who: str,
        place: Mapping[str, str],
        query: Mapping[str, str],
        body: Any,
    ) -> Answer:
        """Do it for the operator of the id `who`.

        Raises:
            ScenarioNotFoundError: what the path names is no scenario's id.
            ScenarioDefinitionError: the body is not of its shape; each problem names its place.
            BadFrameError: a number is none.
        """
        given: list[Any] = [_PLACED[name](place[name]) for name in self.places]
        if self.sent is not None:
            given.append(_read(self.sent, body))
        if self.query is not None:
            fields = {name: query[name] for name in self.query.model_fields if name in query}
            given.append(_read(self.query, fields))
        return await self.work(service.of(who), *given)


def checked_id(raw: str) -> str:
    """Return the id of a scenario; what is none has no name in the store and is not looked up.

    Raises:
        ScenarioNotFoundError: it is none.
    """
    if not is_scenario_id(raw):
        raise ScenarioNotFoundError("there is no such scenario")
    return raw


_PLACED: Mapping[str, Callable[[str], str | int]] = {
    "scenario_id": checked_id,
    "version": number_in,
    "session": str,
}


def _read(model: type[ClosedValue], raw: Any) -> ClosedValue:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problems = [
            f"{', '.join(map(str, one['loc'])) or 'the document'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)
        ]
        raise ScenarioDefinitionError(tuple(problems)) from None


def _of_sessions(work: Work) -> Work:
    """Return an act of the service's half that works on single sessions."""

    @wraps(work)
    async def handle(service: OperatorService, *given: Any) -> Answer:
        return await work(service.sessions, *given)

    return handle


_ONE, _SESSIONS = "scenarios/{scenario_id}", "scenarios/{scenario_id}/sessions"
_PLAYED = {"type": "object", "required": ["lines", "is_over"]}
_SERVICE, _SESSION = OperatorService, SessionService
ACTS = (
    Act("scenarios", "GET", "scenarios", _SERVICE.list_scenarios, Scenarios),
    Act("publish", "POST", "scenarios", _SERVICE.publish, GraphView, asked.Definition, status=201),
    Act("", "POST", "validate", _SERVICE.validate, GraphView, asked.Definition),
    Act("propose", "POST", "plans", _SERVICE.propose, PlanView, asked.Proposal, status=201),
    Act("status", "GET", _ONE, _SERVICE.show_scenario, ScenarioOverview),
    Act("show", "GET", f"{_ONE}/versions/{{version}}", _SERVICE.show_version, GraphView),
    Act("diff", "GET", f"{_ONE}/plan", _SERVICE.show_plan, PlanView),
    Act("set-policies", "PUT", f"{_ONE}/plan/policies", _SERVICE.set_policies, PlanView,
        asked.Policies),
    Act("set-mapping", "PUT", f"{_ONE}/plan/mapping", _SERVICE.set_mapping, PlanView, asked.Pairs),
    Act("", "POST", "preview", _SERVICE.preview, _PLAYED, asked.Preview),
    Act("withdraw", "POST", f"{_ONE}/withdraw", _SERVICE.withdraw, ScenarioOverview, asked.Reason),
    Act("offer-again", "POST", f"{_ONE}/offer-again", _SERVICE.offer_again, ScenarioOverview),
    Act("dry-run", "GET", f"{_ONE}/dry-run", _SERVICE.dry_run, DryRunPage, query=asked.Paging),
    Act("approve", "POST", f"{_ONE}/approve", _SERVICE.approve, MigrationPlan),
    Act("cancel", "POST", f"{_ONE}/cancel", _SERVICE.cancel, MigrationPlan),
    Act("deploy", "POST", f"{_ONE}/deploy", _SERVICE.deploy, DeploymentRecord, asked.Share,
        status=202, may_be_empty=True),
    Act("pause", "POST", f"{_ONE}/pause", _SERVICE.pause, DeploymentRecord),
    Act("resume", "POST", f"{_ONE}/resume", _SERVICE.resume, DeploymentRecord, status=202),
    Act("share", "POST", f"{_ONE}/share", _SERVICE.set_share, DeploymentRecord, asked.Share,
        status=202, may_be_empty=True),
    Act("rollback", "POST", f"{_ONE}/rollback", _SERVICE.rollback, PlanView, asked.Rollback,
        status=201),
    Act("review", "GET", f"{_ONE}/review", _of_sessions(_SESSION.show_review), SessionCards,
        query=asked.Paging),
    Act("history", "GET", f"{_ONE}/history", _SERVICE.show_history, History),
    Act("sessions", "GET", _SESSIONS, _of_sessions(_SESSION.list_sessions), SessionCards,
        query=asked.SessionQuery),
    Act("act-on-all", "POST", f"{_SESSIONS}/act", _of_sessions(_SESSION.act_on_all), BulkResult,
        asked.BulkIntervention),
    Act("session", "GET", f"{_SESSIONS}/{{session}}",
        _of_sessions(_SESSION.show_scenario_session), SessionView),
    Act("act", "POST", f"{_SESSIONS}/{{session}}/act", _of_sessions(_SESSION.act), BulkResult,
        Intervention),
)  # fmt: skip
"""In the order in which paths are tried."""
