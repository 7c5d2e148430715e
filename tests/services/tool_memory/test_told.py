"""What became of a tool run, in words that people read."""

from collections.abc import Mapping
from typing import Any

import pytest

from data_models.tool_memory import ToolExecutionContext, ToolMemory
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds, FixedClock
from tests.tables import with_cases


def recorded(data: Mapping[str, Any] | None, error: str | None = None) -> ToolExecutionContext:
    now = FixedClock().now()
    store = ToolEntityStore(memory=ToolMemory(), limits=ToolMemoryLimits(), now=now)
    session = ToolMemorySession(
        store=store, turn_id=1, user_text="?", now=now, roster=frozenset(), ids=CountingIds()
    )
    run = FinishedRun("a_tool", "Agent", {}, data, error, 1.0)
    return session.record(run)


@with_cases("data", "told")
def test_a_run_without_things_says_what_came_of_it(data: Mapping[str, Any], told: str) -> None:
    assert recorded(data).result == told


@pytest.mark.parametrize("error", ['{"error":"no such doctor"}', "no such doctor"])
def test_a_failure_is_told_without_its_form(error: str) -> None:
    run = recorded(None, error)
    assert (run.result, run.error_message) == ("failed", "no such doctor")
