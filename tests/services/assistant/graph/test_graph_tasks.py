"""Tasks in Microsoft To Do."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from data_models.errors import AssistantError
from services.assistant.assistant_factory import GraphAssistant
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import Span, Task
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.effects import fresh

FRIDAY = date(2026, 11, 27)


def fill(ada: User) -> None:
    ada.task("without a date")
    ada.task("later", due=date(2026, 12, 4))
    ada.task("friday", due=FRIDAY)
    ada.task("done", due=FRIDAY, status="completed")


async def test_open_tasks_are_listed_by_their_day(ada: User, own: AssistantServices) -> None:
    fill(ada)
    found = await own.tasks.list(limit=9)
    assert [(one.title, one.due) for one in found] == [
        ("friday", FRIDAY),
        ("later", date(2026, 12, 4)),
        ("without a date", None),
    ]
    assert [one.title for one in await own.tasks.list(limit=1)] == ["friday"]


async def test_a_span_and_done_tasks_can_be_asked_for(ada: User, own: AssistantServices) -> None:
    fill(ada)
    until = date(2026, 12, 1)
    found = await own.tasks.list(due=Span(FRIDAY, until), include_done=True, limit=9)
    assert [(one.title, one.is_done) for one in found] == [("done", True), ("friday", False)]
    assert await own.tasks.list(due=Span(until=FRIDAY), limit=9) == []


async def test_a_task_is_added_where_people_keep_theirs(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    made = await own.tasks.add(Task(title="Übergabe", due=FRIDAY, notes="Room 4"), fresh())
    assert (made.title, made.due, made.notes, made.is_done) == ("Übergabe", FRIDAY, "Room 4", False)
    assert graph.asked[-1].body["dueDateTime"]["timeZone"] == "Europe/Berlin"
    assert await own.tasks.get(made.id) == made
    assert await own.tasks.get("gone") is None


async def test_the_list_is_looked_for_once(graph: FakeGraph, own: AssistantServices) -> None:
    await own.tasks.list(limit=1)
    await own.tasks.list(limit=1)
    assert graph.paths("GET").count("todo/lists") == 2  # two pages


async def test_a_task_is_added_once_although_the_answer_is_lost(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    for number in range(5):
        ada.task(f"other {number}")
    await own.tasks.list(limit=1)
    graph.lose_next()
    made = await own.tasks.add(Task(title="other 1"), fresh())
    assert len(ada.tasks) == 6
    assert made.id == list(ada.tasks)[-1]


async def test_a_day_given_as_an_instant_is_the_users(ada: User, assistant: GraphAssistant) -> None:
    where = ZoneInfo("America/New_York")
    found = ada.task("board")
    at = datetime(2026, 11, 27, tzinfo=where).astimezone(UTC)
    due = {"dateTime": f"{at:%Y-%m-%dT%H:%M:%S}.0000000", "timeZone": "UTC"}
    ada.touch(ada.tasks, found, dueDateTime=due)
    task = await assistant.of("dev", zone=where).tasks.get(found)
    assert task is not None
    assert task.due == FRIDAY


async def test_without_their_own_list_nothing_is_guessed(ada: User, own: AssistantServices) -> None:
    ada.lists = ada.lists[:1]
    with pytest.raises(AssistantError, match="default list"):
        await own.tasks.list(limit=9)
