"""What one user's personal tools returned is in nobody else's turn."""

import json

import pytest

from data_models.chat_context import ChatContext
from data_models.tool_memory import ToolMemory
from data_models.values import upgraded
from services.tool_memory.extractors import Found
from services.tool_memory.resolution import Resolved
from services.tool_memory.store import ToolEntityStore
from tests.fakes import FixedClock
from tests.services.tool_memory.memory_world import session_of


def store(memory: ToolMemory, principal: str) -> ToolEntityStore:
    return session_of(memory, principal=principal).store


def test_a_colleague_neither_sees_nor_loses_what_is_not_theirs() -> None:
    memory = ToolMemory()
    mail = Found("m1", "email", "Anna's private mail", {"id": "m1"}, True, "assistant")
    booked = Found("Appointment/a1", "calendar_event", "Visit", {}, True, "clinic")
    anna = store(memory, "anna")
    for found in (mail, booked):
        anna.store_entity(found, execution_id="e1", turn_id=1)

    bert = store(memory, "bert")

    assert [one.entity_id for one in bert.get_recent_entities()] == ["Appointment/a1"]
    assert bert.get("m1") is None
    assert {one.entity_id for one in store(memory, "anna").get_recent_entities()} == {
        "m1",
        "Appointment/a1",
    }


def test_a_colleagues_words_mean_nothing_that_is_not_theirs() -> None:
    memory = ToolMemory()
    event = Found("e1", "calendar_event", "Squash", {"id": "e1"}, True, "assistant")
    anna, now = store(memory, "anna"), FixedClock().now()
    anna.store_entity(event, execution_id="r1", turn_id=1)
    anna.shown(["e1"])
    anna.touch("e1", turn_id=1)

    for words in ("cancel that event", "cancel the first one", "cancel it", "cancel squash", "e1"):
        meant = store(memory, "bert").resolve(words, "calendar_event", local_now=now)
        assert not isinstance(meant, Resolved), words
        assert "e1" not in str(meant), words
    own = store(memory, "anna").resolve("cancel that event", "calendar_event", local_now=now)
    assert isinstance(own, Resolved)
    assert own.entity_id == "e1"


def test_what_0_1_kept_of_anybodys_mailbox_stays_in_the_backup_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What 0.1 called its own stays so, whatever later versions do.
    monkeypatch.setattr("data_models.tool_memory.PERSONAL_TOOLS", frozenset({"results"}))
    monkeypatch.setattr("data_models.tool_memory.PERSONAL_KINDS", frozenset({"document"}))
    entities = [
        {"entity_id": "m1", "entity_type": "email", "display_name": "Private"},
        {"entity_id": "Appointment/a1", "entity_type": "calendar_event", "display_name": "Visit"},
        {"entity_id": "d1", "entity_type": "document", "display_name": "Report"},
        "damaged",
    ]
    runs = [{"tool_name": "search_mail"}, {"tool_name": "results"}]
    old = {"tool_memory": {"entities": entities, "executions": runs, "focus": "m1"}}
    data = json.dumps({"schema_version": 1, **old}).encode()

    memory = upgraded(data, ChatContext, 1)["tool_memory"]

    assert [one["entity_id"] for one in memory["entities"]] == ["Appointment/a1", "d1"]
    assert memory["executions"] == [{"tool_name": "results"}]


def test_a_document_of_0_1_without_tool_memory_is_upgraded_as_it_is() -> None:
    for old in ({}, {"tool_memory": None}, {"tool_memory": {"entities": None}}):
        assert upgraded(json.dumps(old).encode(), ChatContext, 1)["schema_version"] > 1
