"""How a session goes through its own version: begin, decide, advance."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from pydantic import JsonValue

from data_models.chat_context import ChatContext
from data_models.errors import ScenarioPlanError, ToolInputError
from data_models.identifiers import hashed
from data_models.scenarios.scenario import SLOT, Step
from data_models.scenarios.scenario_session import (
    CompletedCheckpoint,
    Evidence,
    ExecutedAction,
    ReviewFlag,
    ScenarioSession,
    StepVisit,
)
from services.scenarios.definition.conditions import Verdict
from services.scenarios.definition.graph import Branch, Graph
from services.scenarios.session.facts import takes, with_answers, without_values

# A tool that a scenario's step runs, not an agent of its own accord. Pure.

NOT_SAID = "not said"
"""In a text that is made of fields, what stands for one that nobody knows."""


@dataclass(frozen=True, slots=True)
class ToolAction:
    """One run of a step's tool.

    Attributes:
        idempotency_key: The same for every attempt at the same run: a tool that changes
            something outside must not change it twice under one key.
    """

    tool: str
    parameters: Mapping[str, JsonValue]
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class ToolRan:
    """What came of it.

    Attributes:
        data: The tool's answer.
        has_asked: The tool only asked the user; the step goes on with their answer.
    """

    succeeded: bool
    data: Mapping[str, Any] = field(default_factory=dict, compare=False)
    has_asked: bool = False


Act: TypeAlias = Callable[[ToolAction], Awaitable[ToolRan]]


async def run_tool(step: Step, values: Mapping[str, JsonValue], key: str, act: Act) -> ToolRan:
    """Run the tool of `step`, if it has one, with what is known of the fields."""
    if not step.runs:
        return ToolRan(True)
    parameters = {name: bound(value, values) for name, value in step.parameters.items()}
    return await act(ToolAction(step.runs, parameters, key))


def bound(parameters: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """Return `parameters` with the values of the fields that they name in braces."""
    if isinstance(parameters, str):
        whole = SLOT.fullmatch(parameters)
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        return SLOT.sub(lambda found: _shown(values.get(found[1])), parameters)
    if isinstance(parameters, dict):
        return {name: bound(value, values) for name, value in parameters.items()}
    if isinstance(parameters, list):
        return [bound(value, values) for value in parameters]
    return parameters


def with_results(
    session: ScenarioSession, graph: Graph, step: Step, data: Mapping[str, Any], *, turn: int
) -> ScenarioSession:
    """Return the session with what the tool's answer says of the step's results.

    What the answer does not hold, or not in the field's type, is not known.
    """
    found: dict[str, JsonValue] = {}
    for name, path in step.results.items():
        value = _at(data, path)
        if takes(graph.fields[name], value):
            found[name] = value
    evidence = Evidence(source="tool", turn=turn)
    emptied = without_values(session, step.results)
    return with_answers(emptied, found, graph, dict.fromkeys(found, evidence))


def with_run(session: ScenarioSession, key: str, step: str) -> ScenarioSession:
    """Return the session with the run on record, so that it is not made again."""
    done = ExecutedAction(idempotency_key=key, step_id=step, version=session.version)
    return session.model_copy(update={"executed": [*session.executed, done], "awaiting": ""})


def _shown(value: JsonValue) -> str:
    if value is None:
        return NOT_SAID
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _at(data: Any, path: str) -> JsonValue:
    for part in path.split("."):
        if part == "length" and isinstance(data, list | None):
            data = len(data or ())  # of what a tool gave, an empty list is left out
        elif isinstance(data, list) and part.isdecimal():
            data = data[int(part)] if int(part) < len(data) else None
        elif isinstance(data, Mapping):
            data = data.get(part)
        else:
            return None
    return data if isinstance(data, str | int | float | bool) else None


def begun(graph: Graph, *, session_id: str, channel: str, now: datetime) -> ScenarioSession:
    """Return a new session at the entry step."""
    return ScenarioSession(
        session_id=session_id,
        scenario_id=graph.scenario.id,
        version=graph.version,
        checksum=graph.checksum,
        step=graph.entry,
        step_history=[visit_of(graph, graph.entry, now)],
        channel=channel,
        created_at=now,
        updated_at=now,
    )


def next_branch(
    graph: Graph, step: str, values: Mapping[str, JsonValue]
) -> tuple[Branch | None, tuple[str, ...]]:
    """Return the branch to take and no fields, or no branch and the fields that decide.

    Raises:
        ScenarioConditionError: a condition cannot be decided from values of these types.
    """
    for branch in graph.branches(step):
        verdict = Verdict(True) if branch.condition is None else branch.condition.judge(values)
        if verdict.value is None:
            return None, verdict.missing
        if verdict.value:
            return branch, ()
    return None, ()


def missing_of(step: Step, values: Mapping[str, JsonValue]) -> list[str]:
    """Return the fields that the step collects and nobody knows yet."""
    wanted = dict.fromkeys((*step.collects_profile_fields, *step.needs))
    return [name for name in wanted if name not in values]


def needed_at(graph: Graph, step: Step, values: Mapping[str, JsonValue]) -> list[str]:
    """Return the fields that keep the session in `step`: collected there, or decided by there."""
    decide = next_branch(graph, step.id, values)[1]
    return missing_of(step, values) or [name for name in decide if name not in step.results]


def gone_on(
    session: ScenarioSession, graph: Graph, values: Mapping[str, JsonValue], now: datetime
) -> ScenarioSession | None:
    """Return the session behind its step, by the first branch whose condition holds.

    Returns:
        None while something is missing or no branch holds; after the last step it has ended.

    Raises:
        ScenarioConditionError: a condition cannot be decided from values of these types.
    """
    step = graph.steps[session.step or ""]
    if missing_of(step, values):
        return None
    if not graph.branches(step.id):
        return ended(session, graph, now)
    branch, _ = next_branch(graph, step.id, values)
    return None if branch is None else advanced(session, graph, branch.target, now)


def advanced(session: ScenarioSession, graph: Graph, target: str, now: datetime) -> ScenarioSession:
    """Return the session in `target` of its own version, the step it left completed.

    Raises:
        ScenarioPlanError: the version has no such step.
    """
    if target not in graph.steps or session.step is None:
        raise ScenarioPlanError(f"version {graph.version} has no step {target!r} to go to")
    passed = _passed(session, graph.steps[session.step], graph, now)
    moved = gone_to(session, graph, target, now)
    return moved.model_copy(update={"completed_checkpoints": passed})


def gone_to(
    session: ScenarioSession,
    graph: Graph,
    step: str,
    now: datetime,
    *,
    history: Sequence[StepVisit] | None = None,
) -> ScenarioSession:
    """Return the session at `step`, which has still to be said.

    Args:
        history: The visits before; all of the session's, the last one completed, if not given.
    """
    if history is None:
        history = with_last(session, transition=step, completed_at=now)
    visits = [*history, visit_of(graph, step, now)]
    return session.model_copy(
        update={"step": step, "step_history": visits, "awaiting": "", "updated_at": now}
    )


def ended(session: ScenarioSession, graph: Graph, now: datetime) -> ScenarioSession:
    """Return the session after its last step."""
    step = graph.steps[session.step or ""]
    return session.model_copy(
        update={
            "step": None,
            "step_history": with_last(session, completed_at=now),
            "completed_checkpoints": _passed(session, step, graph, now),
            "updated_at": now,
        }
    )


def spoken(session: ScenarioSession) -> ScenarioSession:
    """Return the session with its current step said to the user."""
    return session.model_copy(update={"step_history": with_last(session, spoken=True)})


def put_anew(session: ScenarioSession) -> ScenarioSession:
    """Return the session with its current step to be said again, before anything answers it."""
    return session.model_copy(update={"step_history": with_last(session, spoken=False)})


def flagged(
    session: ScenarioSession, reason: str, now: datetime, *, target: int = 0
) -> ScenarioSession:
    """Return the session on the operator's list.

    Args:
        target: The version that it does not go to; 0 where it is about none.
    """
    flag = ReviewFlag(target_version=target, reason=reason, flagged_at=now)
    return session.model_copy(update={"review": flag})


def with_last(session: ScenarioSession, **changes: object) -> list[StepVisit]:
    """Return the visits with `changes` of the last one."""
    *earlier, last = session.step_history
    return [*earlier, last.model_copy(update=changes)]


def _passed(
    session: ScenarioSession, left: Step, graph: Graph, now: datetime
) -> list[CompletedCheckpoint]:
    """The completed checkpoints once `left` is over; each is on record once, with its key."""
    checkpoints = session.completed_checkpoints
    is_known = any(passed.step_id == left.id for passed in checkpoints)
    if not left.is_checkpoint or is_known:
        return checkpoints
    done = CompletedCheckpoint(
        step_id=left.id,
        version=graph.version,
        description=left.checkpoint_description,
        idempotency_key=hashed(session.session_id, left.id),
        completed_at=now,
    )
    return [*checkpoints, done]


def visit_of(graph: Graph, step: str, now: datetime) -> StepVisit:
    """Return a visit of `step` that begins now."""
    return StepVisit(step_id=step, step_name=graph.steps[step].title, visited_at=now)


VISITS_LIMIT = 48
EXECUTED_LIMIT = 100


def bounded(session: ScenarioSession) -> ScenarioSession:
    """Return the session with its newest visits; loops over weeks would fill the document.

    The first visit stays, so that the way still begins at the entry; migrations take the route
    between what is left as they take it over steps that a version lost.
    """
    history = session.step_history
    if len(history) <= VISITS_LIMIT and len(session.executed) <= EXECUTED_LIMIT:
        return session
    over = max(0, len(history) - VISITS_LIMIT)
    return session.model_copy(
        update={
            "step_history": [*history[:1], *history[1 + over :]],
            "left_out_visits": session.left_out_visits + over,
            "executed": session.executed[-EXECUTED_LIMIT:],
        }
    )


LEFT_LIMIT = 4


def set_aside(document: ChatContext) -> None:
    """Make way for another session; one that has ended keeps only what it completed.

    Raises:
        ToolInputError: too many are left unfinished.
    """
    if (session := document.scenario) is None:
        return
    unfinished = [one for one in document.left_scenarios if one.step is not None]
    if session.step is None:
        session = session.model_copy(
            update={"step_history": [], "variables": {}, "evidence": {}, "spent": []}
        )
    elif len(unfinished) >= LEFT_LIMIT:
        raise ToolInputError("too many scenarios are unfinished; resume or finish one first")
    else:
        session = session.model_copy(update={"is_left": True})
    others = [one for one in document.left_scenarios if one.step is None]
    finished = [one for one in others if one.scenario_id != session.scenario_id]
    document.left_scenarios = [*finished[-LEFT_LIMIT:], *unfinished, session]
    document.scenario = None


def taken_up(document: ChatContext, scenario_id: str | None) -> bool:
    """Open a session that was left, the newest if none is named; False if there is none."""
    current = document.scenario
    meant = [one for one in _left(document) if scenario_id in (None, one.scenario_id)]
    if not meant:
        return False
    chosen = meant[0]
    if chosen is not current:
        document.left_scenarios.remove(chosen)
        set_aside(document)
    # What the step asks or says is said again: much may have been spoken of since.
    document.scenario = put_anew(chosen.model_copy(update={"is_left": False}))
    return True


def describe_left(document: ChatContext) -> str:
    """Return the answer to "where are we?" while no scenario is open."""
    names = [one.place.scenario for one in reversed(_left(document)) if one.place is not None]
    if not names:
        return "No scenario is open here."
    return f'No scenario is open; left for later: {", ".join(names)}. Say "resume" to go on.'


def _left(document: ChatContext) -> list[ScenarioSession]:
    current = document.scenario
    everything = [*document.left_scenarios, *([] if current is None else [current])]
    return [one for one in everything if one.is_left and one.step is not None]
