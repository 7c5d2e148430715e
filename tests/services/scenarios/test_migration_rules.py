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


def only(row: Row, *names: str) -> list[Any]:
    return [row[name] for name in names]


# An age check is inserted before B; minors go to D.
V1 = line(1, "A B C")
V2 = version(2, "A>N", "N>D ? age < 18", "N>B ? else", "B>C", N={"collects": ["age"]})
PAY1 = line(1, "A Pay B C", Pay={"checkpoint": "Payment Processed"})
PAY2 = version(
    2,
    "A>N",
    "N>D ? age < 18",
    "N>Pay ? else",
    "Pay>B",
    "B>C",
    N={"collects": ["age"]},
    Pay={"checkpoint": "Payment Processed"},
)


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


def test_m3_a_deleted_step_sends_back_to_the_newest_anchor_of_the_own_path() -> None:
    (row,) = played([line(1, "A B C D"), line(2, "A B D")], at("A B C"), TURN)
    assert only(row, "action", "scenario", "step", "v", "notify") == [
        "teleport",
        "relocate",
        "B",
        2,
        False,
    ]


def test_m3_nobody_is_sent_back_before_a_completed_checkpoint() -> None:
    old = line(1, "A Pay B C", Pay={"checkpoint": "paid"})
    new = line(2, "A Pay C", Pay={"checkpoint": "paid"})
    (row,) = played([old, new], at("A Pay B", passed=["Pay"]), TURN)
    assert only(row, "action", "scenario", "step", "v") == ["teleport", "relocate", "C", 2]


def test_m3_behind_the_last_checkpoint_there_may_be_only_one_way_on() -> None:
    old = line(1, "A Pay B", Pay={"checkpoint": "paid"})
    new = line(2, "A Pay New", Pay={"checkpoint": "paid"})
    (row,) = played([old, new], at("A Pay B", passed=["Pay"]), TURN)
    assert only(row, "scenario", "step") == ["relocate", "New"]


def test_m3_the_way_on_is_not_looked_for_behind_an_earlier_checkpoint() -> None:
    paid: Row = {"checkpoint": "paid"}
    old = line(1, "A Pay Ship B", Pay=paid, Ship={"checkpoint": "shipped"})
    session = at("A Pay Ship B", passed=["Pay", "Ship"])
    (row,) = played([old, line(2, "A Pay New", Pay=paid)], session, TURN)
    assert only(row, "step", "v", "review") == ["B", 1, True]


def test_m3_with_no_anchor_and_nothing_passed_the_scenario_ends() -> None:
    (row,) = played([line(1, "A B"), line(2, "X Y")], at("A B"), TURN)
    assert only(row, "action", "step", "notify") == ["exit_scenario", None, False]


def test_m3_with_no_anchor_but_something_passed_it_stays_and_is_flagged() -> None:
    old = line(1, "A Pay B", Pay={"checkpoint": "paid"})
    (row,) = played([old, line(2, "X Y")], at("A Pay B", passed=["Pay"]), TURN)
    assert only(row, "action", "step", "v", "review") == ["continue", "B", 1, True]


FORK1 = version(1, "A>B ? k > 1", "A>X ? else", "B>C", "X>C")
FORK2 = version(
    2,
    "A>B ? k>1",
    "A>X ? else",
    "B>C",
    "X>N",
    "N>C",
    N={"collects": ["email"]},
    C={"uses": ["email"]},
)


def test_m4_a_new_step_on_a_branch_that_was_not_taken_was_not_skipped() -> None:
    (row,) = played([FORK1, FORK2], at("A B C"), TURN)
    assert only(row, "action", "scenario", "collect") == ["teleport", "clean_graft", []]


def test_m4_a_new_step_on_the_branch_really_taken_was_skipped() -> None:
    (row,) = played([FORK1, FORK2], at("A X C"), TURN)
    assert only(row, "action", "scenario", "collect") == ["collect", "gap_fill", ["email"]]


def test_m5_a_changed_condition_is_judged_again() -> None:
    changed = version(2, "A>B ? k > 5", "A>X ? else", "B>D", "X>C", "D>E")
    before = version(1, "A>B ? k > 1", "A>X ? else", "B>D", "X>C", "D>E")
    (row,) = played([before, changed], at("A B D", vars={"k": 3}), TURN)
    assert only(row, "scenario", "step", "notify") == ["re_route", "X", True]


