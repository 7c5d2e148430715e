"""The labelled set of deltas, and the runner that asks models."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from data_models.errors import ModelTimeoutError
from evals.__main__ import main
from evals.entity_delta.models import AskedDelta, DeltaAnswer
from evals.entity_delta.run import report, run, scenarios
from evals.entity_delta.scoring import Result, p95_ms, passes, problem_of, success_rate

Answer = TypeVar("Answer", bound=BaseModel)


class Expert:
    """A `StructuredModel` that knows the labels, apart from those that it is told to miss."""

    def __init__(self, *, misses: int = 0) -> None:
        self.misses = misses
        self.asked: list[dict[str, Any]] = []

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        assert (purpose, answer) == ("entity_delta", DeltaAnswer)
        shown = json.loads(text)
        self.asked.append(shown)
        if len(self.asked) <= self.misses:
            raise ModelTimeoutError
        label = next(one for one in scenarios() if same(one, shown))["expected"]
        return answer.model_validate(
            {
                "entities_to_update": pairs(label.get("entities_to_update", {})),
                "derived_entities_to_update": pairs(label.get("derived_entities_to_update", {})),
                "entities_to_remove": label.get("entities_to_remove", []),
            }
        )


def same(scenario: Mapping[str, Any], shown: Mapping[str, Any]) -> bool:
    return all(scenario.get(key) == shown[key] for key in ("known", "message", "tool_result"))


def pairs(values: Mapping[str, Any]) -> list[dict[str, str]]:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    return [{"key": key, "value": text(value)} for key, value in values.items()]


def test_the_set_has_thirty_scenarios_of_every_kind() -> None:
    rows = scenarios()
    assert len({row["id"] for row in rows}) == 30
    assert {row["kind"] for row in rows} == {"message", "tool", "reply"}


def test_the_offline_rules_pass_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["entity-delta"]) == 0
    assert "30 of 30 (100%)" in capsys.readouterr().out


def test_the_run_can_be_read_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["entity-delta", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["success_rate"] == 1
    assert len(found["results"]) == 30


async def test_a_model_is_shown_what_is_known_and_nothing_of_the_label() -> None:
    expert = Expert()
    results = await run(AskedDelta(model=expert, prompt="rules"))
    assert report(results).endswith("passed\n")
    assert all(set(shown) == {"known", "message", "tool_result"} for shown in expert.asked)


@pytest.mark.parametrize(("misses", "good"), [(3, True), (4, False)])
async def test_under_ninety_percent_is_a_failure(misses: int, good: bool) -> None:
    results = await run(AskedDelta(model=Expert(misses=misses), prompt="rules"))
    assert passes(results) is good
    assert "no answer: model_timeout" in report(results)


def test_a_model_that_is_right_but_slow_fails() -> None:
    results = [Result("one", None, 10.0)] * 18 + [Result("two", None, 501.0)] * 2
    assert success_rate(results) == 1
    assert p95_ms(results) == 501.0
    assert not passes(results)


@pytest.mark.parametrize(
    "reply",
    [
        '{"entities_to_update": {"time_preference": "16:00"}}',
        '{"entities_to_update": {"time_preference": "15:00", "doctor_preference": "x"}}',
        '{"entities_to_update": {"time_preference": "15:00"}, "entities_to_remove": ["x"]}',
        "3 pm it is",
    ],
)
def test_a_reply_that_says_too_much_or_something_else_is_wrong(reply: str) -> None:
    scenario = next(one for one in scenarios() if one["id"] == "overwrite_time")
    assert problem_of(scenario, reply) is not None
    right = '{"entities_to_update": {"preferred_time": " 15:00 "}}'
    assert problem_of(scenario, right) is None
