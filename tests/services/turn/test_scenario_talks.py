"""Talks in scenarios as tables: what a user says, a line each, and where the session then is."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue

from data_models.conversations.turn_events import Notice, RunFailed
from services.group_chat_port import GroupChatRequest
from services.scenarios.definition.graph import Graph
from services.scenarios.scenario_settings import MigrationConfig
from tests.services.scenario_world import ScenarioWorld, questions, sample, step, version
from tests.services.world import Heard
from tests.tables import tables_beside, with_cases

_GREET = step("greet", "size", instructions="Greet.")
_END = step("end", instructions="End.")
_SIZE = step("size", "smokes", collects_profile_fields=("size",))
_WHICH = step("which", ("size > 5", "big"), "small")
_LOOK = step("look", "smokes", kind="tool", tool="load_patient_data", parameters={"n": "{size}"})
_QM = step("b", "end", collects_profile_fields=("qm",))
_OTHER = version(1, step("ask", "end", collects_profile_fields=("size",)), _END).scenario
_WORK = step("work", "end", collects_profile_fields=("work",))
_DONE = step("end", instructions="End.", uses=("work", "age", "email"))
_BEGIN = step("greet", "work", instructions="Greet.")


def asks_first(name: str, number: int, *ways: tuple[str, str], **more: Any) -> Graph:
    """Return a version of the work with a step before it that collects a field or does more."""
    first = f"ask_{name}"
    asks = step(first, *ways, "work", **more or {"collects_profile_fields": (name,)})
    away = [step(target, instructions="Go away.") for _, target in ways]
    greet = step("greet", first, instructions="Greet.")
    return version(number, greet, asks, *away, _WORK, _DONE, email="text")


VISIT = version(
    1,
    _GREET,
    step("size", ("size > 5", "big"), "done", collects_profile_fields=("size",)),
    step("big", "done", kind="tool", tool="load_patient_data"),
    step("done", instructions="Say goodbye.", uses=("size",)),
)
GRAPHS: dict[str, Graph] = {
    "visit": VISIT,
    "fork": version(
        1,
        _GREET,
        _SIZE,
        step("smokes", "which", collects_profile_fields=("smokes",)),
        _WHICH,
        step("big", "end", collects_profile_fields=("weight",)),
        step("small", "end", collects_profile_fields=("pain",)),
        _END,
        smokes="boolean",
    ),
    "consent": version(
        1,
        step("ask", ("consent", "recorded"), "end", collects_profile_fields=("consent",)),
        step("recorded", "end", is_checkpoint=True, checkpoint_description="Consent"),
        _END,
        consent="boolean",
    ),
    "paid": version(
        1,
        _GREET,
        step("size", "which", collects_profile_fields=("size",)),
        step("which", ("size > 5", "big"), "pay"),
        step("big", "end", instructions="Big."),
        step("pay", "rate", is_checkpoint=True, checkpoint_description="Payment"),
        step("rate", "end", collects_profile_fields=("rate",)),
        _END,
    ),
    "looks": version(
        1,
        _GREET,
        step("size", "look", collects_profile_fields=("size",)),
        _LOOK,
        step("smokes", "end", collects_profile_fields=("smokes",)),
        _END,
        smokes="boolean",
    ),
    "both": version(
        1, _GREET, step("size", "end", collects_profile_fields=("size", "weight")), _END
    ),
    "before the gap": version(1, step("greet", "b", instructions="Greet."), _QM, _END),
    "with a gap": version(
        2,
        step("greet", "k", instructions="Greet."),
        step("k", "b", collects_profile_fields=("qk",)),
        _QM,
        step("end", instructions="End.", uses=("qk",)),
    ),
    "work": version(1, _BEGIN, _WORK, _DONE),
    "work again": version(3, _BEGIN, _WORK, _DONE),
    "work and more": version(
        2,
        _BEGIN,
        _WORK,
        step("end", "after", instructions="End.", uses=("work",)),
        step("after", instructions="After."),
    ),
    "other work": version(
        2,
        step("greet", "other", instructions="Greet."),
        step("other", "end", collects_profile_fields=("age",), description="Another one."),
        _DONE,
    ),
    "asks age": asks_first("age", 2),
    "asks email": asks_first("email", 2),
    "asks age last": asks_first("age", 4),
    "forks by age": asks_first("age", 2, ("age < 18", "away"), collects_profile_fields=("age",)),
    "checks first": asks_first(
        "record", 2, kind="tool", tool="load_patient_data", is_required_action=True
    ),
    "other": Graph(scenario=_OTHER.model_copy(update={"id": "other", "name": "Other"})),
}
_STRAIGHT = str.maketrans("„“”", '"' * 3)


class Line(BaseModel):
    """One message; of what is not given nothing is asserted.

    Attributes:
        minutes: How long after the line before it is said.
        publishes: The scenario that is published first; deploys: the versions that are deployed.
        records: What the team records of it; finds: what a model finds in what was said before.
        fails: Whether the turn fails; texts: all that is said; told: parts of it.
        asks: All that the server asks or announces.
        notices: All notices; noticed: parts of them, behind their kind.
        shown: Parts of what the lead is told of the scenario, led: whether it is told of one.
        quoted: The words that prove a value; ran_with: what the tools were given so far.
        waiting: The steps of scenarios that were left; left_with: their values.
        place: Parts of what clients are shown; question: the kind of the one that is open.
        event: Parts of the one event of a migration; events: the versions that all led to.
        model_asked: How often a model was asked; all else as in the session.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str
    minutes: int = 0
    publishes: str = ""
    deploys: list[str] = []
    records: dict[str, JsonValue] = {}
    finds: list[dict[str, JsonValue]] = []
    fails: bool = False
    texts: list[str] = []
    told: list[str] = []
    asks: list[str] = []
    notices: list[str] = []
    noticed: list[str] = []
    shown: list[str] = []
    led: bool = True
    scenario: str | None = None
    step: str | None = None
    left: bool = False
    path: list[str] = []
    variables: dict[str, JsonValue] = {}
    to_confirm: dict[str, JsonValue] = {}
    quoted: dict[str, str] = {}
    completed: list[str] = []
    review: str | None = None
    ran_with: list[dict[str, JsonValue]] = []
    waiting: list[str | None] = []
    left_with: list[dict[str, JsonValue]] = []
    lasting: dict[str, JsonValue] = {}
    place: dict[str, JsonValue] = {}
    version: int = 1
    question: str = ""
    event: dict[str, JsonValue] = {}
    events: list[int] = []
    model_asked: int = 0


