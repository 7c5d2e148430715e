"""The rules M1 to M20 (docs/migrations.md), through the production code on a memory blobs."""

from typing import Any

import pytest

from evals.parts.scenario_cases import CaseGraph
from evals.parts.scenario_cases import scenario_of as scenario_of_case
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.plans.planning import make_plan
from tests.services.scenarios.cases import (
    TURN,
    Row,
    anchors,
    answer,
    at,
    line,
    played,
    result_of,
    version,
)
from tests.services.scenarios.worlds import NOW, Node, graph_of, scenario_of
from tests.tables import with_cases

# An age check is inserted before B; minors go to D.
V1 = line(1, "A B C")
V2 = version(2, "A>N", "N>D ? age < 18", "N>B ? else", "B>C", N={"collects": ["age"]})


def hash_of(**changes: Any) -> str:
    node = Node(id="a", text="ask")
    step = scenario_of((node, Node(id="b", text="end")), 1).steps[0]
    changed = step.model_copy(update=changes)
    scenario = scenario_of((node, Node(id="b", text="end")), 1)
    graph = Graph(scenario=scenario.model_copy(update={"steps": (changed, scenario.steps[1])}))
    return graph.hashes[changed.id]


def test_m1_spelling_ids_and_transitions_do_not_change_a_hash() -> None:
    assert hash_of(name="Caf\u00e9  au lait") == hash_of(name="Cafe\u0301 au  lait ")
    assert hash_of(uses=("age",)) == hash_of()
    assert hash_of(transitions=()) == hash_of()


def test_m1_meaning_changes_a_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"intent": "other"},
        {"description": "other"},
        {"kind": "tool"},
        {"collects_profile_fields": ("age",)},
        {"is_checkpoint": True},
        {"checkpoint_type": "payment"},
        {"is_required_action": True},
        {"tool": "pay"},
        {"parameters": {"amount": 3}},
    ]
    hashes = [hash_of(), *(hash_of(**change) for change in changes)]
    assert len(set(hashes)) == len(hashes)


def test_m1_the_checksum_knows_targets_conditions_and_order_but_no_version() -> None:
    def checksum(number: int, *forks: tuple[str, str]) -> str:
        nodes = (Node(id="a", text="a", forks=forks), Node(id="b", text="b"), Node("c", "c"))
        return graph_of(nodes, number).checksum

    low, high = ("age < 1", "b"), ("dose < 1", "c")
    assert checksum(1, low, high) == checksum(7, ("age<1", "b"), high)
    different = {
        checksum(1, low, high),
        checksum(1, high, low),
        checksum(1, ("age < 2", "b"), high),
        checksum(1, ("age < 1", "c"), high),
    }
    assert len(different) == 4


def test_m2_equal_steps_are_anchors_whatever_their_ids() -> None:
    old = line(1, "A B", A={"name": "hello"}, B={"name": "bye"})
    new = line(2, "X Y", X={"name": "hello"}, Y={"name": "bye"})
    assert anchors(old, new) == {"A": "X", "B": "Y"}


def test_m2_twins_are_told_apart_by_their_neighbours() -> None:
    twin = {"name": "twin"}
    old = line(1, "A T1 B T2 C", T1=twin, T2=twin)
    new = line(2, "A U1 B U2 C", U1=twin, U2=twin)
    assert anchors(old, new) == {"A": "A", "B": "B", "C": "C", "T1": "U1", "T2": "U2"}


def test_m2_what_nothing_tells_apart_is_no_anchor_and_warned_about() -> None:
    def twins(number: int, left: str, right: str) -> Row:
        edges = [f"A>{left} ? k < 1", f"A>{right} ? else", f"{left}>Z", f"{right}>Z"]
        return version(number, *edges, **{left: {"name": "twin"}, right: {"name": "twin"}})

    def compiled(row: Row) -> Graph:
        return Graph(scenario=scenario_of_case(CaseGraph.model_validate(row), scenario_id="it"))

    old, new = twins(1, "T1", "T2"), twins(2, "U1", "U2")
    assert anchors(old, new) == {"A": "A", "Z": "Z"}
    plan = make_plan(compiled(old), compiled(new), plan_id="p", now=NOW)
    assert [w.code for w in plan.summary.warnings] == ["ambiguous_anchor"] * 2


