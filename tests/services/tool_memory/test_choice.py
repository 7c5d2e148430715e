"""Which of the items that the user was asked about an answer picks."""

from datetime import UTC, datetime

from data_models.tool_memory import EntityContext, ToolMemory
from services.tool_memory.resolver import choice_of, picked_from
from tests.tables import with_cases

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)  # a Tuesday
PAYLOAD = {"candidates": ["evt_1", "evt_2", "evt_3"], "asked": "move the meeting to Friday"}


def event(entity_id: str, name: str, start: str, *, private: bool = False) -> EntityContext:
    return EntityContext(
        entity_id=entity_id,
        entity_type="calendar_event",
        display_name=name,
        data={"start": start},
        created_at=NOW,
        last_accessed=NOW,
        is_private=private,
    )


MEMORY = ToolMemory(
    entities=[
        event("evt_1", "Tumor board", "2026-11-25T15:00:00Z"),
        event("evt_2", "Case meeting", "2026-11-26T09:00:00Z"),
        event("evt_3", "Budget meeting", "2026-11-27T09:00:00Z"),
        event("evt_4", "Dentist", "2026-11-25T11:00:00Z"),
    ]
)


@with_cases("answer", "expected")
def test_an_answer_picks_one_asked_about_or_nothing(answer: str, expected: str | None) -> None:
    found = picked_from(PAYLOAD, answer, MEMORY, local_now=NOW)
    assert (found.entity_id if found else None) == expected
    assert found is None or found.asked == "move the meeting to Friday"


@with_cases("answer", "expected")
def test_an_exact_name_picks_its_own_bearer_alone(answer: str, expected: str | None) -> None:
    europe = event("evt_5", "Tumor board Europe", "2026-11-28T15:00:00Z")
    memory = ToolMemory(entities=[*MEMORY.entities, europe])
    payload = {"candidates": ["evt_1", "evt_5"], "asked": "cancel the tumor board"}
    found = picked_from(payload, answer, memory, local_now=NOW)
    assert (found.entity_id if found else None) == expected


def test_what_is_gone_meanwhile_is_picked_by_nothing_but_its_number() -> None:
    memory = MEMORY.model_copy(deep=True)
    memory.entities[0].status = "deleted"
    assert picked_from(PAYLOAD, "the tumor board", memory, local_now=NOW) is None


def test_a_choice_names_another_patients_item_by_its_time() -> None:
    shown = choice_of(event("e", "Whitfield *CT*", "2026-11-25T15:00:00Z", private=True), NOW)
    assert shown == "*other appointment*, Wed 25 Nov 15:00"
    named = choice_of(event("e", "Mr `A` *b*\n\nx", "2026-11-25"), NOW)
    assert named == "*Mr A b x*, Wed 25 Nov"


def test_a_choice_of_another_year_is_named_with_it() -> None:
    assert choice_of(event("e", "Clinic", "2027-01-04T09:00:00Z"), NOW).endswith("4 Jan 2027 09:00")
