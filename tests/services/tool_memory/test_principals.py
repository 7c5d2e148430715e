"""What one user's personal tools returned is in nobody else's turn."""

from datetime import timedelta

from data_models.tool_memory import ToolMemory
from services.tool_memory.extractors import Found
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import FixedClock


def store(memory: ToolMemory, principal: str) -> ToolEntityStore:
    limits = ToolMemoryLimits(idle=timedelta(hours=1))
    return ToolEntityStore(
        memory=memory, limits=limits, now=FixedClock().now(), principal=principal
    )


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
