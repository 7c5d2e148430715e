"""What `validate` says of a version that can be read and should not be published."""

from pathlib import Path

import pytest

from data_models.errors import ScenarioDefinitionError
from scripts.step_tools import FILE, step_tools_text
from services.scenarios.definition import definition_reader
from services.scenarios.definition.faults import Fault, skipped_checkpoints
from services.scenarios.migration.plans.move import match_anchors
from tests.tables import with_cases

HEAD = Path(__file__).with_name("faults_head.yaml").read_text("utf-8")


def faults(steps: str) -> list[Fault]:
    return definition_reader.faults_in(definition_reader.read_definition(HEAD + steps))


def kinds(steps: str) -> list[tuple[str, str]]:
    return [(fault.kind, fault.step) for fault in faults(steps)]


@with_cases("steps", "found")
def test_each_planted_fault_is_named_with_its_step(steps: str, found: tuple[str, str]) -> None:
    assert found in kinds(steps)


def test_a_step_behind_a_way_that_is_never_taken_is_unreachable() -> None:
    steps = (
        "  - {id: a, collects_profile_fields: [age], transitions: "
        "[{target: b, condition: 'age < 18 && age >= 18'}, {target: c}]}\n  - {id: b}\n  - {id: c}"
    )
    assert kinds(steps) == [("never_true", "a"), ("unreachable_step", "b")]


@with_cases("condition")
def test_a_condition_that_can_hold_is_no_fault(condition: str) -> None:
    steps = (
        "  - {id: a, collects_profile_fields: [age, ok, day, kind], transitions: "
        f'[{{target: b, condition: "{condition}"}}, {{target: c}}]}}\n  - {{id: b}}\n  - {{id: c}}'
    )
    assert faults(steps) == []


@pytest.mark.parametrize("second", ["age >= 18", "age >= 10"])
def test_a_way_that_those_before_it_always_take_is_never_met(second: str) -> None:
    steps = (
        "  - {id: a, collects_profile_fields: [age], transitions: "
        "[{target: b, condition: age >= 10}, "
        f"{{target: c, condition: '{second}'}}, {{target: d}}]}}\n"
        "  - {id: b}\n  - {id: c}\n  - {id: d}"
    )
    assert ("never_true", "a") in kinds(steps)


def test_a_loop_that_an_answer_in_it_ends_is_no_fault() -> None:
    steps = (
        "  - {id: a, collects_profile_fields: [day], transitions: [{target: b}]}\n"
        "  - {id: b, collects_profile_fields: [ok], transitions: "
        "[{target: c, condition: ok}, {target: a}]}\n  - {id: c}"
    )
    assert faults(steps) == []


def test_a_field_of_the_record_is_always_known() -> None:
    steps = "  - {id: a, uses: [age]}"
    assert faults(steps) == []


def test_a_fault_keeps_a_version_from_being_published() -> None:
    with pytest.raises(ScenarioDefinitionError) as refused:
        definition_reader.read_publishable(HEAD + "  - {id: a, kind: tool, tool: rm_rf}")
    assert refused.value.problems == ("step 'a', unknown tool: there is no tool 'rm_rf'",)


def test_a_checkpoint_that_running_sessions_never_pass_is_named() -> None:
    old = definition_reader.read_definition(
        HEAD + "  - {id: a, transitions: [{target: b}]}\n  - {id: b, name: Later}"
    )
    text = HEAD + (
        "  - {id: a, transitions: [{target: k}]}\n"
        "  - {id: k, name: Consent, is_checkpoint: true, collects_profile_fields: [ok], "
        "transitions: [{target: b}]}\n  - {id: b, name: Later}"
    )
    new = definition_reader.read_definition(text)
    (fault,) = skipped_checkpoints(new, match_anchors(old, new, {}).image)
    assert (fault.kind, fault.step) == ("skipped_checkpoint", "k")
    assert "sessions at Later" in fault.text


def test_the_list_of_tools_is_the_teams() -> None:
    assert FILE.read_text("utf-8") == step_tools_text()
