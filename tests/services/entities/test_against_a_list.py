"""Random histories, played through the managers and through plain lists."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.entities.entities import Entities
from services.entities.circumstances import AgentNames
from services.entities.delta import EntityDelta
from tests.amounts import amount
from tests.services.entities.list_model import ListModel
from tests.services.entities.world import World

CAP = 3
AGENTS = ["One", "Two"]
KEYS = ["a_preference", "b_preference", "plain", "other", "more", "x_id", "y_id", "z_id"]
VALUES = [None, 0, 1, True, [], ["x"], {"a": 1}, "text"]
SOURCES = ["inferred", "extracted", "user_stated"]
HISTORIES = amount(by_day=1_000, by_night=10_000)

keys = st.sampled_from(KEYS)
values = st.sampled_from(VALUES)
rows = st.dictionaries(keys, values, max_size=5)
few = st.lists(keys, max_size=2)
agents = st.sampled_from(AGENTS)
steps = st.sampled_from([0, 0, 1, 5])
deltas = st.tuples(st.just("delta"), agents, rows, rows, few, st.sampled_from(SOURCES), few, steps)
tools = st.tuples(
    st.just("tool"), agents, rows, st.sampled_from([None, 0, 3]), few.map(tuple), few, steps
)
reloads = st.just(("reload",))
histories = st.lists(st.one_of(deltas, tools, deltas, tools, reloads), min_size=1, max_size=8)


@pytest.mark.slow
@given(histories)
def test_the_managers_agree_with_plain_lists(history: list[Any]) -> None:
    assert_agreement(history)


@pytest.mark.large
@pytest.mark.slow
def test_the_managers_agree_with_plain_lists_over_longer_histories() -> None:
    for seed in range(HISTORIES):
        assert_agreement(random_history(Random(seed)))


def random_history(random: Random) -> list[Any]:
    """A longer history than hypothesis cares to draw, in a fraction of the time."""

    def rows() -> dict[str, Any]:
        return {key: random.choice(VALUES) for key in random.sample(KEYS, random.randrange(6))}

    def few() -> list[str]:
        return random.sample(KEYS, random.choice([0, 0, 1, 2]))

    def step() -> tuple[Any, ...]:
        agent, seconds = random.choice(AGENTS), random.choice([0, 0, 1, 5])
        match random.choice(["delta", "delta", "tool", "tool", "reload"]):
            case "delta":
                source = random.choice(SOURCES)
                return ("delta", agent, rows(), rows(), few(), source, few(), seconds)
            case "tool":
                valid_for = random.choice([None, 0, 3])
                return ("tool", agent, rows(), valid_for, tuple(few()), few(), seconds)
            case _:
                return ("reload",)

    steps = [step() for _ in range(random.randint(1, 12))]
    # The same again: what was just sent is often sent twice.
    return [one for step in steps for one in [step] * random.choice([1, 1, 1, 2])]


def assert_agreement(history: list[Any]) -> None:
    world, model = new_world()
    for step in history:
        play(world, model, step)
        for agent in AGENTS:
            seen = (list(world.wanted().items()), list(world.found(agent).items()))
            assert json.dumps(seen) == json.dumps(model.view(agent, world.seconds)), history
        assert_invariants(world)


def new_world() -> tuple[World, ListModel]:
    world = World(team=AgentNames.of(AGENTS))
    world.entities.conversation.max_size = world.entities.derived.max_size_per_agent = CAP
    return world, ListModel(CAP)


def play(world: World, model: ListModel, step: tuple[Any, ...]) -> None:
    match step:
        case ("delta", agent, wishes, finds, remove, source, pinned, seconds):
            world.seconds += seconds
            delta = EntityDelta(
                entities_to_update=wishes,
                derived_entities_to_update=finds,
                entities_to_remove=remove,
            )
            world.sends(delta, agent=agent, source=source, pinned=pinned)
            model.delta(agent, wishes, finds, remove, source, pinned, world.seconds)
        case ("tool", agent, finds, valid_for, depends_on, pinned, seconds):
            world.seconds += seconds
            world.finds(
                finds, agent=agent, valid_for=valid_for, depends_on=depends_on, pinned=pinned
            )
            model.tool(agent, finds, valid_for, depends_on, pinned, world.seconds)
        case _:
            text = json.dumps(world.entities.model_dump(mode="json"), sort_keys=True)
            world.entities = Entities.model_validate_json(text)


def assert_invariants(world: World) -> None:
    wished = set(world.entities.conversation.entities)
    assert len(wished) <= CAP
    for agent, queue in world.entities.derived.agent_entities.items():
        assert len(queue) <= CAP
        assert all(one.agent_name == agent for one in queue.values())
        live = {key for key, one in queue.items() if not one.is_expired(world.now)}
        assert wished.isdisjoint(live), "one key is never in both namespaces"


@pytest.mark.slow
@given(histories, deltas)
def test_any_delta_twice_changes_nothing_the_second_time(history: list[Any], last: Any) -> None:
    world, model = new_world()
    for step in [*history, last]:
        play(world, model, step)
    before = world.entities.model_copy(deep=True)
    play(world, model, (*last[:-1], 0))
    assert world.entities == before