def test_m2_an_edited_step_of_the_same_id_is_a_modified_anchor() -> None:
    old = line(1, "A B", B={"desc": "old"})
    assert anchors(old, line(2, "A B", B={"desc": "new"}))["B"] == "B"
    assert "B" not in anchors(old, line(2, "A B", B={"desc": "new", "kind": "tool"}))
    assert "B" not in anchors(old, line(2, "A B", B={"desc": "new", "checkpoint": "paid"}))


def test_m2_the_only_step_left_of_a_name_is_a_modified_anchor() -> None:
    old = line(1, "A B", B={"name": "Dose", "desc": "old"})
    assert anchors(old, line(2, "A X", X={"name": "Dose", "desc": "new"}))["B"] == "X"


CHAIN = [
    line(1, "A B"),
    line(2, "A N B", N={"collects": ["x"]}, B={"uses": ["x"]}),
    line(3, "A M B", M={"collects": ["y"]}, B={"uses": ["y"]}),
]


@with_cases("case")
def test_a_session_meets_new_versions_by_the_rules(case: Row) -> None:
    graphs = [
        line(number, one.pop("path"), **one)
        if "path" in one
        else version(number, *one.pop("edges"), **one)
        for number, one in enumerate([dict(one) for one in case["graphs"]], start=1)
    ]
    session = {"path": case["session"]} if isinstance(case["session"], str) else case["session"]
    events = [TURN if one == "turn" else one for one in case.get("events", ["turn"])]
    more = {name: case[name] for name in ("policies", "missing_plans") if name in case}
    rows = played(graphs, at(**session), *events, **more)
    for number, (row, wanted) in enumerate(zip(rows, case["rows"], strict=True)):
        same = rows[number - 1] if wanted == "same" else {**row, **wanted}
        assert row == same


def test_m14_a_lost_plan_is_made_up_for() -> None:
    whole = played(CHAIN, at("A B"), TURN, answer(y=1))
    assert played(CHAIN, at("A B"), TURN, answer(y=1), missing_plans=["1>2", "2>3"]) == whole


def test_m14_an_operators_own_pair_counts_over_several_versions_too() -> None:
    graphs = {
        number: graph_of(tuple(Node(name, name) for name in names.split()), number)
        for number, names in ((1, "a b c"), (2, "a b d c"), (3, "a b d e c"))
    }
    mapped = make_plan(graphs[1], graphs[2], plan_id="p1", now=NOW, mapping={"b": "d"})
    then = make_plan(graphs[2], graphs[3], plan_id="p2", now=NOW)
    chain = VersionChain(graphs=[*graphs.values()], plans={1: mapped, 2: then})
    assert chain.move_from(1).image == {"a": "a", "b": "d", "c": "c"}


@pytest.mark.slow
def test_m17_bounds_are_inclusive_and_exclude_wins() -> None:
    def moved(session: Row, **scope: Any) -> bool:
        policies = {"*": {"scope_filter": scope}}
        graphs = [line(1, "A B"), line(2, "A N B")]
        (row,) = played(graphs, session, TURN, policies=policies)
        return bool(row["v"] == 2)

    session = at("A B", age_days=3, channel="web")
    assert moved(session)
    assert moved(session, min_session_age_days=3, max_session_age_days=3)
    assert not moved(session, max_session_age_days=2)
    assert not moved(session, include_channels=["web"], exclude_channels=["web"])
    assert not moved(session, include_current_nodes=["A"])
    assert moved(session, include_current_nodes=["B"])
    assert moved(session, custom_conditions=["session.age_days > 2", "channel == 'web'"])
    assert not moved(session, custom_conditions=["session.channel == 'sms'"])
    gold = at("A B", vars={"plan": "gold"})
    assert moved(gold, custom_conditions=["session.vars.plan == 'gold' && session.at == 'B'"])


def test_m17_a_condition_that_does_not_fit_a_session_is_refused() -> None:
    policies = {"*": {"scope_filter": {"custom_conditions": ["session.chanel == 'web'"]}}}
    row = result_of([V1, V2], at("A B"), TURN, policies=policies)
    assert "chanel" in row["error"]