_GIVEN = {"say", "minutes", "publishes", "deploys", "records", "finds"}


class Talk(BaseModel):
    """Lines about patient_4 in scenarios that are published; with `each`, once with every text.

    Attributes:
        begins: The scenario that is begun first; none where the lines say so themselves.
        after: What is said before, a list of the same file.
        quotes: Whether the team quotes the whole message for what it records.
        config: How versions reach sessions, as operators set it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    publishes: list[str] = ["visit"]
    begins: str | None = "visit"
    after: str = ""
    quotes: bool = True
    config: dict[str, Any] = {}
    each: list[str] = [""]
    says: list[str | dict[str, Any]]


def _graph(name: str) -> Graph:
    return GRAPHS.get(name) or sample(name)


async def found(line: Line, heard: Heard, world: ScenarioWorld, shown: str) -> dict[str, Any]:
    """Return what came of a line, in the form of what was expected."""
    document = await world.document()
    session, left = document.scenario, document.left_scenarios
    notices = [one for one in heard.events if isinstance(one, Notice)]
    kinds, said = "\n".join(f"{one.kind}: {one.text}" for one in notices), "\n".join(heard.texts)
    beside = {
        "fails": isinstance(heard.end, RunFailed),
        "texts": heard.texts,
        "told": [one for one in line.told if one in said],
        "asks": [one.translate(_STRAIGHT) for one in questions(heard)],
        "notices": [one.text for one in notices],
        "noticed": [one for one in line.noticed if one in kinds],
        "shown": [one for one in line.shown if one in shown],
        "led": shown != "",
        "scenario": session and session.scenario_id,
        "ran_with": [one.parameters for one in world.team.actions],
        "waiting": [one.step for one in left],
        "left_with": [one.variables for one in left],
        "lasting": document.profile.fields,
        "model_asked": len(world.model.questions),
        **await _of_migrations(line, world),
    }
    if session is None:
        return beside
    place = session.place.model_dump() if session.place is not None else {}
    return beside | {
        "version": session.version,
        "step": session.step,
        "left": session.is_left,
        "path": session.path,
        "variables": session.variables,
        "to_confirm": session.to_confirm,
        "quoted": {name: session.evidence[name].quote for name in line.quoted},
        "completed": [one.step_id for one in session.completed_checkpoints],
        "review": session.review and session.review.reason,
        "place": {name: place.get(name) for name in line.place},
    }


async def _of_migrations(line: Line, world: ScenarioWorld) -> dict[str, Any]:
    """Return what is kept of jumps: once, on the trail as well, and nothing waits for delivery."""
    question = (await world.conversation()).open_question
    events = await world.events()
    if "event" in line.model_fields_set:
        assert len(events) == len(await world.trail_entries()) == 1
        assert (await world.session()).outbox == []
    last = events[-1].model_dump() if events else {}
    return {
        "question": question.kind if question else "",
        "event": {name: last.get(name) for name in line.event},
        "events": [one.to_version for one in events],
    }


async def play(talk: Talk, text: str, before: list[Any]) -> None:
    """Say the lines one after another, and look at what comes of each."""
    deployment = {"require_approval": False} | talk.config.get("deployment", {})
    config = MigrationConfig.model_validate({**talk.config, "deployment": deployment})
    world, shown = ScenarioWorld(quotes=talk.quotes, config=config), [""]

    def say(request: GroupChatRequest) -> list[str]:
        shown[0] = "" if request.scenario is None else request.scenario.grounding
        return [f"Heard: {request.text}"]

    world.team.say = say
    for name in talk.publishes:
        await world.publish(_graph(name))
    if talk.begins is not None:
        await world.begin(talk.begins)
    for written in (*before, *talk.says):
        given = {"say": written} if isinstance(written, str) else written
        line = Line.model_validate(_filled(given, text))
        world.clock.advance(60 * line.minutes)
        if line.publishes:
            await world.publish(_graph(line.publishes))
        for name in line.deploys:
            await world.deploy(_graph(name))
        world.model.found = line.finds
        shown[0] = ""
        seen = await found(line, await world.say(line.say, **line.records), world, shown[0])
        expected = line.model_dump(include={*given} - _GIVEN)
        if "asks" in expected:
            expected["asks"] = [one.translate(_STRAIGHT) for one in line.asks]
        assert {name: seen.get(name) for name in expected} == expected, line.say


def _filled(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, text) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, text) for inner in value]
    return value.replace("{}", text) if isinstance(value, str) else value


@pytest.mark.slow
@with_cases("talk")
async def test_it_goes_so(talk: dict[str, Any]) -> None:
    given = Talk.model_validate(talk)
    before = tables_beside(Path(__file__))["before"][given.after] if given.after else []
    for text in given.each:
        await play(given, text, before)
