"""What became of a tool run, in words that people read."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from data_models.tool_memory import EntityType, ToolExecutionContext
from services.tool_memory.extractors import extracted, searchable_texts, start_of
from tests.services.tool_memory.memory_world import run_of, session_of
from tests.tables import tables_beside, with_cases


def recorded(data: Mapping[str, Any] | None, error: str | None = None) -> ToolExecutionContext:
    return session_of().record(run_of(data, tool="a_tool", error=error))


@with_cases("data", "told")
def test_a_run_without_things_says_what_came_of_it(data: Mapping[str, Any], told: str) -> None:
    assert recorded(data).result == told


@pytest.mark.parametrize("error", ['{"error":"no such doctor"}', "no such doctor"])
def test_a_failure_is_told_without_its_form(error: str) -> None:
    run = recorded(None, error)
    assert (run.result, run.error_message) == ("failed", "no such doctor")


WITH_PEOPLE = ("Google Calendar", "Gmail", "Graph events", "Graph messages")


@with_cases("source", "row", "kind", "start")
@pytest.mark.parametrize("wrapper", ["items", "value", "messages"])
def test_a_whole_result_is_one_entity_with_its_name_and_date(
    source: str, row: dict[str, Any], kind: EntityType, start: str | None, wrapper: str
) -> None:
    (found,) = extracted({wrapper: [row], "nextPageToken": "x"})
    assert (found.entity_type, found.display_name) == (kind, "Tumor board")
    moment = start_of(found.entity_type, found.data, UTC)
    told = None if moment is None else moment.at.astimezone(UTC)
    assert told == (None if start is None else datetime.fromisoformat(f"{start}:00+00:00"))


@pytest.mark.parametrize("source", WITH_PEOPLE)
def test_people_are_found_and_bodies_are_not_searched(source: str) -> None:
    shapes = tables_beside(Path(__file__))["a_whole_result_is_one_entity_with_its_name_and_date"]
    (row,) = [each[1] for each in shapes if each[0] == source]
    (found,) = extracted({"items": [row]})
    texts = " ".join(searchable_texts(found.data))
    assert "Anna Schmidt" in texts
    assert "evt_1" not in texts
