"""What operators send, in a body or behind the `?`."""

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from data_models.identifiers import number_in
from data_models.values import ClosedValue
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.session_index import SessionRow, step_key
from services.scenarios.operators.interventions import Intervention, Text, Why

ANY = "*"
PAGE_LIMIT = 500
Number = Annotated[
    int, BeforeValidator(lambda raw: number_in(raw or "0") if isinstance(raw, str) else raw)
]
"""Behind a `?` it is text."""


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

    share_percent: Annotated[int, Field(ge=0, le=100, strict=True)] = 100


class Reason(ClosedValue):
    """Why."""

    reason: Why


class Rollback(ClosedValue):
    """The version whose content comes back."""

    to: Annotated[int, Field(ge=1, strict=True)]


class Paging(ClosedValue):
    """The cursor of the page before, "" for the first one, and how many rows are wanted."""

    after: str = ""
    limit: Annotated[Number, AfterValidator(lambda rows: max(1, min(rows, PAGE_LIMIT)))] = 200


class SessionQuery(Paging):
    """Which sessions; what is empty fits all.

    Attributes:
        review: Why a person must look at them; `*` for any reason.
    """

    step: str = ""
    version: Number = 0
    review: str = ""
    channel: str = ""

    def fits(self, row: SessionRow) -> bool:
        """Whether the session of `row` is meant."""
        return (
            (not self.step or row.step_hash == step_key(self.step))
            and (not self.version or row.version == self.version)
            and (not self.channel or row.channel == self.channel)
            and (not self.review or row.review == self.review or self._is_any_of(row))
        )

    def _is_any_of(self, row: SessionRow) -> bool:
        return self.review == ANY and bool(row.review)


class BulkIntervention(Intervention):
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

    @property
    def wanted(self) -> SessionQuery:
        """The sessions that it is done to."""
        return SessionQuery(
            step=self.at_step,
            version=self.version,
            review=self.review,
            channel=self.channel,
            after=self.after,
            limit=PAGE_LIMIT,
        )
