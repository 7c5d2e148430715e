"""Cases as files (spec page 2.9)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.parts.entities import main, replay
from tests.tables import tables_beside, with_cases

CONFIG = {"max_size": 3, "max_size_per_agent": 2, "agents": ["AppointmentManager", "Registration"]}
NOTHING: dict[str, Any] = tables_beside(Path(__file__))["nothing"]
AM = "AppointmentManager"


def played(*ops: Any, config: Any = None) -> list[dict[str, Any]]:
    case = {"id": "case", "config": CONFIG if config is None else config, "ops": list(ops)}
    results = replay({"cases": [case]})["results"]["case"]
    assert isinstance(results, list)
    return results


def delta(body: Any, **more: Any) -> dict[str, Any]:
    return {"op": "delta", "body": body, "agent": AM, "now": 0, **more}


def test_a_booking_reads_as_it_happened() -> None:
    results = played(
        delta({"entities_to_update": {"doctor_name": "Dr. Smith"}}, source="user_stated"),
        {"op": "tool", "agent": AM, "tool": "find", "result": {"available_slots": ["3pm"]},
         "params": {"day": 1}, "valid_for": 300, "now": 10},
        delta({"derived_entities_to_update": {"available_slots": ["9pm"]}}, now=20),
        {"op": "reload"},
        {"op": "view", "agent": AM, "now": 309},
        {"op": "view", "agent": "Registration", "now": 309},
        {"op": "view", "agent": AM, "now": 310},
    )  # fmt: skip
    assert results[0] == {
        "conversation": {**NOTHING, "added": ["doctor_preference"]},
        "derived": NOTHING,
    }
    assert results[1]["derived"] == {**NOTHING, "added": ["available_slots"]}
    assert results[2]["derived"]["rejected"] == {"available_slots": "tool_value"}
    assert results[3] == {"conversation": NOTHING, "derived": NOTHING}
    assert results[4] == {
        "entities": {"doctor_preference": "Dr. Smith"},
        "derived_entities": {"available_slots": ["3pm"]},
        "order": ["doctor_preference"],
        "provenance": {"doctor_preference": "user_stated"},
    }
    assert results[5]["derived_entities"] == {}
    assert results[6]["derived_entities"] == {}


@with_cases("refused")
def test_a_refused_operation_says_why_and_stores_nothing(refused: Any) -> None:
    view = {"op": "view", "agent": AM, "now": 5}
    _, before, result, after = played(delta({"entities_to_update": {"a": 1}}), view, refused, view)
    assert set(result) == {"error"}
    assert result["error"]
    assert before == after


def test_a_mutated_view_changes_nothing() -> None:
    op = {"op": "mutate_view", "agent": AM, "key": "wish", "now": 0}
    *_, mutated, view = played(
        delta({"entities_to_update": {"wish": ["a"]}}), op, {"op": "view", "agent": AM, "now": 0}
    )
    assert mutated["entities"] == view["entities"] == {"wish": ["a"]}


def test_revisions_are_counted_from_zero_by_changing_writes() -> None:
    body = {"entities_to_update": {"a": 1}}
    first, same, stale, fresh = played(
        delta(body, expected_rev=0),
        delta(body, expected_rev=1),
        delta({"entities_to_update": {"a": 2}}, expected_rev=0),
        delta({"entities_to_update": {"a": 2}}, expected_rev=1),
    )
    assert first["conversation"]["added"] == ["a"]
    assert same["conversation"]["unchanged"] == ["a"]
    assert "StaleEntitiesError" in stale["error"]
    assert fresh["conversation"]["updated"] == ["a"]


def test_legacy_state_is_filed_under_its_owner_whatever_the_cap() -> None:
    old = {f"wish_{number}": number for number in range(5)} | {"available_slots": ["3pm"]}
    result, mine, others = played(
        {"op": "migrate_legacy", "entities": old, "owner": "appointment_manager", "now": 0},
        {"op": "view", "agent": AM, "now": 0},
        {"op": "view", "agent": "Registration", "now": 0},
    )
    assert len(result["conversation"]["added"]) == 5
    assert result["derived"]["added"] == ["available_slots"]
    assert (mine["derived_entities"], others["derived_entities"]) == (
        {"available_slots": ["3pm"]},
        {},
    )


def test_pinned_keys_stay() -> None:
    *_, report = played(
        delta({"entities_to_update": {"a": 1, "b": 2, "c": 3}}),
        delta({"entities_to_update": {"d": 4}}, pinned=["a"]),
    )
    assert report["conversation"]["evicted"] == ["b"]


def test_without_a_config_the_caps_are_seven() -> None:
    body = {"entities_to_update": {f"k{number}": number for number in range(9)}}
    (report,) = played(delta(body), config={})
    assert list(report["conversation"]["rejected"]) == ["k0", "k1"]


@pytest.mark.parametrize("config", [{"max_size": 0}, {"agents": "one"}, "x", {"max_size": "x"}])
def test_a_wrong_config_refuses_every_operation(config: Any) -> None:
    (result,) = played({"op": "view", "agent": AM}, config=config)
    assert set(result) == {"error"}


def test_the_command_reads_a_file_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    ops = [delta({"entities_to_update": {"a": "\ud800", "b": "é"}}), {"op": "view", "now": 1}]
    file.write_text(json.dumps({"cases": [{"id": 1, "config": CONFIG, "ops": ops}]}))
    assert main(["replay", str(file)]) == 0
    results = json.loads(capsys.readouterr().out)["results"]["1"]
    assert results[0]["conversation"]["rejected"] == {"a": "value"}
    assert results[1]["entities"] == {"b": "é"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cases": 1}', "[" * 100_000])
def test_an_unreadable_file_is_status_2(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text)
    assert main(["replay", str(file)]) == 2
    assert capsys.readouterr().err.startswith("The cases could not be read")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=5,
)
fields = st.sampled_from(
    ["op", "agent", "body", "now", "source", "pinned", "expected_rev", "result", "params", "key",
     "valid_for", "tool", "entities", "owner"]
)  # fmt: skip
names = st.sampled_from(["delta", "tool", "view", "mutate_view", "migrate_legacy", "clear_agent"])


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(names, st.dictionaries(fields, json_values)).map(
            lambda row: {**row[1], "op": row[0]}
        ),
        max_size=4,
    )
)
def test_whatever_a_case_holds_each_operation_has_one_result(ops: list[Any]) -> None:
    assert len(played(*ops)) == len(ops)