def test_m5_an_unchanged_fork_is_not_judged_again() -> None:
    same = version(2, "A>B ? k>1", "A>X ? else", "B>D", "X>C", "D>F")
    before = version(1, "A>B ? k > 1", "A>X ? else", "B>D", "X>C")
    (row,) = played([before, same], at("A B D", vars={"k": 0}), TURN)
    assert only(row, "scenario", "step") == ["clean_graft", "D"]


def test_m6_an_excluded_session_is_not_relocated() -> None:
    policy = {"*": {"scope_filter": {"exclude_channels": ["whatsapp"]}}}
    (row,) = played([line(1, "A B"), line(2, "A C")], at("A B"), TURN, policies=policy)
    assert only(row, "action", "step", "v", "pending") == ["continue", "B", 1, False]


def test_m6_a_forced_graft_asks_and_redirects_nothing() -> None:
    policy = {"B": {"force_scenario": "clean_graft"}}
    session = at("A B", profile={"age": 3})
    (row,) = played([V1, V2], session, TURN, policies=policy)
    assert only(row, "scenario", "step", "v") == ["clean_graft", "B", 2]


def test_m6_force_never_overrides_a_checkpoint() -> None:
    policy = {"*": {"force_scenario": "re_route"}}
    session = at("A Pay B", passed=["Pay"], profile={"age": 3})
    (row,) = played([PAY1, PAY2], session, TURN, policies=policy)
    assert only(row, "step", "blocked") == ["B", True]


# On the only way that still leads to B, N2 collects what B reads.
ON_THE_WAY = version(
    2,
    "A>N",
    "N>D ? age < 18",
    "N>N2 ? else",
    "N2>B",
    "B>C",
    N={"collects": ["age"]},
    N2={"collects": ["email"]},
    C={"uses": ["email"]},
)


@pytest.mark.parametrize("profile", [{"age": 3}, {"age": 30}, {}])
def test_m6_a_forced_gap_fill_redirects_nobody_and_fills_what_the_way_collects(
    profile: Row,
) -> None:
    policy = {"*": {"force_scenario": "gap_fill"}}
    session = at("A B", profile=profile)
    rows = played([V1, ON_THE_WAY], session, TURN, answer(email="a@b"), policies=policy)
    assert only(rows[0], "action", "scenario", "collect") == ["collect", "gap_fill", ["email"]]
    assert only(rows[1], "action", "step", "v") == ["teleport", "B", 2]


def test_m6_a_forced_gap_fill_is_one_also_where_nothing_is_missing() -> None:
    policy = {"*": {"force_scenario": "gap_fill"}}
    (row,) = played([line(1, "A B C"), line(2, "A B N C")], at("A B"), TURN, policies=policy)
    assert only(row, "action", "scenario", "v") == ["teleport", "gap_fill", 2]


def test_m6_a_forced_gap_fill_asks_which_way_if_the_ways_collect_other_things() -> None:
    policy = {"*": {"force_scenario": "gap_fill"}}
    two_ways = version(
        2,
        "A>D ? age < 18",
        "A>X ? k > 1",
        "A>Y ? else",
        "X>B",
        "Y>B",
        "B>C",
        X={"collects": ["email"]},
        Y={"collects": ["phone"]},
        C={"uses": ["email", "phone"]},
    )
    events = TURN, answer(k=2), answer(email="a@b")
    asked, filled, landed = played([V1, two_ways], at("A B"), *events, policies=policy)
    assert only(asked, "scenario", "collect") == ["gap_fill", ["k"]]
    assert filled["collect"] == ["email"]
    assert only(landed, "step", "v") == ["B", 2]


def test_m7_without_downstream_update_the_session_is_pinned_until_a_newer_plan() -> None:
    policy = {"B": {"update_downstream": False}}
    first, again = played([V1, V2], at("A B"), TURN, TURN, policies=policy)
    assert only(first, "action", "step", "v", "pinned", "pending") == [
        "continue",
        "B",
        1,
        True,
        False,
    ]
    assert again == first


def test_m8_the_work_list_goes_along_the_route() -> None:
    new = line(
        2,
        "A N1 R N2 B C",
        N1={"collects": ["email", "unread"]},
        R={"kind": "tool", "required": True},
        N2={"collects": ["phone"]},
        C={"uses": ["email", "phone"]},
    )
    rows = played(
        [line(1, "A B C"), new],
        at("A B"),
        TURN,
        answer(email="a@b"),
        {"done": "R"},
        answer(phone="1"),
    )
    assert [only(row, "action", "collect", "execute") for row in rows] == [
        ["collect", ["email"], []],
        ["execute_action", [], ["R"]],
        ["collect", ["phone"], []],
        ["teleport", [], []],
    ]


