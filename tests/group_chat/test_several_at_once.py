"""What is said of several of the user's own things at once, and what "undo" finds of them."""

from datetime import timedelta
from pathlib import Path

import pytest

from data_models.errors import ToolInputError
from group_chat.tools.personal.calendar_tools import CALENDAR, TASKS
from group_chat.tools.personal.mail_tools import CONTACTS
from services.assistant.own_things import Contact, Task
from services.assistant.undo_log import carry_out, items_of, undo_action
from tests.fakes_connected import office_over
from tests.group_chat.test_assistant_tools import BERLIN, NOW, TOMORROW, Names, Office
from tests.services.assistant.effects import fresh
from tests.tables import with_cases


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


async def listed(office: Office) -> list[str]:
    ids = [await office.event(title, hour=8 + at) for at, title in enumerate(("A", "B", "C"))]
    await office.call("list_events", since="tomorrow", until="tomorrow")
    return ids


@pytest.mark.slow
@with_cases("said", "meant")
async def test_one_question_names_every_one_that_is_meant(
    office: Office, said: str, meant: list[int]
) -> None:
    ids = await listed(office)
    await office.call("cancel_event", said, event_id="")
    (asked,) = office.asked
    assert asked.kind == "destructive_tool"
    assert [one for one, _ in items_of(asked.payload)] == [ids[at] for at in meant]
    assert asked.text.startswith(f"Cancel these {len(meant)}? yes / no\n1. *{'ABC'[meant[0]]}*")
    assert all(f"*{'ABC'[at]}*" in asked.text for at in meant)


async def test_one_of_two_named_with_or_is_asked_about_and_not_both(office: Office) -> None:
    await office.event("Ward round")
    await office.event("Journal club", hour=10)
    await office.call("list_events", since="tomorrow", until="tomorrow")
    with pytest.raises(ToolInputError, match="asked which"):
        await office.call("cancel_event", "cancel the ward round or the journal club", event_id="")
    assert office.asked[-1].kind == "which_entity"


async def test_all_three_of_four_are_asked_about_and_not_all_four(office: Office) -> None:
    await listed(office)
    await office.event("D", hour=20)
    await office.call("list_events", since="tomorrow", until="tomorrow")
    with pytest.raises(ToolInputError, match="asked which"):
        await office.call("cancel_event", "cancel all three", event_id="")


async def test_nothing_is_asked_about_where_one_of_them_is_gone(office: Office) -> None:
    ids = await listed(office)
    await office.own.calendar.delete(ids[1])
    with pytest.raises(ToolInputError, match="not there any more"):
        await office.call("cancel_event", "cancel all three", event_id="")
    assert office.asked == []


@pytest.mark.parametrize("said", ["first two done", "die ersten beiden sind erledigt"])
async def test_the_first_two_tasks_are_done_where_no_verb_begins_it(
    office: Office, said: str
) -> None:
    for title in ("X", "Y", "Z"):
        await office.own.tasks.add(Task(title=title), fresh())
    await office.call("list_tasks")
    await office.call("complete_task", said, task_id="")
    assert [title for _, title in items_of(office.asked[-1].payload)] == ["*X*", "*Y*"]


async def test_several_tasks_are_done_after_one_yes_and_one_at_once(office: Office) -> None:
    tasks = [await office.own.tasks.add(Task(title=one), fresh()) for one in ("X", "Y")]
    await office.call("list_tasks")
    await office.call("complete_task", "mark both as done", task_id="")
    assert office.asked[-1].text == "Complete these 2? yes / no\n1. *X*\n2. *Y*"
    assert not any(one.is_done for one in await office.own.tasks.list(limit=9))
    for one in tasks:
        assert await carry_out(office.own, "complete_task", one.id)
    assert await office.own.tasks.list(limit=9) == []


async def test_an_event_that_nobody_has_is_not_found_nor_another_taken(office: Office) -> None:
    await office.event("Family meeting")
    await office.call("list_events", since="tomorrow", until="tomorrow")
    with pytest.raises(ToolInputError, match="no event that is known here is called so"):
        await office.call("cancel_event", "cancel the family dinner", event_id="")
    assert office.asked == []


# -- undo -------------------------------------------------------------------------------------


class Remembering(Office):
    """An office whose changes can be undone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        assistant = office_over(self.back_end, Names())
        self.undo = assistant.own.undo_log
        made = (CALENDAR, CONTACTS, TASKS)
        self.tools = {one.name: one for own in made for one in own.over(assistant)}

    async def undone(self) -> object:
        deed = await self.undo.newest("alice", now=NOW)
        assert deed is not None
        item = await undo_action(deed, self.own)
        await self.undo.forget(deed, principal_id="alice")
        return item


async def test_a_move_is_undone_by_the_newest_action_then_the_one_before(tmp_path: Path) -> None:
    office = Remembering(tmp_path)
    event = await office.event("Board", hour=15)
    task = await office.own.tasks.add(Task(title="Call the lab"), fresh())
    await office.call("list_events", since="tomorrow", until="tomorrow")
    await office.call("move_event", "move the board to 17:00", event_id=event, start="17:00")
    await office.call("list_tasks")
    await office.call("complete_task", "complete the task", task_id=task.id)

    await office.undone()
    assert not (await office.own.tasks.list(limit=9))[0].is_done
    await office.undone()
    (back,) = await office.own.calendar.between(TOMORROW, TOMORROW + timedelta(days=1))
    assert back.start.astimezone(BERLIN).hour == 15
    assert await office.undo.newest("alice", now=NOW) is None


async def test_a_contact_and_a_due_date_are_brought_back(tmp_path: Path) -> None:
    office = Remembering(tmp_path)
    contact = await office.own.contacts.add(
        Contact(name="Maria Kern", email="m@k.example", phone="1"), fresh()
    )
    task = await office.own.tasks.add(Task(title="Call the lab"), fresh())
    await office.call("search_contacts")
    await office.call("change_contact", "change Maria's phone to 222", phone="222")
    assert await office.undone() == contact
    await office.call("list_tasks")
    await office.call("move_task", "move the task to Friday", due="Friday")
    assert await office.undone() == task


async def test_what_was_changed_again_since_is_left_as_it_is(tmp_path: Path) -> None:
    office = Remembering(tmp_path)
    event = await office.event("Board", hour=15)
    await office.call("list_events", since="tomorrow", until="tomorrow")
    await office.call("move_event", "move the board to 17:00", event_id=event, start="17:00")
    (moved,) = await office.own.calendar.between(TOMORROW, TOMORROW + timedelta(days=1))
    later = await office.own.calendar.move(moved.id, start=moved.start + timedelta(hours=1))
    assert await office.undone() is None
    assert await office.own.calendar.get(later.id) == later


async def test_after_ten_minutes_and_for_others_there_is_nothing_to_undo(tmp_path: Path) -> None:
    office = Remembering(tmp_path)
    event = await office.event("Board", hour=15)
    await office.call("list_events", since="tomorrow", until="tomorrow")
    await office.call("move_event", "move the board to 17:00", event_id=event, start="17:00")
    late = NOW + timedelta(minutes=11)
    assert await office.undo.newest("alice", now=late) is None
    assert await office.undo.newest("bob", now=NOW) is None
