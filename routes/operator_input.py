"""What operators send: definitions as text, decisions as small JSON documents."""

from typing import Annotated, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import ScenarioDefinitionError
from routes.json_input import parse_json
from services.access.bodies import body_of
from services.scenarios.migration.migration_plan import AnchorMigrationPolicy

_DecisionT = TypeVar("_DecisionT", bound="_Decision")
Percent = Annotated[int, Field(ge=0, le=100, strict=True)]


class _Decision(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Proposal(_Decision):
    """A new version as YAML or JSON text, and what to do with sessions."""

    definition: str
    policies: dict[str, AnchorMigrationPolicy] = Field(default_factory=dict)
    mapping: dict[str, str] = Field(default_factory=dict)


class Definition(_Decision):
    """A version as YAML or JSON text."""

    definition: str


class Policies(_Decision):
    """What to do with sessions, by step of the old version; `*` for every other step."""

    policies: dict[str, AnchorMigrationPolicy]


class Share(_Decision):
    """How many of the sessions a new version reaches."""

    share_percent: Percent = 100


class Rollback(_Decision):
    """The version whose content comes back."""

    to: Annotated[int, Field(ge=1, strict=True)]


async def decision(request: web.Request, model: type[_DecisionT]) -> _DecisionT:
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
