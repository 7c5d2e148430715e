"""Random scenarios with loops, edits of them, and sessions that came some way."""

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from random import Random

from hypothesis import strategies as st
from pydantic import JsonValue

from data_models.scenarios.scenario import FieldDefinition, Scenario, Step, Transition
from data_models.scenarios.scenario_session import (
    CompletedCheckpoint,
    Extracted,
    PatientProfile,
    ProfileField,
    ScenarioSession,
    StepVisit,
)
from data_models.storage.local_blob_tags import IN_MEMORY, LocalBlobTags
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.case import Case, ReconciliationResult, with_action_done
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import DeploymentRecord
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.reconciliation import reconcile
from services.scenarios.migration.session_index import TAGS, SessionIndex, SessionRow, session_tags
from services.scenarios.scenario_settings import MigrationConfig
from services.scenarios.session.facts import with_answers

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FIELDS = ("age", "dose", "stage", "visits")
AGAIN = "again"
"""A field that only an added loop reads."""
LOOPS_LIMIT = 60
SIMPLE: ContextVar[bool] = ContextVar("simple", default=False)


@dataclass(frozen=True)
class Node:
    """A step of a draft; the way out without condition leads to the next node."""

    id: str
    text: str
    collects: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    checkpoint: bool = False
    required: bool = False
    forks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class World:
    """Versions of one scenario and a session somewhere in the first."""

    drafts: tuple[tuple[Node, ...], ...]
    session: ScenarioSession
    known: dict[str, JsonValue]
    truth: dict[str, JsonValue]

    @cached_property
    def graphs(self) -> list[Graph]:
        return [graph_of(draft, version) for version, draft in enumerate(self.drafts, 1)]


class MemoryIndex(SessionIndex):
    """An index that lives as long as the test, over `tags` that stores keep."""

    def __init__(self, path: Path = IN_MEMORY) -> None:
        self.local = LocalBlobTags(path=path, names=TAGS, tags_of=session_tags)
        super().__init__(tags=self.local)


def row(name: str, scenario: str = "world", version: int = 1) -> SessionRow:
    """A session, each in a document of its own."""
    return SessionRow(name, scenario, version, "hash", "web", NOW, place=f"{name}_context.json")


def graph_of(nodes: tuple[Node, ...], version: int) -> Graph:
    return checked_graph(scenario_of(nodes, version))


def scenario_of(nodes: tuple[Node, ...], version: int) -> Scenario:
    ids = {node.id for node in nodes}
    steps = []
    for index, node in enumerate(nodes):
        ways = [Transition(target=t, condition=c) for c, t in node.forks if t in ids]
        if index + 1 < len(nodes):
            ways.append(Transition(target=nodes[index + 1].id))
        elif len(ways) > 1:
            ways.append(Transition(target=node.id))
        steps.append(
            Step(
                id=node.id,
                name=node.text,
                collects_profile_fields=node.collects,
                uses=node.uses,
                is_checkpoint=node.checkpoint,
                is_required_action=node.required,
                transitions=tuple(ways),
            )
        )
    return Scenario(
        id="world",
        version=version,
        entry_step=nodes[0].id,
        fields=tuple(FieldDefinition(name=name, value_type="integer") for name in (*FIELDS, AGAIN)),
        steps=tuple(steps),
    )


def a_condition(chance: Random) -> str:
    if chance.random() < 0.2 and not SIMPLE.get():
        return "age < 2 && dose > 1"
    return f"{chance.choice(FIELDS)} < {chance.randint(0, 3)}"


def some_fields(chance: Random) -> tuple[str, ...]:
    return tuple(chance.sample(FIELDS, chance.choice([0, 0, 1, 2])))


def a_node(chance: Random, name: str, targets: list[str]) -> Node:
    forks = chance.choice([0, 0, 0, 1, 2])
    return Node(
        id=name,
        text=chance.choice([f"do {name}", f"do {name}", "twin"]),
        collects=some_fields(chance),
        uses=some_fields(chance),
        checkpoint=chance.random() < 0.25,
        required=chance.random() < 0.2,
        forks=tuple((a_condition(chance), chance.choice(targets)) for _ in range(forks)),
    )


def a_draft(chance: Random, size: int) -> tuple[Node, ...]:
    names = [f"s{index}" for index in range(size)]
    return tuple(a_node(chance, name, names) for name in names)


def edited(chance: Random, nodes: tuple[Node, ...], mark: str, edits: int) -> tuple[Node, ...]:
    """Insert, delete, change, fork and swap a few times."""
    result = list(nodes)
    for number in range(edits):
        index = chance.randrange(len(result))
        names = [node.id for node in result]
        match chance.choice(["insert", "insert", "delete", "change", "fork", "swap"]):
            case "insert":
                result.insert(index, a_node(chance, f"{mark}{number}", names))
            case "delete" if len(result) > 2:
                del result[index]
            case "change":
                fields = some_fields(chance)
                result[index] = replace(result[index], text=f"now {mark}", collects=fields)
            case "fork":
                way = (a_condition(chance), chance.choice(names))
                result[index] = replace(result[index], forks=(*result[index].forks, way))
            case _:
                result[index], result[-1] = result[-1], result[index]
    return tuple(result)


