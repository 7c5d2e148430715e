"""What operators send: definitions as text, decisions as small JSON documents."""

from typing import Annotated, Self, TypeVar

from aiohttp import web
from pydantic import Field, ValidationError, model_validator

from data_models.errors import ScenarioDefinitionError
from data_models.values import ClosedValue
from routes.json_input import parse_json
from services.access.bodies import body_of
from services.scenarios.migration.migration_plan import AnchorMigrationPolicy
from services.scenarios.operators.interventions import ActionKind, Intervention
from services.scenarios.operators.session_service import SessionFilter

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
        raise ScenarioDefinitionError(_problems(error)) from None


def _problems(error: ValidationError) -> tuple[str, ...]:
    return tuple(
        f"{', '.join(map(str, one['loc'])) or 'the document'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    )
