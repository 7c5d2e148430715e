"""What the user did not ask for is not done, whatever a model makes of what it read."""

from pathlib import Path
from typing import Any

import pytest

from data_models.chat_context import AgentMessage, Turn
from data_models.errors import ToolInputError
from services.assistant.own_things import Contact, Task
from tests.group_chat.test_assistant_tools import NOW, Office
from tests.services.assistant.effects import fresh
from tests.tables import with_cases


async def _filled(folder: Path) -> tuple[Office, dict[str, str]]:
    office = Office(folder)
    event = await office.event("Dentist", hour=9)
    await office.event("Call with the lab", hour=11)
    contact = await office.own.contacts.add(Contact(name="Anna Kern", phone="1"), fresh())
    task = await office.own.tasks.add(Task(title="Sign letters"), fresh())
    await office.call("list_events", "what is on?", since="tomorrow", until="tomorrow")
    await office.call("search_contacts", "my contacts?")
    await office.call("list_tasks", "my tasks?")
    return office, {"event_id": event, "contact_id": contact.id, "task_id": task.id}


@pytest.mark.slow
@with_cases("said", "tool", "given")
async def test_a_change_that_was_not_asked_for_is_refused(
    tmp_path: Path, said: str, tool: str, given: dict[str, Any]
) -> None:
    office, ids = await _filled(tmp_path)
    before = (
        await office.own.tasks.list(include_done=True, limit=9),
        await office.own.contacts.search("", limit=9),
        await office.own.calendar.get(ids["event_id"]),
    )
    with pytest.raises(ToolInputError):
        await office.call(tool, said, **{**given, **{k: ids[k] for k in ids if k in given}})
    assert before == (
        await office.own.tasks.list(include_done=True, limit=9),
        await office.own.contacts.search("", limit=9),
        await office.own.calendar.get(ids["event_id"]),
    )


@pytest.mark.slow
@with_cases("said", "tool", "given")
async def test_a_change_is_made_for_whoever_asks_for_it_in_their_own_way(
    tmp_path: Path, said: str, tool: str, given: dict[str, Any]
) -> None:
    office, ids = await _filled(tmp_path)
    assert await office.call(tool, said, **{**given, **{k: ids[k] for k in ids if k in given}})


@pytest.mark.slow
@with_cases("said", "tool", "given")
async def test_what_the_user_did_not_say_is_not_written(
    tmp_path: Path, said: str, tool: str, given: dict[str, Any]
) -> None:
    await test_a_change_that_was_not_asked_for_is_refused(tmp_path, said, tool, given)


@pytest.mark.slow
@with_cases("said", "tool", "given")
async def test_what_the_user_said_is_written_in_a_model_s_words(
    tmp_path: Path, said: str, tool: str, given: dict[str, Any]
) -> None:
    assert await Office(tmp_path).call(tool, said, **given)


async def test_what_was_offered_is_written_after_a_yes_and_nothing_else(tmp_path: Path) -> None:
    office = Office(tmp_path)
    offered = AgentMessage(
        message_id="m1", agent="Secretary", text="Shall I note: call the lab?", timestamp=NOW
    )
    said = Turn(
        turn_id=1,
        run_id="run_0",
        timestamp=NOW,
        user="Alice",
        user_message="what now?",
        agent_responses=[offered],
    )
    assert await office.call("add_task", "Ja", history=[said], title="Call the lab")
    with pytest.raises(ToolInputError):
        await office.call("add_task", "Ja", history=[said], title="Stop the heparin")