def a_session(chance: Random, graph: Graph) -> ScenarioSession:
    path = [graph.entry]
    for _ in range(chance.randint(0, 8)):
        targets = graph.successors[path[-1]]
        if not targets:
            break
        path.append(chance.choice(targets))
    visited = [step for step in dict.fromkeys(path[:-1]) if graph.steps[step].is_checkpoint]
    return session_at(graph, path, [step for step in visited if chance.random() < 0.75])


def session_at(graph: Graph, path: list[str], passed: list[str]) -> ScenarioSession:
    return ScenarioSession(
        session_id="one",
        scenario_id=graph.scenario.id,
        version=graph.version,
        checksum=graph.checksum,
        step=path[-1],
        step_history=[StepVisit(step_id=step, visited_at=NOW) for step in path],
        completed_checkpoints=[
            CompletedCheckpoint(step_id=step, version=graph.version, completed_at=NOW)
            for step in passed
        ],
        created_at=NOW,
        updated_at=NOW,
    )


def simple_world_of(seed: int, versions: int, size: int, edits: int) -> World:
    """A world whose conditions read one field each, so that every question is one field."""
    token = SIMPLE.set(True)
    try:
        return world_of(seed, versions, size, edits)
    finally:
        SIMPLE.reset(token)


def world_of(seed: int, versions: int, size: int, edits: int) -> World:
    chance = Random(seed)
    found = [a_draft(chance, size)]
    for number in range(1, versions):
        found.append(edited(chance, found[-1], "nmopq"[number], edits))
    truth: dict[str, JsonValue] = {name: chance.randint(0, 4) for name in FIELDS}
    known = {name: truth[name] for name in FIELDS if chance.random() < 0.5}
    return World(tuple(found), a_session(chance, graph_of(found[0], 1)), known, truth)


def worlds(versions: int = 2, *, simple: bool = False) -> st.SearchStrategy[World]:
    """Worlds by seed: drawing every choice by itself would take five times as long."""
    seeds = st.integers(0, 2**48)
    make = simple_world_of if simple else world_of
    return st.builds(make, seeds, st.just(versions), st.integers(2, 8), st.integers(0, 5))


@dataclass
class Played:
    """What happened until nothing was asked any more."""

    session: ScenarioSession
    profile: PatientProfile
    outcomes: list[ReconciliationResult] = field(default_factory=list)

    @property
    def asked(self) -> list[str]:
        return [
            name
            for outcome in self.outcomes
            for name in (*outcome.collect_fields, *outcome.confirm_fields)
        ]

    @property
    def executed(self) -> list[str]:
        return [step for outcome in self.outcomes for step in outcome.execute_actions]

    @property
    def last(self) -> ReconciliationResult:
        return self.outcomes[-1]


def facts(
    values: dict[str, JsonValue], place: str
) -> tuple[PatientProfile, dict[str, JsonValue], dict[str, Extracted]]:
    """The same values as profile, session variables or certain extraction."""
    in_profile = {name: ProfileField(value=value) for name, value in values.items()}
    said = {name: Extracted(value=v, confidence=0.97, quote="so") for name, v in values.items()}
    return (
        PatientProfile(fields=in_profile if place == "profile" else {}),
        dict(values) if place == "session" else {},
        said if place == "extraction" else {},
    )


def play(
    graphs: list[Graph],
    session: ScenarioSession,
    known: dict[str, JsonValue],
    truth: dict[str, JsonValue],
    *,
    place: str = "profile",
    config: MigrationConfig | None = None,
) -> Played:
    """Reconcile until it rests, answering every question truthfully."""
    chain = VersionChain(graphs=graphs, plans={})
    profile, variables, said = facts(known, place)
    played = Played(session.model_copy(update={"variables": variables}), profile)
    for _ in range(LOOPS_LIMIT):
        outcome = once(chain, played.session, played.profile, said, config=config)
        played.outcomes.append(outcome)
        played.session = outcome.session
        if outcome.settled:
            return played
        asked = (*outcome.collect_fields, *outcome.confirm_fields)
        answers = {name: truth[name] for name in asked}
        played.session = with_answers(played.session, answers, chain.active)
        for step in outcome.execute_actions:
            played.session = with_action_done(played.session, step, chain.active.version, NOW)
    raise AssertionError("the migration does not end")


def once(
    chain: VersionChain,
    session: ScenarioSession,
    profile: PatientProfile,
    said: dict[str, Extracted] | None = None,
    *,
    config: MigrationConfig | None = None,
) -> ReconciliationResult:
    return reconcile(
        Case(
            session=session,
            profile=profile,
            move=chain.move_from(session.version),
            extracted=said or {},
            config=config or MigrationConfig(),
            now=NOW,
        )
    )


async def deploy_now(
    deployer: Deployer, scenario_id: str, *, share_percent: int = 100
) -> DeploymentRecord:
    """Begin, or go on with what is under way, and work until it rests."""
    running = await deployer.store.deployment(scenario_id)
    if running is None or not running.value.is_under_way:
        await deployer.start(scenario_id, share_percent=share_percent)
    return await deployer.advance(scenario_id)
