"""One session as an operator sees it: its way and its fields, without what patients said."""

from pydantic import AwareDatetime, JsonValue

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.values import Value
from services.scenarios.definition.graph import Graph

HIDDEN = "hidden"
"""In the place of a value or a quote that is health information."""


class VisitView(Value):
    """A step of the way."""

    step: str
    name: str
    at: AwareDatetime
    is_skipped: bool


class FieldView(Value):
    """A field and who said it.

    Attributes:
        value: `hidden` where the definition marks the field as health information.
        quote: The same.
    """

    name: str
    label: str
    value: JsonValue
    source: str
    turn: int
    quote: str


class NextView(Value):
    """What a plan, or the active version, would do to the session now."""

    version: int
    effect: str
    why: str
    step_after: str
    asks: tuple[str, ...]
    runs: tuple[str, ...]


class SessionView(Value):
    """One session."""

    session: str
    scenario_id: str
    version: int
    step: str
    step_name: str
    is_left: bool
    channel: str
    begun: AwareDatetime
    way: tuple[VisitView, ...]
    fields: tuple[FieldView, ...]
    missing: tuple[str, ...]
    checkpoints: tuple[str, ...]
    reason: str
    pinned: str
    steps: dict[str, str]
    next: NextView | None = None


def view_of_session(session: ScenarioSession, graph: Graph) -> SessionView:
    """Return what an operator may see of `session`, which is in a step of `graph`."""
    step = graph.steps[session.step or ""]
    return SessionView(
        session=hashed(session.session_id),
        scenario_id=session.scenario_id,
        version=session.version,
        step=step.id,
        step_name=step.title,
        is_left=session.is_left,
        channel=session.channel,
        begun=session.created_at,
        way=tuple(
            VisitView(
                step=visit.step_id,
                name=visit.step_name or visit.step_id,
                at=visit.visited_at,
                is_skipped=visit.skipped,
            )
            for visit in session.step_history
        ),
        fields=tuple(_field(session, graph, name) for name in session.variables),
        missing=tuple(
            graph.fields[n].label
            for n in step.collects_profile_fields
            if n not in session.variables
        ),
        checkpoints=tuple(one.description or one.step_id for one in session.completed_checkpoints),
        reason=session.review.reason if session.review else "",
        pinned=session.pinned_to.reason if session.pinned_to else "",
        steps={one.id: one.title for one in graph.steps.values()},
    )


def _field(session: ScenarioSession, graph: Graph, name: str) -> FieldView:
    field, evidence = graph.fields.get(name), session.evidence.get(name)
    is_hidden = field is None or field.phi
    quote = evidence.quote if evidence else ""
    return FieldView(
        name=name,
        label=field.label if field is not None else name,
        value=HIDDEN if is_hidden else session.variables[name],
        source=evidence.source if evidence else "0.1",
        turn=evidence.turn if evidence else 0,
        quote=HIDDEN if is_hidden and quote else quote,
    )
