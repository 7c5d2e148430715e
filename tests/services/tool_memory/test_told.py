"""What became of a tool run, in words that people read."""

from collections.abc import Mapping
from typing import Any

import pytest

from data_models.tool_memory import ToolExecutionContext
from tests.services.tool_memory.memory_world import run_of, session_of
from tests.tables import with_cases


def recorded(data: Mapping[str, Any] | None, error: str | None = None) -> ToolExecutionContext:
    return session_of().record(run_of(data, tool="a_tool", error=error))


@with_cases("data", "told")
def test_a_run_without_things_says_what_came_of_it(data: Mapping[str, Any], told: str) -> None:
    assert recorded(data).result == told


@pytest.mark.parametrize("error", ['{"error":"no such doctor"}', "no such doctor"])
def test_a_failure_is_told_without_its_form(error: str) -> None:
    run = recorded(None, error)
    assert (run.result, run.error_message) == ("failed", "no such doctor")
