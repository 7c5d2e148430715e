"""What operators send, in a body or behind the `?`, and what an act does to a session."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from data_models.errors import ScenarioPlanError
from data_models.identifiers import number_in
from data_models.scenarios.scenario_session import Pin, ScenarioSession
from data_models.values import ClosedValue
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.session_index import SessionRow, step_key
from services.scenarios.session.facts import without_values
from services.scenarios.session.progress import gone_to, put_anew, with_last
from services.scenarios.session.step_text import joined

ActionKind: TypeAlias = Literal["move", "resume", "ask_again", "end", "pin"]
NOTICES_LIMIT = 5


Text = Annotated[str, Field(max_length=600)]
Why = Annotated[str, Field(min_length=3, max_length=300)]


# What an operator does to one session. Pure: the caller holds the conversation and stores it.


class Intervention(ClosedValue):
    """One act.

    Attributes:
        step: Where to move to, by id of the session's own version.
        fields: What to ask again.
        reason: Why, in the operator's words; on the audit trail and in the journal.
    """

    action: ActionKind
    reason: Why
    step: Text = ""
    fields: Annotated[tuple[Text, ...], Field(max_length=40)] = ()

    @property
    def note(self) -> str:
        """What the journal says of it."""
        what = self.step or ", ".join(self.fields)
        return f"{self.action.replace('_', ' ')}{f' {what}' if what else ''}: {self.reason}"


def intervened(
    session: ScenarioSession, graph: Graph, act: Intervention, *, newest: int, now: datetime
) -> ScenarioSession:
    """Return the session after `act`.

    Args:
        graph: Of the session's own version.
        newest: The newest version that a session may be pinned against.

    Raises:
        ScenarioPlanError: it cannot be done; the text says why.
    """
    if session.step is None:
        raise ScenarioPlanError("the session has ended")
    match act.action:
        case "move":
            return _moved(session, graph, act.step, now)
        case "resume":
            return _resumed(session, now)
        case "ask_again":
            return _asked_again(session, graph, act.fields, now)
        case "end":
            text = f"{graph.scenario.title} was ended by an operator. What you said is kept."
            return _with_notice(_over(session, now), text)
        case "pin":
            pin = Pin(version=session.version, decided_for=newest, reason="operator")
            kept = {"pinned_to": pin, "progress": None, "review": None, "updated_at": now}
            return session.model_copy(update=kept)


def withdrawn(session: ScenarioSession, title: str, now: datetime) -> ScenarioSession:
    """Return a session whose scenario was withdrawn: over, with everything that was said."""
    text = f"{title} is not offered any more, so it ends here. What you said is kept."
    return _with_notice(_over(session, now), text)


def _with_notice(session: ScenarioSession, text: str) -> ScenarioSession:
    """Return the session with something that the user is told at their next turn."""
    notices = [*session.notices, text][-NOTICES_LIMIT:]
    return session.model_copy(update={"notices": notices})


def _over(session: ScenarioSession, now: datetime) -> ScenarioSession:
    return session.model_copy(
        update={
            "step": None,
            "step_history": with_last(session, completed_at=now),
            "progress": None,
            "review": None,
            "pinned_to": None,
            "awaiting": "",
            "updated_at": now,
        }
    )


def _resumed(session: ScenarioSession, now: datetime) -> ScenarioSession:
    """Let the next turn decide anew: what could not be decided, read or run is tried again."""
    free: dict[str, object] = {
        "review": None,
        "progress": None,
        "pinned_to": None,
        "refused": {},
        "awaiting": "",
    }
    return put_anew(session.model_copy(update={**free, "is_left": False, "updated_at": now}))


def _moved(session: ScenarioSession, graph: Graph, step: str, now: datetime) -> ScenarioSession:
    if step not in graph.steps:
        there_are = ", ".join(graph.steps)
        raise ScenarioPlanError(
            f"version {graph.version} has no step {step!r}; there are: {there_are}"
        )
    for passed in session.completed_checkpoints:
        if passed.step_id in graph.reached_from(step):
            done = passed.description or passed.step_id
            raise ScenarioPlanError(
                f"from {graph.steps[step].title!r} the session would come to the completed "
                f"checkpoint {done!r} again; what is done cannot be done twice"
            )
    free: dict[str, object] = {"progress": None, "review": None, "refused": {}}
    moved = gone_to(session, graph, step, now).model_copy(update=free)
    title = graph.steps[step].title
    return _with_notice(moved, f"An operator moved {graph.scenario.title} to “{title}”.")


def _asked_again(
    session: ScenarioSession, graph: Graph, fields: Sequence[str], now: datetime
) -> ScenarioSession:
    """Forget the values, and go back to the first step on the way that asks for one of them."""
    unknown = [name for name in fields if name not in graph.fields]
    if unknown or not fields:
        there_are = ", ".join(graph.fields)
        problem = f"no such field: {', '.join(unknown)}" if unknown else "no field is named"
        raise ScenarioPlanError(f"{problem}; there are: {there_are}")
    asked = set(fields)
    path = [visit.step_id for visit in session.step_history if not visit.skipped]
    steps = [s for s in path if s in graph.steps and asked & set(graph.steps[s].gives)]
    labels = joined([graph.fields[name].label for name in fields])
    emptied = without_values(session, asked)
    refused = {name: times for name, times in session.refused.items() if name not in asked}
    emptied = emptied.model_copy(update={"refused": refused})
    notice = f"Please answer again: {labels}."
    if not steps or steps[0] == session.step or session.step in steps:
        kept = {"review": None, "progress": None, "updated_at": now}
        return _with_notice(put_anew(emptied.model_copy(update=kept)), notice)
    moved = _moved(emptied, graph, steps[0], now)
    return _with_notice(moved.model_copy(update={"notices": session.notices}), notice)


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
            and (self.review in ("", row.review) or (self.review == ANY and bool(row.review)))
        )


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
