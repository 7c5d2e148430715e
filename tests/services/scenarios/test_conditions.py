"""CEL conditions: checked when saved, three-valued when facts are missing."""

import pytest
from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenarios.scenario import ValueType
from services.scenarios.definition.conditions import (
    canonical_condition,
    compile_condition,
    names_in,
)
from tests.tables import with_cases

TYPES: dict[str, ValueType] = {
    "age": "integer",
    "country": "text",
    "insured": "boolean",
    "dose": "number",
    "free": "any",
}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agee < 18", "agee"),
        ("age <", "Syntax error"),
        ("age", "not true or false"),
        ("age < 'x'", "no matching overload"),
        ("dose < 1", "no matching overload"),
        ("", "Syntax error"),
        ("(age < 1", "Syntax error"),
        ("(" * 300 + "age < 1" + ")" * 300, "not a valid condition"),
        ("country == '\ud800'", "not valid Unicode"),
        ("__import__('os')", "undeclared reference"),
    ],
)
def test_a_wrong_condition_is_refused_with_its_reason(text: str, problem: str) -> None:
    with pytest.raises(ScenarioConditionError, match=problem):
        compile_condition(text, TYPES)


@with_cases("text", "values", "value", "missing")
def test_unknown_fields_leave_open_only_what_they_can_decide(
    text: str, values: dict[str, object], value: bool | None, missing: tuple[str, ...]
) -> None:
    verdict = compile_condition(text, TYPES).judge(values)  # type: ignore[arg-type]
    assert (verdict.value, verdict.missing) == (value, missing)


def test_values_of_another_type_are_an_error_and_no_guess() -> None:
    condition = compile_condition("free < 18", TYPES)
    with pytest.raises(ScenarioConditionError) as caught:
        condition.judge({"free": "secret words"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [10**30, float("nan"), {"x": 1}, [1, {"y": None}], None, "\ud800", "\x00", True]
)
def test_any_value_is_decided_or_refused(value: JsonValue) -> None:
    for text in ("free < 3", "free == 'x'", "free.x == 1", "free[0] == 1", "size(free) > 1"):
        condition = compile_condition(text, TYPES)
        try:
            verdict = condition.judge({"free": value})
        except ScenarioConditionError:
            continue
        assert isinstance(verdict.value, bool)


def test_spaces_and_comments_do_not_change_a_condition() -> None:
    assert canonical_condition("age<18&&country=='a  b'") == canonical_condition(
        "age < 18  // minors\n && country == 'a  b'"
    )
    assert canonical_condition("country == 'a b'") != canonical_condition("country == 'a  b'")


def test_members_functions_and_words_are_no_fields() -> None:
    assert names_in("size(country) > 1 && session.age in [1] && true") == ("country", "session")
