"""What operators send, and what they are told of refusals."""

from typing import Annotated, Self, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from pydantic import Field, ValidationError, model_validator

from data_models.errors import ScenarioDefinitionError, ScenarioInputError
from data_models.values import ClosedValue
from routes.requests.context import CONTEXT
from routes.requests.json_input import parse_json
from routes.requests.problem import Problem, problem_response
from services.access.bodies import body_of
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.operators.interventions import ActionKind, Intervention
from services.scenarios.operators.session_service import SessionFilter

# What operators are told of refusals: all of it, for the words are authors'.

PREFIX = "/api/operator/"


def refusals() -> Middleware:
    """Return the middleware that says what is wrong with a scenario, not only that it is.

    The text of a `ScenarioInputError` holds steps, fields and conditions, nothing of a patient.
    """

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(PREFIX):
            return await handler(request)
        try:
            return await handler(request)
        except ScenarioInputError as error:
            return _refusal(error, ref=request.app[CONTEXT].ids.new_id("ref"))

    return answer


def _refusal(error: ScenarioInputError, *, ref: str) -> web.Response:
    if isinstance(error, ScenarioDefinitionError):
        number = len(error.problems)
        text = f"{number} {'problem' if number == 1 else 'problems'} must be solved first."
        problem = Problem(error.http_status, error.code, text)
        return problem_response(problem, ref=ref, problems=error.problems)
    text = str(error)
    sentence = f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
    return problem_response(
        Problem(error.http_status, error.code, sentence, error.retryable), ref=ref
    )


SentT = TypeVar("SentT", bound="ClosedValue")
Text = Annotated[str, Field(max_length=600)]
Why = Annotated[str, Field(min_length=3, max_length=300)]
Percent = Annotated[int, Field(ge=0, le=100, strict=True)]


class Proposal(ClosedValue):
    """A new version as YAML or JSON text, and what to do with sessions."""

    definition: str
    policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    mapping: dict[str, str] = Field(default_factory=dict)


class Definition(ClosedValue):
    """A version as YAML or JSON text."""

    definition: str


class Policies(ClosedValue):
    """What to do with sessions, by step of the old version; `*` for every other step."""

    policies: dict[str, AnchorMigrationPolicy]


class Share(ClosedValue):
    """How many of the sessions a new version reaches."""

    share_percent: Percent = 100


class Preview(ClosedValue):
    """A version, and the answers of its play so far."""

    definition: str
    answers: Annotated[tuple[Text, ...], Field(max_length=200)] = ()


class Mapping(ClosedValue):
    """New step ids by old ones; "" undoes a pair."""

    mapping: dict[str, str]


class Reason(ClosedValue):
    """Why."""

    reason: Why


class SessionAct(ClosedValue):
    """What to do to a session, and why."""

    action: ActionKind
    reason: Why
    step: Text = ""
    fields: Annotated[tuple[Text, ...], Field(max_length=40)] = ()

    def act(self) -> Intervention:
        """Return it for the service."""
        return Intervention(self.action, self.reason, self.step, self.fields)


class BulkAct(SessionAct):
    """The same for every session of a filter; what is empty fits all, but one must be given."""

    at_step: Text = ""
    version: Annotated[int, Field(ge=0, strict=True)] = 0
    review: Text = ""
    channel: Text = ""
    after: str = ""

    @model_validator(mode="after")
    def _some_filter(self) -> Self:
        if not (self.at_step or self.version or self.review or self.channel):
            raise ValueError("at_step, version, review or channel must be given")
        return self

    def wanted(self) -> SessionFilter:
        """Return the filter for the service."""
        return SessionFilter(self.at_step, self.version, self.review, self.channel)


class EmergencyReview(ClosedValue):
    """What an operator found of a chart that was opened in an emergency."""

    is_justified: bool
    note: Annotated[str, Field(max_length=500)] = ""


class Rollback(ClosedValue):
    """The version whose content comes back."""

    to: Annotated[int, Field(ge=1, strict=True)]


async def decision(request: web.Request, model: type[SentT]) -> SentT:
    """Return the body as `model`; no body is an empty document.

    Raises:
        BadFrameError: it is not JSON.
        ScenarioDefinitionError: it is, but not of this shape; each problem names its place.
    """
    body = await body_of(request)
    try:
        return model.model_validate(parse_json(body) if body else {})
    except ValidationError as error:
        problems = [
            f"{', '.join(map(str, one['loc'])) or 'the document'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)
        ]
        raise ScenarioDefinitionError(tuple(problems)) from None
