"""What a session is asked is a matter of its own way (spec page 13), and what of it is logged."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from data_models.scenarios.scenario_session import MigrationScenario
from services.scenarios.migration.case import MigrationMeter, OwnWay, ReconciliationResult
from services.scenarios.migration.plans.move import VersionChain, match_anchors
from services.scenarios.scenario_settings import MigrationConfig
from tests.services.scenarios.cases import TURN, Row, answer, at, played, version
from tests.services.scenarios.test_migration_properties import many, run
from tests.services.scenarios.worlds import (
    AGAIN,
    Node,
    Played,
    World,
    graph_of,
    play,
    session_at,
    simple_world_of,
    worlds,
)
from tests.tables import with_cases

LOOP = "E>A ? again == true"
"""Behind the session: start over."""


def one_fork_before(*more: str) -> list[Row]:
    """A>B>C>E; the new version sends minors from A to D, which leads on to C."""
    fields: Row = {"A": {"collects": ["age"]}, "E": {"collects": ["again"]}}
    old = version(1, "A>B", "B>C", "C>E", *more, "E>F ? else", **fields)
    new = version(
        2, "A>D ? age < 18", "A>B ? else", "D>C", "B>C", "C>E", *more, "E>F ? else", **fields
    )
    return [old, new]


@pytest.mark.parametrize("loops", [(), (LOOP,)])
@pytest.mark.parametrize("known", [{}, {"again": True}, {"again": False}])
@pytest.mark.slow
def test_a_loop_ahead_does_not_keep_a_minor_from_the_new_branch(
    loops: tuple[str, ...], known: dict[str, bool]
) -> None:
    (row,) = played(one_fork_before(*loops), at("A B", profile={"age": 12, **known}), TURN)
    assert (row["scenario"], row["step"], row["collect"]) == ("re_route", "D", [])


@pytest.mark.parametrize("loops", [(), (LOOP,)])
def test_a_loop_ahead_is_not_asked_about(loops: tuple[str, ...]) -> None:
    (row,) = played(one_fork_before(*loops), at("A B", profile={"age": 40}), TURN)
    assert (row["scenario"], row["step"], row["collect"]) == ("clean_graft", "B", [])


BOOKING = ("DAY>TIMES", "TIMES>DAY ? slot_accepted == false", "TIMES>CONTACT ? else")
FIELDS: Row = {
    "START": {"collects": ["service"]},
    "TIMES": {"collects": ["slot_accepted"]},
    "DAY": {"collects": ["day"]},
    "INSURANCE": {"collects": ["insured"]},
}


def booking() -> list[Row]:
    """A version adds a fork for insurance before the day; the retry of times lies behind it."""
    old = version(1, "START>DAY", *BOOKING, **{k: v for k, v in FIELDS.items() if k != "INSURANCE"})
    new = version(
        2,
        "START>INSURANCE",
        "INSURANCE>CASH ? insured == false",
        "INSURANCE>DAY ? else",
        "CASH>TIMES",
        *BOOKING,
        **FIELDS,
    )
    return [old, new]


def test_the_uninsured_who_choose_a_day_are_asked_for_insurance_only() -> None:
    asked, landed = played(booking(), at("START DAY"), TURN, answer(insured=False))
    assert asked["collect"] == ["insured"]
    assert landed["collect"] == []
    assert landed["step"] == "CASH", "the day and the times come again behind the cash service"


def test_the_insured_who_choose_a_day_stay_there() -> None:
    asked, landed = played(booking(), at("START DAY"), TURN, answer(insured=True))
    assert (asked["collect"], landed["step"]) == (["insured"], "DAY")


@pytest.mark.parametrize(
    "fork",
    [("A>C ? vip == true", "A>PAY ? else"), ("A>PAY ? vip == false", "A>C ? else")],
)
def test_a_retry_of_the_old_version_makes_no_second_payment(fork: tuple[str, str]) -> None:
    steps: Row = {"PAY": {"checkpoint": "Payment"}, "A": {"collects": ["vip"]}}
    rest = ("PAY>C", "C>PAY ? retry == true", "C>END ? else")
    old = version(1, "A>PAY", *rest, **steps)
    new = version(2, *fork, *rest, **steps)
    session = at("A PAY C", passed=["PAY"], profile={"vip": False})
    (row,) = played([old, new], session, TURN)
    assert (row["step"], row["v"], row["review"]) == ("C", 2, False)


def test_a_loop_that_only_the_new_version_has_is_a_second_payment() -> None:
    steps: Row = {"PAY": {"checkpoint": "Payment"}}
    old = version(1, "A>PAY", "PAY>C", "C>END", **steps)
    new = version(2, "A>PAY", "PAY>C", "C>PAY ? retry == true", "C>END ? else", **steps)
    (row,) = played([old, new], at("A PAY C", passed=["PAY"]), TURN)
    assert (row["v"], row["review"]) == (1, True)


def looped(draft: tuple[Node, ...], source: str, target: str) -> tuple[Node, ...]:
    way = (f"{AGAIN} < 3", target)
    return tuple(
        replace(node, forks=(*node.forks, way)) if node.id == source else node for node in draft
    )


def same_end(mine: Played, other: Played) -> None:
    assert other.asked == mine.asked
    assert other.executed == mine.executed
    assert other.session.step == mine.session.step
    assert other.session.version == mine.session.version
    assert other.last.action == mine.last.action
    assert other.last.needs_review == mine.last.needs_review


@pytest.mark.slow
@many
@given(worlds(), st.integers(0, 7), st.integers(0, 2), st.sampled_from([None, 1, 5]))
def test_a_loop_added_ahead_in_both_versions_changes_nothing(
    world: World, choice: int, back: int, again: int | None
) -> None:
    old, new = world.graphs
    path = world.session.path
    on_path = set(path)
    ahead, waiting = [], [path[-1]]
    while waiting:
        for step in old.successors[waiting.pop()]:
            if step not in on_path and step not in ahead:
                ahead.append(step)
                waiting.append(step)
    image = match_anchors(old, new).image
    sources = [step for step in ahead if image.get(step) == step]
    way = OwnWay(
        session=world.session, move=VersionChain(graphs=world.graphs, plans={}).move_from(1)
    )
    targets = [step for step in way.path if image.get(step) == step]
    assume(sources and targets)
    source, target = sources[choice % len(sources)], targets[back % len(targets)]
    assume(all(target not in graph.successors[source] for graph in (old, new)))
    drafts = tuple(looped(draft, source, target) for draft in world.drafts)
    graphs = [graph_of(draft, number) for number, draft in enumerate(drafts, 1)]
    assume(match_anchors(graphs[0], graphs[1]).image == image)
    known = world.known if again is None else {**world.known, AGAIN: again}
    session = world.session.model_copy(update={"checksum": graphs[0].checksum})
    other = play(graphs, session, known, {**world.truth, AGAIN: again or 1})
    same_end(run(world), other)


def turned(draft: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same decision written the other way round: the way out on no condition comes first."""
    ids = [node.id for node in draft]
    result = []
    for index, node in enumerate(draft):
        only = node.forks[0] if len(node.forks) == 1 else None
        if only is not None and index + 1 < len(draft) and only[1] in ids and "&&" not in only[0]:
            field, bound = only[0].split(" < ")
            following = ids[index + 1]
            pair = ((f"{field} >= {bound}", following), only)
            result.append(replace(node, forks=pair))
        else:
            result.append(node)
    return tuple(result)


