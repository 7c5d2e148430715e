"""The rules of calls for help are checked when the server starts, not when somebody calls."""

from pathlib import Path

import pytest

from data_models.errors import ConfigurationError
from services.language.crisis.rules import (
    CrisisRules,
    RulesFile,
    RuleSpec,
    load_other_rules,
    load_rules,
)


def rules(find: str) -> CrisisRules:
    file = RulesFile(
        language="en",
        answers={"emergency": "Call {emergency}."},
        spellings={},
        definitions={"me": "i|me"},
        reported="says",
        labelled="pt:",
        rules=(RuleSpec(kind="emergency", needs=("help",), find=find),),
    )
    return CrisisRules(file=file)


def test_every_rule_that_is_delivered_can_be_used() -> None:
    load_rules().compile()
    for rules_of_another in load_other_rules():
        rules_of_another.compile()


def test_a_german_call_is_heard_and_talk_about_a_patient_is_not() -> None:
    (german,) = load_other_rules()
    assert german.crisis_in("Ich will mich umbringen") == "self_harm"
    assert german.crisis_in("Ich will sterben") == "self_harm"
    assert german.crisis_in('Die Patientin sagt: "Ich will mich umbringen"') is None
    assert german.crisis_in("Hat sie Suizidgedanken?") is None
    assert set(german.answers) == set(load_rules().answers)


@pytest.mark.parametrize("find", ["help (<me>", "help <whom>"])
def test_a_rule_that_cannot_be_used_is_told_at_the_start(find: str) -> None:
    with pytest.raises(ConfigurationError, match=r"crisis\.yaml is not usable"):
        rules(find).compile()


def test_rules_serve_before_all_are_compiled() -> None:
    assert rules("help (?:<me>)").crisis_in("Please help me now") == "emergency"
    assert rules("help (?:<me>)").crisis_in("Please help yourself") is None


@pytest.mark.parametrize("text", ["rules: [", "language: en"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"rules\.yaml"):
        load_rules(path)
