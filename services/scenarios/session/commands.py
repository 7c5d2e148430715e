"""What users say of a scenario itself: commands, and answers that they take back. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import JsonValue

from data_models.errors import ToolInputError
from data_models.scenarios.scenario import FieldDefinition
from data_models.scenarios.scenario_session import CompletedCheckpoint, ScenarioSession, StepVisit
from services.language.replies.corrections import Correction
from services.language.replies.field_answers import is_plainly, value_in
from services.language.words.folding import words_of
from services.language.words.phrases import parts_in, says, without
from services.language.words.text_words import words_as_written
from services.scenarios.definition.graph import Graph
from services.scenarios.session.progress import gone_to, next_branch, put_anew

_CommandKind: TypeAlias = Literal[
    "where", "question", "noted", "back", "skip", "leave", "resume", "list", "start"
]
_LONGEST_CHARS = 160
_PLAIN_KINDS: tuple[_CommandKind, ...] = ("where", "question", "noted", "list", "back", "skip")
_KINDS: tuple[_CommandKind, ...] = ("leave", "resume", "start")
_ANY = frozenset({"scenario", "szenario", "it", "this", "that", "das", "intake", "workflow"})


@dataclass(frozen=True, slots=True)
class Command:
    """What is wanted.

    Attributes:
        name: As it was said; "" for whichever is open or was left.
        is_bare: The message may be no command at all, only words.
    """

    kind: _CommandKind
    name: str = ""
    is_bare: bool = False


def command_in(text: str) -> Command | None:
    """Return the command that `text` may be; a name has still to be a scenario's."""
    if len(text) > _LONGEST_CHARS:
        return None
    for kind in _PLAIN_KINDS:
        if says(text, f"scenario_{kind}"):
            return Command(kind)
    for kind in _KINDS:
        if (found := parts_in(text, f"scenario_{kind}")) is not None:
            return Command(kind, _plain(found.get("name", "")))
    words = " ".join(words_as_written(text.casefold()))
    return Command("start", _plain(words), is_bare=True) if len(words.split()) <= 8 else None


def named(name: str, titles: Mapping[str, str]) -> str | None:
    """Return the id of the scenario that `name` is, by title or id; None if it is none."""
    said = _words(name)
    for scenario_id, title in titles.items():
        if said and said in (_words(title), _words(scenario_id)):
            return scenario_id
    return None


def is_any(name: str) -> bool:
    """Whether `name` means whichever scenario is open or was left."""
    return name in _ANY or not name


def _plain(name: str) -> str:
    name = name.casefold()
    while (shorter := without(name, "scenario_tail").strip()) != name:
        name = shorter
    return name


def _words(text: str) -> str:
    return " ".join(words_of(text))


# An answer that is taken back: which one, and what it changes about the way.


@dataclass(frozen=True, slots=True)
class Decided:
    """A session whose forks were decided again.

    Attributes:
        left: The step it was in, if it is in another one now.
        blocked_by: The completed checkpoint that keeps it where it is.
        blocked_target: The step that it would go to.
    """

    session: ScenarioSession
    left: str = ""
    blocked_by: CompletedCheckpoint | None = None
    blocked_target: str = ""


def decided_again(
    session: ScenarioSession,
    graph: Graph,
    changed: Collection[str],
    values: Mapping[str, JsonValue],
    now: datetime,
) -> Decided:
    """Decide each fork on the session's way that used a `changed` field with the `values` of now.

    The first one that leads elsewhere is gone back to, and so is a step whose tool ran with the old
    value, unless something that cannot be undone was completed behind it.

    Raises:
        ScenarioConditionError: a condition cannot be decided from values of these types.
    """
    history = session.step_history
    newest = {visit.step_id: at for at, visit in enumerate(history)}
    for at, visit in enumerate(history):
        if visit.transition is None or visit.skipped or newest[visit.step_id] != at:
            continue
        step = graph.steps.get(visit.step_id)
        runs_again = step is not None and step.acts and not set(changed).isdisjoint(step.slots)
        if not (runs_again or _uses(graph, visit, changed)):
            continue
        branch = None if runs_again else next_branch(graph, visit.step_id, values)[0]
        target = branch.target if branch is not None else visit.step_id
        if target == visit.transition:
            continue
        if (blocking := _completed_behind(session, at)) is not None:
            return Decided(session, blocked_by=blocking, blocked_target=target)
        if runs_again:  # its tool runs anew, and what follows asks
            moved = gone_to(session, graph, target, now)
        else:
            moved = _forked_to(session, graph, at, target, now)
        return Decided(moved, left=session.step or "")
    return Decided(session)