def exclusive(draft: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same decision with both conditions written out."""
    return tuple(
        replace(node, forks=node.forks[::-1]) if node.forks != plain.forks else plain
        for node, plain in zip(turned(draft), draft, strict=True)
    )


@pytest.mark.slow
@many
@given(worlds(simple=True))
@example(simple_world_of(256, 2, 7, 5))  # two steps alike, equally near, in a loop with each other
@example(simple_world_of(353269265, 2, 6, 5))  # a way rests on a loop that leads back to its fork
def test_the_order_in_which_exclusive_branches_are_written_changes_nothing(world: World) -> None:
    def graphs(drafts: tuple[tuple[Node, ...], ...]) -> Played:
        made = [graph_of(draft, number) for number, draft in enumerate(drafts, 1)]
        session = world.session.model_copy(update={"checksum": made[0].checksum})
        return play(made, session, world.known, world.truth)

    same_end(
        graphs(tuple(exclusive(draft) for draft in world.drafts)),
        graphs(tuple(turned(draft) for draft in world.drafts)),
    )


@pytest.mark.slow
@many
@given(worlds())
def test_nobody_has_a_completed_checkpoint_ahead_again(world: World) -> None:
    after = run(world).session
    if after.version == 1 or after.step is None:
        return
    chain = VersionChain(graphs=world.graphs, plans={})
    way = OwnWay(session=world.session, move=chain.move_from(1))
    for passed in after.completed_checkpoints:
        assert passed.version == 1 or not way.comes_again(passed.step_id, after.step)


def changed_ahead(world: World) -> tuple[Node, ...]:
    """The first version, changed in every step that can never lead to where the session is."""
    old, here = world.graphs[0], world.session.path[-1]
    return tuple(
        replace(node, text=f"now {node.id}", collects=("age", "dose"), required=True)
        if here not in old.reached_from(node.id)
        else node
        for node in world.drafts[0]
    )


@pytest.mark.slow
@many
@given(worlds())
def test_with_the_same_way_up_to_here_nothing_is_asked_whatever_comes_after(world: World) -> None:
    graphs = [world.graphs[0], graph_of(changed_ahead(world), 2)]
    played = play(graphs, world.session, {}, world.truth)
    assert (played.asked, played.executed) == ([], [])
    assert played.session.step == world.session.step


@pytest.mark.slow
@many
@given(worlds(), st.integers(1, 4))
def test_how_often_a_loop_was_gone_decides_nothing(world: World, rounds: int) -> None:
    path, old = world.session.path, world.graphs[0]
    passed = [one.step_id for one in world.session.completed_checkpoints]
    back = path.index(path[-1])
    loop = path[back + 1 :] or [path[-1]] * (path[-1] in old.successors[path[-1]])
    longer = session_at(old, [*path, *loop * rounds], passed)
    same_end(run(world), play(world.graphs, longer, world.known, world.truth))


SESSION = session_at(graph_of((Node("a", "a"),), 1), ["a"], [])
BLOCKED = ReconciliationResult(SESSION, scenario="re_route", blocked_by_checkpoint=True)


def logged(result: ReconciliationResult, **sections: Any) -> list[str]:
    meter = MigrationMeter(
        registry=CollectorRegistry(), config=MigrationConfig.model_validate(sections)
    )
    with capture_logs() as logs:
        meter.count_outcome(result, milliseconds=1.0)
    return [row["event"] for row in logs]


@pytest.mark.parametrize("section", ["logging", "checkpoints"])
def test_either_of_two_settings_keeps_blocks_out_of_the_log(section: str) -> None:
    assert "migration_checkpoint_block" in logged(BLOCKED)
    off = {section: {"log_checkpoint_blocks": False}}
    assert "migration_checkpoint_block" not in logged(BLOCKED, **off)


@with_cases("scenario", "setting", "usually")
def test_each_kind_is_logged_as_is_set(
    scenario: MigrationScenario, setting: str, usually: bool
) -> None:
    result = ReconciliationResult(SESSION, action="teleport", scenario=scenario)
    assert ("migration_applied" in logged(result)) is usually
    other = {"logging": {setting: not usually}}
    assert ("migration_applied" in logged(result, **other)) is not usually


def test_a_fork_that_was_not_applied_is_warned_of() -> None:
    warned = ReconciliationResult(
        SESSION, scenario="gap_fill", checkpoint_warning="re-routing is off"
    )
    assert "migration_fork_not_applied" in logged(warned)