def test_m8_a_required_action_is_handed_out_once() -> None:
    new = line(2, "A R B", R={"kind": "tool", "required": True})
    rows = played([line(1, "A B"), new], at("A B"), TURN, TURN, {"done": "R"}, TURN)
    assert [row["execute"] for row in rows] == [["R"], [], [], []]
    assert [row["v"] for row in rows] == [1, 1, 2, 2]


GAP = [line(1, "A B C"), line(2, "A N B C", N={"collects": ["email"]}, C={"uses": ["email"]})]


def test_m8_known_facts_are_used_without_asking() -> None:
    said = {"email": {"value": "a@b", "confidence": 0.95, "quote": "I am a@b"}}
    sources: list[Row] = [{"profile": {"email": "a"}}, {"vars": {"email": "a"}}, {"says": said}]
    for known in sources:
        (row,) = played(GAP, at("A B", **known), TURN)
        assert only(row, "action", "scenario", "v") == ["teleport", "gap_fill", 2]


def test_m8_a_fairly_sure_extraction_is_confirmed_first() -> None:
    said = {"email": {"value": "a@b", "confidence": 0.94, "quote": "I am a@b"}}
    rows = played(GAP, at("A B", says=said), TURN, answer(email="a@b"))
    assert only(rows[0], "action", "confirm", "collect") == ["collect", ["email"], []]
    assert only(rows[1], "action", "v") == ["teleport", 2]


def test_m8_a_denied_value_is_asked_for() -> None:
    said = {"email": {"value": "a@b", "confidence": 0.9, "quote": "I am a@b"}}
    rows = played(GAP, at("A B", says=said), TURN, answer(email=None))
    assert only(rows[1], "confirm", "collect") == [[], ["email"]]


def test_m8_unsure_unquoted_and_expired_facts_are_asked_for() -> None:
    facts: list[Row] = [
        {"says": {"email": {"value": "a", "confidence": 0.84, "quote": "a"}}},
        {"says": {"email": {"value": "a", "confidence": 0.99, "quote": " "}}},
        {"profile": {"email": {"value": "a", "expired": True}}},
    ]
    for known in facts:
        (row,) = played(GAP, at("A B", **known), TURN)
        assert only(row, "collect", "v") == [["email"], 1]


def test_m8_message_only_steps_are_passed_in_silence() -> None:
    (row,) = played([line(1, "A B"), line(2, "A N B")], at("A B"), TURN)
    assert only(row, "action", "collect", "notify", "v") == ["teleport", [], False, 2]


def test_m9_a_field_that_cannot_change_the_outcome_is_not_asked() -> None:
    rejoining = version(2, "A>N", "N>P ? age < 18", "N>Q ? else", "P>B", "Q>B", "B>C")
    (row,) = played([V1, rejoining], at("A B"), TURN)
    assert only(row, "action", "collect", "step", "v") == ["teleport", [], "B", 2]


def test_m9_a_condition_decided_without_the_field_does_not_ask_for_it() -> None:
    new = version(2, "A>N", "N>D ? age < 18 && country == 'X'", "N>B ? else", "B>C")
    (row,) = played([V1, new], at("A B", vars={"country": "Y"}), TURN)
    assert only(row, "action", "step") == ["teleport", "B"]


def test_m9_branches_are_tried_in_declared_order() -> None:
    new = version(2, "A>N", "N>B ? age > 10", "N>D ? age > 5", "N>E ? else", "B>C")
    (row,) = played([V1, new], at("A B", vars={"age": 12}), TURN)
    assert row["step"] == "B"
    (row,) = played([V1, new], at("A B", vars={"age": 7}), TURN)
    assert row["step"] == "D"


def test_m9_a_fork_that_can_divert_is_asked_about_and_announced() -> None:
    rows = played([V1, V2], at("A B"), TURN, answer(age=12))
    assert only(rows[0], "action", "scenario", "collect", "v") == [
        "collect",
        "re_route",
        ["age"],
        1,
    ]
    assert only(rows[1], "action", "step", "v", "notify") == ["teleport", "D", 2, True]


def test_m10_a_minor_who_has_paid_is_not_redirected() -> None:
    session = at("A Pay B", passed=["Pay"], profile={"age": 15})
    (row,) = played([PAY1, PAY2], session, TURN)
    assert only(row, "step", "v", "blocked", "collect", "notify") == ["B", 2, True, [], False]