def gone_back(session: ScenarioSession, graph: Graph, now: datetime) -> ScenarioSession:
    """Return the session at the last step before its own that asked something.

    Raises:
        ToolInputError: nothing was asked before, or something that cannot be undone was completed
            since.
    """
    for at in range(len(session.step_history) - 2, -1, -1):
        step = session.step_history[at].step_id
        if step not in graph.steps or not graph.steps[step].collects_profile_fields:
            continue
        if (blocking := _completed_behind(session, at)) is not None:
            done = blocking.description or blocking.step_id
            raise ToolInputError(f"“{done}” is completed and cannot be undone, so we stay here")
        return gone_to(session, graph, step, now, history=session.step_history[:at])
    raise ToolInputError("nothing was asked before this, so there is nothing to go back to")


def answer_meant(
    correction: Correction, session: ScenarioSession, graph: Graph
) -> list[FieldDefinition]:
    """Return the answered fields that a correction may mean; several if it does not say which."""
    said = [name for name, one in session.evidence.items() if one.source != "tool"]
    given = [graph.fields[name] for name in said if name in graph.fields]
    given = [field for field in given if field.name in session.variables]
    if correction.nth:
        at = correction.nth - 1 if correction.nth > 0 else -1
        return given[at:][:1]
    named = [field for field in given if _is_named(field, correction.what)]
    if named or correction.what:
        return named
    if correction.old:
        held = session.variables
        return [f for f in given if _is_same(value_in(f, correction.old), held[f.name])]
    if correction.is_bare:
        # The last answer may be meant, and what is asked now; "yes" and "no" answer what is asked.
        last = given[-1:]
        step = graph.steps.get(session.step or "")
        asked = [graph.fields[name] for name in step.collects_profile_fields] if step else []
        may_be = [
            one for one in last if one.value_type != "boolean" and is_plainly(one, correction.new)
        ]
        return may_be and [*may_be, *(one for one in asked if is_plainly(one, correction.new))]
    if not correction.is_sure:
        return []
    if not correction.new:
        return given[-1:]
    return [field for field in given if is_plainly(field, correction.new)][-1:]


def _is_same(said: JsonValue, held: JsonValue) -> bool:
    if isinstance(said, str) and isinstance(held, str):
        return words_of(said) == words_of(held)
    return said is not None and said == held


def _is_named(field: FieldDefinition, what: str) -> bool:
    words = words_of(what)
    names = (words_of(field.label), words_of(field.name.replace("_", " ")))
    return bool(words) and (words in names or any(set(words) < set(name) for name in names))


def _uses(graph: Graph, visit: StepVisit, changed: Collection[str]) -> bool:
    if visit.step_id not in graph.steps or not graph.is_fork(visit.step_id):
        return False
    return not set(changed).isdisjoint(graph.fields_decided_by(visit.step_id))


def _completed_behind(session: ScenarioSession, fork: int) -> CompletedCheckpoint | None:
    """Return a checkpoint that was completed at the fork or behind it, or nobody knows where."""
    last = {visit.step_id: at for at, visit in enumerate(session.step_history)}
    for passed in session.completed_checkpoints:
        if passed.version != session.version or passed.step_id not in last:
            return passed
        if last[passed.step_id] >= fork:
            return passed
    return None


def _forked_to(
    session: ScenarioSession, graph: Graph, fork: int, target: str, now: datetime
) -> ScenarioSession:
    """Return the session as if the fork had led to `target`; the fork itself is opened again."""
    *history, visit = session.step_history[: fork + 1]
    if target != visit.step_id:
        closed = visit.model_copy(update={"transition": target})
        return gone_to(session, graph, target, now, history=[*history, closed])
    opened = visit.model_copy(update={"transition": None, "completed_at": None})
    moved = {"step": target, "step_history": [*history, opened], "updated_at": now}
    return put_anew(session.model_copy(update=moved))
