"""P1 to P13 over random graphs with loops, random edits and random sessions (5.6)."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.move import VersionChain, match_anchors
from services.scenarios.scenario_settings import MigrationConfig, ReRoutingConfig
from tests.services.scenarios.worlds import (
    NOW,
    Node,
    Played,
    World,
    graph_of,
    once,
    play,
    session_at,
    simple_world_of,
    worlds,
)

pytestmark = pytest.mark.timeout(1_800)
TestT = TypeVar("TestT", bound=Callable[..., None])


def many(test: TestT) -> TestT:
    """Three times as many examples as other rules get: every mistake here moves a session."""
    return settings(max_examples=min(5_000, 3 * settings().max_examples))(test)


def run(world: World) -> Played:
    return play(world.graphs, world.session, world.known, world.truth)


@pytest.mark.slow
@many
@given(worlds(versions=3))
def test_p1_the_step_exists_in_the_stored_version(world: World) -> None:
    played = run(world)
    graphs = {graph.version: graph for graph in world.graphs}
    for outcome in played.outcomes:
        graph = graphs[outcome.session.version]
        assert outcome.session.step is None or outcome.session.step in graph.steps
        assert {v.step_id for v in outcome.session.step_history} <= set(graph.steps)
        assert outcome.session.checksum == graph.checksum


@pytest.mark.slow
@many
@given(worlds())
def test_p2_nobody_lands_at_or_behind_a_completed_checkpoint(world: World) -> None:
    played = run(world)
    after = played.session
    if after.version == 1 or after.step is None:
        return
    new = world.graphs[1]
    own = match_anchors(world.graphs[0], new).image.get(world.session.step or "")
    for passed in after.completed_checkpoints:
        if passed.version == 2:
            assert passed.step_id != after.step or after.step == own


@pytest.mark.slow
@many
@given(worlds())
def test_p2_every_completed_checkpoint_stays_on_record(world: World) -> None:
    before, after = world.session, run(world).session
    assert len(after.completed_checkpoints) == len(before.completed_checkpoints)


@pytest.mark.slow
@many
@given(worlds())
def test_p3_the_same_content_under_a_new_number_changes_nothing(world: World) -> None:
    graphs = [graph_of(world.drafts[0], 1), graph_of(world.drafts[0], 2)]
    played = play(graphs, world.session, world.known, world.truth)
    assert not played.last.changed
    assert played.session.model_dump() == world.session.model_dump()


@pytest.mark.slow
@many
@given(worlds(versions=3))
def test_p4_a_second_turn_changes_nothing(world: World) -> None:
    played = run(world)
    chain = VersionChain(graphs=world.graphs, plans={})
    if chain.has(played.session.version):
        again = once(chain, played.session, played.profile)
        assert not again.changed
        assert again.session == played.session


@pytest.mark.slow
@many
@given(worlds(versions=4))
def test_p5_only_what_the_last_version_needs_is_asked(world: World) -> None:
    played = run(world)
    final = world.graphs[-1]
    forks = {
        name
        for step in final.steps
        for branch in final.branches(step)
        if len(final.branches(step)) > 1 and branch.condition
        for name in branch.condition.fields
    }
    if played.session.version == final.version and played.session.step is not None:
        assert set(played.asked) <= final.fields_read_from(played.session.step) | forks


def renamed(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(
        replace(
            node,
            id=f"x_{node.id}",
            forks=tuple((condition, f"x_{target}") for condition, target in node.forks),
        )
        for node in nodes
    )


@pytest.mark.slow
@many
@given(worlds())
def test_p6_renaming_all_steps_changes_nothing_else(world: World) -> None:
    path = [f"x_{step}" for step in world.session.path]
    passed = [f"x_{one.step_id}" for one in world.session.completed_checkpoints]
    graphs = [graph_of(renamed(draft), v) for v, draft in enumerate(world.drafts, 1)]
    other = play(graphs, session_at(graphs[0], path, passed), world.known, world.truth)
    mine = run(world)
    assert other.asked == mine.asked
    assert other.session.version == mine.session.version
    assert other.session.step == (mine.session.step and f"x_{mine.session.step}")


@pytest.mark.slow
@many
@given(worlds(), st.randoms(use_true_random=False))
def test_p7_the_order_of_definitions_is_irrelevant(world: World, random: object) -> None:
    def turned(graph: Graph) -> Graph:
        scenario = graph.scenario
        steps = tuple(sorted(scenario.steps, key=lambda step: step.id[::-1], reverse=True))
        return Graph(scenario=scenario.model_copy(update={"steps": steps}))

    other = play([turned(g) for g in world.graphs], world.session, world.known, world.truth)
    mine = run(world)
    assert other.session == mine.session
    assert other.asked == mine.asked


@pytest.mark.slow
@many
@given(worlds(versions=3))
def test_p8_it_ends_and_nothing_is_asked_or_executed_twice(world: World) -> None:
    played = run(world)
    assert len(played.asked) == len(set(played.asked))
    assert len(played.executed) == len(set(played.executed))


@pytest.mark.slow
@many
@given(worlds())
def test_p8_without_re_routing_it_ends_too_and_everyone_stays_on_the_own_step(world: World) -> None:
    config = MigrationConfig(re_routing=ReRoutingConfig(enabled=False))
    played = play(world.graphs, world.session, world.known, world.truth, config=config)
    assert len(played.asked) == len(set(played.asked))
    before, after = world.graphs
    own = match_anchors(before, after).image.get(world.session.step or "")
    if played.session.version == 2 and played.last.scenario != "relocate":
        assert played.session.step == own


@pytest.mark.slow
@many
@given(worlds())
def test_p9_back_to_the_first_version_is_no_change_for_who_never_left(world: World) -> None:
    graphs = [*world.graphs, graph_of(world.drafts[0], 3)]
    played = play(graphs, world.session, world.known, world.truth)
    assert played.session.model_dump() == world.session.model_dump()


@pytest.mark.slow
@many
@given(worlds())
def test_p9_who_went_to_the_second_version_comes_back_legally(world: World) -> None:
    there = run(world)
    if there.session.version == 1 or there.session.step is None:
        return
    graphs = [*world.graphs, graph_of(world.drafts[0], 3)]
    back = play(graphs, there.session, world.known, world.truth)
    assert back.session.version in (2, 3)
    lost = [p for p in back.session.completed_checkpoints if p.version == 1]
    assert lost == [] or back.session.version == 2


@many
@given(worlds())
@pytest.mark.slow
def test_p10_anchors_are_one_to_one_and_of_one_kind(world: World) -> None:
    old, new = world.graphs
    image = match_anchors(old, new).image
    assert len(set(image.values())) == len(image)
    for left, right in image.items():
        assert old.steps[left].is_checkpoint == new.steps[right].is_checkpoint


@pytest.mark.slow
@many
@given(worlds())
def test_p12_where_a_fact_is_known_does_not_matter(world: World) -> None:
    def told(place: str) -> tuple[object, ...]:
        played = play(world.graphs, world.session, world.known, world.truth, place=place)
        session = played.session
        return session.step, session.version, played.asked, played.executed

    assert told("profile") == told("session") == told("extraction")


@pytest.mark.slow
@many
@given(worlds(versions=3, simple=True))
@example(simple_world_of(144272071, 3, 6, 5))  # a loop in which who knows all is caught
def test_p13_knowing_more_never_asks_more(world: World) -> None:
    # A condition asks for all its open fields at once, so a field can be learnt in passing;
    # with one field a condition, what is asked is comparable.
    # Whether a way that stays where it is leaves work is a question of its own.
    assume(all(step not in g.successors[step] for g in world.graphs for step in g.steps))
    ignorant = play(world.graphs, world.session, {}, world.truth)
    informed = run(world)
    assert set(informed.asked) <= set(ignorant.asked)
    assert informed.session.step == ignorant.session.step


@many
@given(worlds())
@pytest.mark.slow
def test_m19_every_jump_leaves_exactly_one_audit_event(world: World) -> None:
    played = run(world)
    events = played.session.outbox
    jumped = played.session.version != world.session.version
    assert len(events) == int(jumped)
    for event in events:
        assert (event.from_version, event.to_version) == (1, 2)
        assert event.timestamp == NOW
