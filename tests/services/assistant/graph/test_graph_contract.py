"""What both back ends promise, asked of each in the same words."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from data_models.errors import AssistantItemGoneError
from services.assistant.assistant_factory import GraphAssistant
from services.assistant.back_end import AssistantBackEnd, AssistantServices
from services.assistant.own_things import Contact, ContactChange, NewEmail, NewEvent, Span, Task
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.back_ends import local_assistant
from tests.services.assistant.effects import fresh
from tests.services.assistant.graph.conftest import BERLIN

DAY = datetime(2026, 11, 24, tzinfo=BERLIN)
FRIDAY = date(2026, 11, 27)
HOUR = timedelta(hours=1)


@pytest.fixture(params=["local", "graph"])
def back_end(
    request: pytest.FixtureRequest,
    assistant: GraphAssistant,
    graph: FakeGraph,
    ada: User,
    tmp_path: Path,
) -> AssistantBackEnd:
    graph.user("bob@clinic.example")
    return assistant if request.param == "graph" else local_assistant(tmp_path)


@pytest.fixture
def user(back_end: AssistantBackEnd) -> AssistantServices:
    return back_end.of("dev", zone=BERLIN)


async def test_a_span_begins_with_its_start_and_ends_before_end(user: AssistantServices) -> None:
    for hours in (-1, 0, 23, 24):
        start = DAY + hours * HOUR
        await user.calendar.create(NewEvent(f"at {hours}", start, start + HOUR), fresh())
    long = await user.calendar.create(NewEvent("long", DAY - HOUR, DAY + HOUR, "Room 4"), fresh())
    found = await user.calendar.between(DAY, DAY + timedelta(days=1))
    assert [one.title for one in found] == ["long", "at 0", "at 23"]
    assert await user.calendar.get(long.id) == long
    assert (long.location, long.start, long.end) == ("Room 4", DAY - HOUR, DAY + HOUR)


async def test_events_move_with_their_length_and_cancel_once(user: AssistantServices) -> None:
    made = await user.calendar.create(NewEvent("Größe", DAY, DAY + 1.5 * HOUR), fresh())
    start = (DAY + timedelta(days=3, hours=9)).astimezone(UTC)
    moved = await user.calendar.move(made.id, start=start)
    assert (moved.id, moved.title, moved.start) == (made.id, "Größe", start)
    assert moved.end - moved.start == 1.5 * HOUR
    longer = await user.calendar.move(made.id, start=start, length=2 * HOUR)
    assert (longer.start, longer.end) == (start, start + 2 * HOUR)
    assert await user.calendar.delete(made.id)
    assert not await user.calendar.delete(made.id)
    assert await user.calendar.get(made.id) is None
    with pytest.raises(AssistantItemGoneError):
        await user.calendar.move(made.id, start=start)


async def test_a_draft_is_no_received_mail_and_is_sent_once(user: AssistantServices) -> None:
    new = NewEmail(to=("ben@clinic.example",), subject="Größe", text="At three?")
    draft = await user.mail.draft(new, fresh())
    assert (draft.subject, draft.text, draft.folder) == ("Größe", "At three?", "drafts")
    assert draft.to == ("ben@clinic.example",)
    assert await user.mail.search("", limit=9) == []
    assert await user.mail.get(draft.id) == draft
    assert await user.mail.send(draft.id)
    assert not await user.mail.send(draft.id)
    sent = await user.mail.get(draft.id)
    assert sent is not None
    assert sent.folder == "sent"
    assert await user.mail.search("", limit=9) == []
    assert not await user.mail.send("gone")


async def test_contacts_are_found_changed_and_deleted(user: AssistantServices) -> None:
    for name in ("Zoë Roth", "Anna Roth", "Ben Lang"):
        await user.contacts.add(Contact(name=name, organization="Lab", phone="1"), fresh())
    assert [one.name for one in await user.contacts.search("roth", limit=9)] == [
        "Anna Roth",
        "Zoë Roth",
    ]
    assert [one.name for one in await user.contacts.search("", limit=2)] == [
        "Anna Roth",
        "Ben Lang",
    ]
    (zoe,) = await user.contacts.search("zoe lab", limit=9)
    changed = await user.contacts.change(zoe.id, ContactChange(email="z@x.example", phone=""))
    assert (changed.name, changed.email, changed.phone) == ("Zoë Roth", "z@x.example", "")
    assert changed.organization == "Lab"
    assert await user.contacts.get(zoe.id) == changed
    assert await user.contacts.delete(zoe.id)
    assert not await user.contacts.delete(zoe.id)
    with pytest.raises(AssistantItemGoneError):
        await user.contacts.change(zoe.id, ContactChange(name="x"))


async def test_tasks_are_listed_done_moved_and_deleted(user: AssistantServices) -> None:
    await user.tasks.add(Task(title="no date"), fresh())
    late = await user.tasks.add(Task(title="late", due=date(2026, 12, 4), notes="Room 4"), fresh())
    done = await user.tasks.add(Task(title="done", due=FRIDAY), fresh())
    assert (await user.tasks.complete(done.id)).is_done
    assert (await user.tasks.complete(done.id)).is_done
    assert [one.title for one in await user.tasks.list(limit=9)] == ["late", "no date"]
    moved = await user.tasks.move(late.id, due=FRIDAY)
    assert (moved.due, moved.notes) == (FRIDAY, "Room 4")
    after = FRIDAY + timedelta(days=1)
    assert await user.tasks.list(due=Span(FRIDAY, after), limit=9) == [moved]
    both = await user.tasks.list(due=Span(FRIDAY, after), include_done=True, limit=9)
    assert len(both) == 2
    assert (await user.tasks.move(late.id, due=None)).due is None
    assert await user.tasks.delete(late.id)
    assert not await user.tasks.delete(late.id)
    for lost in (user.tasks.complete(late.id), user.tasks.move(late.id, due=FRIDAY)):
        with pytest.raises(AssistantItemGoneError):
            await lost


async def test_an_effect_begun_again_in_other_words_is_one_thing(user: AssistantServices) -> None:
    effect = fresh()
    again = replace(effect, is_repeated=True)
    event = await user.calendar.create(NewEvent("Board", DAY, DAY + HOUR), effect)
    moved = await user.calendar.move(event.id, start=DAY + HOUR)
    assert await user.calendar.create(NewEvent("The board", DAY, DAY + HOUR), again) == moved
    task = await user.tasks.add(Task(title="Call the lab"), effect)
    done = await user.tasks.complete(task.id)
    assert await user.tasks.add(Task(title="Phone the lab"), again) == done
    contact = await user.contacts.add(Contact(name="Lab"), effect)
    assert await user.contacts.add(Contact(name="The lab"), again) == contact
    mail = NewEmail(to=("x@y.example",), subject="Board", text="Hello")
    draft = await user.mail.draft(mail, effect)
    assert await user.mail.draft(replace(mail, text="Dear all"), again) == draft
    assert len(await user.calendar.between(DAY, DAY + 9 * HOUR)) == 1
    assert len(await user.tasks.list(include_done=True, limit=9)) == 1
    assert len(await user.contacts.search("", limit=9)) == 1


async def test_an_effect_that_was_begun_and_never_reached_the_back_end_is_made_now(
    user: AssistantServices,
) -> None:
    again = replace(fresh(), is_repeated=True)
    made = await user.calendar.create(NewEvent("Board", DAY, DAY + HOUR), again)
    assert await user.calendar.between(DAY, DAY + HOUR) == [made]
    assert [await user.tasks.add(Task(title="Call"), again)] == await user.tasks.list(limit=9)
    assert (await user.contacts.add(Contact(name="Lab"), again)).name == "Lab"


async def test_a_file_that_is_not_there_is_none(user: AssistantServices) -> None:
    assert await user.documents.search("", limit=9) == []
    assert await user.documents.get("gone") is None
    assert not await user.documents.delete("gone")
    with pytest.raises(AssistantItemGoneError):
        await user.documents.text("gone")


async def test_nobody_meets_what_another_has(
    back_end: AssistantBackEnd, user: AssistantServices
) -> None:
    bob = back_end.of("key:bob", zone=BERLIN)
    event = await user.calendar.create(NewEvent("Mine", DAY, DAY + HOUR), fresh())
    task = await user.tasks.add(Task(title="Mine"), fresh())
    contact = await user.contacts.add(Contact(name="Mine"), fresh())
    mail = await user.mail.draft(NewEmail(to=("x@y.example",), subject="Mine", text="t"), fresh())
    assert await bob.calendar.between(DAY, DAY + timedelta(days=1)) == []
    assert not await bob.calendar.delete(event.id)
    assert await bob.tasks.get(task.id) is None
    assert not await bob.contacts.delete(contact.id)
    assert not await bob.mail.send(mail.id)
