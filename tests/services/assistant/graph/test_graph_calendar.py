"""A calendar in Microsoft Graph: what is asked, what comes back, and what is never done twice."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from data_models.errors import AssistantError, AssistantUnsureError
from services.assistant.assistant_factory import GraphAssistant
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import EVENTS_LIMIT, NewEvent
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.effects import fresh
from tests.services.assistant.graph.conftest import BERLIN

DAY = datetime(2026, 11, 24, tzinfo=BERLIN)
HOUR = timedelta(hours=1)


def at(hour: int, day: int = 24) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=BERLIN)


async def test_a_day_is_listed_over_all_pages_in_order(ada: User, own: AssistantServices) -> None:
    for hour in (15, 9, 11, 13, 17):
        ada.event(f"at {hour}", at(hour), at(hour) + HOUR)
    ada.event("the day after", at(9, 25), at(10, 25))
    ada.event("called off", at(10), at(11), isCancelled=True)
    found = await own.calendar.between(DAY, DAY + timedelta(days=1))
    assert [event.title for event in found] == ["at 9", "at 11", "at 13", "at 15", "at 17"]
    assert found[0].start == at(9)
    assert found[0].start.tzinfo is BERLIN
    assert found[0].end == at(10)


async def test_few_fields_and_immutable_ids_are_asked_for(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    await own.calendar.between(DAY, DAY + timedelta(days=1))
    (asked,) = graph.asked
    assert asked.path == "users/ada%40clinic.example/calendarView"
    assert asked.query["startDateTime"] == "2026-11-23T23:00:00Z"
    assert "body" not in asked.query["$select"].split(",")
    assert asked.headers["prefer"] == 'IdType="ImmutableId", outlook.timezone="UTC"'


async def test_an_event_says_where_it_is_and_who_comes(ada: User, own: AssistantServices) -> None:
    person = {"emailAddress": {"name": "Ben Roth", "address": "ben@clinic.example"}}
    nameless = {"emailAddress": {"name": None, "address": "eva@clinic.example"}}
    found = ada.event(
        "Größe – Board",
        at(15),
        at(16),
        location={"displayName": "Room 4"},
        attendees=[person, nameless],
    )
    event = await own.calendar.get(found)
    assert event is not None
    assert (event.title, event.location) == ("Größe – Board", "Room 4")
    assert event.attendees == ("Ben Roth", "eva@clinic.example")
    assert await own.calendar.get("gone") is None


@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "UTC"]
)
async def test_a_whole_day_is_the_users_own_wherever_they_are(
    ada: User, own: AssistantServices, assistant: GraphAssistant, zone: str
) -> None:
    where = ZoneInfo(zone)
    for day in range(22, 27):
        ada.whole_day(f"day {day}", date(2026, 11, day))
    start = datetime(2026, 11, 24, tzinfo=where)
    found = await assistant.of("dev", zone=where).calendar.between(start, start + timedelta(days=1))
    assert [(one.title, one.is_all_day, one.start) for one in found] == [("day 24", True, start)]


async def test_a_whole_day_that_comes_as_the_instant_of_its_midnight_keeps_its_date(
    ada: User, own: AssistantServices
) -> None:
    start = datetime(2026, 11, 24, tzinfo=BERLIN).astimezone(UTC)
    ada.event("holiday", start, start + timedelta(days=1), isAllDay=True)
    (found,) = await own.calendar.between(DAY, DAY + timedelta(days=1))
    assert (found.start, found.end) == (DAY, DAY + timedelta(days=1))


async def test_a_full_calendar_is_listed_up_to_the_limit(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    graph.page_size = 100
    for number in range(EVENTS_LIMIT + 50):
        start = DAY + timedelta(minutes=number)
        ada.event("busy", start, start + HOUR)
    assert len(await own.calendar.between(DAY, DAY + timedelta(days=2))) == EVENTS_LIMIT
    assert len(graph.asked) == EVENTS_LIMIT // 100


async def test_an_event_is_created_in_utc(graph: FakeGraph, own: AssistantServices) -> None:
    start = datetime(2026, 11, 24, 15, tzinfo=timezone(timedelta(hours=-8)))
    made = await own.calendar.create(NewEvent("Übergabe", start, start + HOUR, "A1"), fresh())
    assert (made.title, made.start, made.location) == ("Übergabe", start, "A1")
    assert graph.asked[-1].body["start"] == {"dateTime": "2026-11-24T23:00:00", "timeZone": "UTC"}
    assert await own.calendar.get(made.id) == made


@pytest.mark.slow
@pytest.mark.parametrize("losses", [1, 2, 3])
async def test_an_event_is_created_once_although_answers_are_lost(
    graph: FakeGraph, ada: User, own: AssistantServices, losses: int
) -> None:
    graph.lose_next(times=losses)
    made = await own.calendar.create(NewEvent("Board", at(15), at(16)), fresh())
    assert list(ada.events) == [made.id]
    assert len(graph.asked) == losses + 1


async def test_an_event_that_was_changed_since_it_was_made_is_found_and_not_made_again(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    """Graph refuses its `transactionId` then, and the mark finds it."""
    effect = fresh()
    made = await own.calendar.create(NewEvent("Board", at(15), at(16)), effect)
    ada.touch(ada.events, made.id, subject="Our board")
    again = await own.calendar.create(NewEvent("Board", at(15), at(16)), effect)
    assert (again.id, again.title, len(ada.events)) == (made.id, "Our board", 1)
    assert graph.paths("POST") == ["events", "events"]


@pytest.mark.slow
async def test_a_deleted_event_is_not_made_again(ada: User, own: AssistantServices) -> None:
    effect = fresh()
    made = await own.calendar.create(NewEvent("Board", at(15), at(16)), effect)
    assert await own.calendar.delete(made.id)
    with pytest.raises(AssistantUnsureError):
        await own.calendar.create(NewEvent("Board", at(15), at(16)), effect)
    assert ada.events == {}


async def test_two_like_events_are_two(ada: User, own: AssistantServices) -> None:
    for _ in range(2):
        await own.calendar.create(NewEvent("Board", at(15), at(16)), fresh())
    assert len(ada.events) == 2


async def test_where_no_answer_comes_at_all_nobody_says_that_nothing_was_changed(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    graph.lose_next(times=10)
    with pytest.raises(AssistantUnsureError) as caught:
        await own.calendar.create(NewEvent("Board", at(15), at(16)), fresh())
    assert "Nothing was changed" not in caught.value.user_message
    assert len(ada.events) == 1


async def test_an_event_is_moved_and_keeps_its_length(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.event("Board", at(15), at(16) + HOUR / 2)
    moved = await own.calendar.move(found, start=at(9, 27))
    assert (moved.start, moved.end) == (at(9, 27), at(10, 27) + HOUR / 2)
    change = graph.asked[-1]
    assert change.method == "PATCH"
    assert change.headers["if-match"].startswith('W/"change+')
    assert set(change.body) == {"start", "end"}


async def test_a_whole_day_is_moved_to_another(ada: User, own: AssistantServices) -> None:
    found = ada.whole_day("leave", date(2026, 11, 24), days=2)
    moved = await own.calendar.move(found, start=at(14, 30))
    assert moved.is_all_day
    assert (moved.start, moved.end - moved.start) == (at(0, 30), timedelta(days=2))


async def test_a_change_that_came_between_is_not_overwritten(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.event("Board", at(15), at(16))
    # Somebody makes it longer between our look and our change: it is longer where it goes, too.
    graph.before(2, lambda: ada.touch(ada.events, found, end=at(18).astimezone(UTC)))
    assert (await own.calendar.move(found, start=at(9, 27))).end == at(12, 27)


async def test_an_event_that_changes_all_the_time_is_left_alone(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.event("Board", at(15), at(16))
    for _ in range(3):
        graph.pass_next()
        graph.fail_next(412, code="ErrorIrresolvableConflict")
    with pytest.raises(AssistantError, match="meanwhile"):
        await own.calendar.move(found, start=at(9, 27))
    assert ada.events[found]["start"] == at(15)


async def test_a_move_whose_answer_is_lost_is_seen_to_have_happened(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.event("Board", at(15), at(16))
    graph.pass_next()
    graph.lose_next()
    assert (await own.calendar.move(found, start=at(9, 27))).start == at(9, 27)
    assert len([one for one in graph.asked if one.method == "PATCH"]) == 2


async def test_an_occurrence_moves_alone_and_not_past_its_neighbours(
    ada: User, own: AssistantServices
) -> None:
    weekly = [ada.event("Board", at(15, day), at(16, day), series="weekly") for day in (10, 17, 24)]
    moved = await own.calendar.move(weekly[1], start=at(10, 19))
    assert moved.start == at(10, 19)
    assert ada.events[weekly[2]]["start"] == at(15, 24)
    with pytest.raises(AssistantError, match="series"):
        await own.calendar.move(weekly[1], start=at(10, 25))


async def test_a_cancellation_whose_answer_is_lost_counts_as_done(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.event("Board", at(15), at(16))
    graph.pass_next()
    graph.lose_next()
    assert await own.calendar.delete(found)
    assert ada.events == {}


async def test_an_id_never_leaves_its_place_in_the_address(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    for wild in ("../../users/ben", "a?$select=body", "a/attachments", "a#b"):
        assert await own.calendar.get(wild) is None
    assert all(path.count("/") == 1 for path in graph.paths())