def test_m10_a_checkpoint_without_image_blocks_every_redirect() -> None:
    old = line(1, "A Old B C", Old={"checkpoint": "sent"})
    session = at("A Old B", passed=["Old"], profile={"age": 15})
    (row,) = played([old, V2], session, TURN)
    assert only(row, "step", "v", "blocked") == ["B", 2, True]


def test_m10_nobody_pays_twice() -> None:
    new = line(2, "A B Pay C", Pay={"checkpoint": "Payment Processed"})
    first, again = played([PAY1, new], at("A Pay B", passed=["Pay"]), TURN, TURN)
    assert only(first, "step", "v", "review") == ["B", 1, True]
    assert again == first


def test_m10_beyond_the_checkpoint_redirects_are_free() -> None:
    new = version(
        2,
        "A>Pay",
        "Pay>N",
        "N>D ? age < 18",
        "N>B ? else",
        "B>C",
        Pay={"checkpoint": "Payment Processed"},
    )
    session = at("A Pay B", passed=["Pay"], vars={"age": 15})
    (row,) = played([PAY1, new], session, TURN)
    assert only(row, "action", "step", "blocked") == ["teleport", "D", False]


def test_m12_only_the_session_as_it_is_at_its_turn_counts() -> None:
    rows = played([PAY1, PAY2], at("A", vars={"age": 3}), {"move": "Pay"}, {"move": "B"}, TURN)
    assert only(rows[1], "v", "pending") == [1, True]
    assert only(rows[2], "step", "v", "blocked") == ["B", 2, True]


def test_m13_nothing_happens_where_nothing_changed() -> None:
    (row,) = played([V1, {**V1, "v": 2}], at("A B"), TURN)
    assert only(row, "action", "step", "pending") == ["continue", "B", False]
    first, again = played([V1, V2], at("A B", vars={"age": 40}), TURN, TURN)
    assert only(first, "action", "v") == ["teleport", 2]
    assert only(again, "action", "scenario", "v") == ["continue", None, 2]


def test_m13_a_rollback_is_nothing_to_who_never_left() -> None:
    (row,) = played([V1, V2, {**V1, "v": 3}], at("A B"), TURN)
    assert only(row, "action", "scenario", "step") == ["continue", None, "B"]


CHAIN = [
    line(1, "A B"),
    line(2, "A N B", N={"collects": ["x"]}, B={"uses": ["x"]}),
    line(3, "A M B", M={"collects": ["y"]}, B={"uses": ["y"]}),
]


def test_m14_only_what_the_last_version_needs_is_asked() -> None:
    rows = played(CHAIN, at("A B"), TURN, answer(y=1))
    assert rows[0]["collect"] == ["y"]
    assert only(rows[1], "step", "v") == ["B", 3]


def test_m14_a_lost_plan_is_made_up_for() -> None:
    whole = played(CHAIN, at("A B"), TURN, answer(y=1))
    assert played(CHAIN, at("A B"), TURN, answer(y=1), missing_plans=["1>2", "2>3"]) == whole


def test_m14_a_step_that_changed_bit_by_bit_is_followed_through_the_chain() -> None:
    graphs = [
        line(1, "A B", B={"name": "one", "desc": "x"}),
        line(2, "A B", B={"name": "two", "desc": "x"}),
        line(3, "A C", C={"name": "two", "desc": "y"}),
    ]
    (row,) = played(graphs, at("A B"), TURN)
    assert only(row, "scenario", "step", "v") == ["clean_graft", "C", 3]


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


def test_m18_values_that_a_condition_cannot_compare_fail_closed() -> None:
    first, again = played([V1, V2], at("A B", vars={"age": "twelve"}), TURN, TURN)
    assert only(first, "action", "step", "v", "review") == ["continue", "B", 1, True]
    assert again == first


def test_m20_a_field_is_asked_three_times_then_the_operator() -> None:
    rows = played(GAP, at("A B"), TURN, TURN, TURN, TURN, TURN)
    assert [row["collect"] for row in rows] == [["email"]] * 3 + [[], []]
    assert [row["review"] for row in rows] == [False] * 3 + [True] * 2
    assert {row["v"] for row in rows} == {1}


def test_m20_an_answer_is_read_before_reconciliation_resumes() -> None:
    (row,) = played(GAP, at("A B"), answer(email="a@b"))
    assert only(row, "action", "collect", "v") == ["teleport", [], 2]
