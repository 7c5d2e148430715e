"""Words inside titles and subjects are data: whatever they say, references mean the same."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.services.tool_memory.memory_world import SCHEDULER, ask, entity, run_of, session_of
from tests.tables import tables_beside

INJECTIONS: list[str] = tables_beside(Path(__file__))["injections"]
MESSAGES: dict[str, Any] = tables_beside(Path(__file__))["messages"]


def test_the_set_is_of_thirty() -> None:
    assert len(set(INJECTIONS)) == 30


@pytest.mark.slow
@pytest.mark.parametrize("title", INJECTIONS)
@pytest.mark.parametrize("kind", ["email", "calendar_event"])
def test_a_title_decides_nothing(title: str, kind: str) -> None:
    scheduler = [*SCHEDULER, entity("new_1", kind, title, 0, subject=title, body=title)]
    for message, expected in MESSAGES.items():
        found = ask(message, focus="evt_2", shown=["evt_1", "evt_3"], entities=scheduler)
        assert found == expected or (isinstance(found, list) and expected in found)


@pytest.mark.parametrize("title", INJECTIONS)
def test_a_title_reaches_models_as_one_json_string(title: str) -> None:
    session = session_of(now=datetime(2026, 11, 24, tzinfo=UTC))
    row = {"id": "evt_1", "title": title, "start": "2026-11-25T15:00:00Z"}
    session.record(run_of({"events": [row]}))
    shown = json.loads(session.grounding().partition(": ")[2])
    assert session.grounding().count("\n") == 0
    assert [one["name"] for one in shown["recent_entities"]] == [" ".join(title.split())]
