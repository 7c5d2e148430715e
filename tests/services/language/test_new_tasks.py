"""What a task is and when it is due, as people say both in one sentence."""

import pytest

from services.language.requests.tool_requests import OF_OWN_THINGS, as_move
from tests.tables import with_cases

(ADD,) = [one for one in OF_OWN_THINGS["task"] if one.tool == "add_task"]

(CREATE,) = [one for one in OF_OWN_THINGS["calendar_event"] if one.tool == "create_event"]


@with_cases("text", "title", "due")
def test_only_what_tells_a_time_is_not_in_the_task(text: str, title: str, due: str | None) -> None:
    given = ADD.given(text)
    assert given is not None
    assert (given["title"], given.get("due")) == (title, due)


@pytest.mark.parametrize(
    "text",
    ["put it in my tasks", "remind me tomorrow at 9", "remind me on Monday", "erinnere mich um 9"],
)
def test_what_only_points_or_tells_a_time_is_no_task(text: str) -> None:
    assert ADD.given(text) is None


@with_cases("text", "title", "start")
def test_an_event_is_called_what_stands_behind_its_time(text: str, title: str, start: str) -> None:
    assert CREATE.given(text) == {"title": title, "start": start}


@with_cases("text", "title", "minutes")
def test_how_long_an_event_lasts_is_read_with_its_time(text: str, title: str, minutes: int) -> None:
    given = CREATE.given(text)
    assert given is not None
    assert (given["title"], given["minutes"]) == (title, minutes)


@with_cases("text", "shown", "moved")
def test_a_figure_alone_is_an_hour_where_that_hour_was_told(
    text: str, shown: str, moved: str
) -> None:
    assert as_move(text, shown) == moved


@with_cases("text", "moved")
def test_a_time_behind_a_no_moves_what_was_done(text: str, moved: str) -> None:
    assert as_move(text) == moved


@with_cases("text")
def test_what_is_no_time_alone_moves_nothing(text: str) -> None:
    assert as_move(text) == text


def test_a_contact_is_made_with_the_number_behind_the_contacts() -> None:
    (new,) = [one for one in OF_OWN_THINGS["contact"] if one.tool == "add_contact"]
    given = new.given("add Dr. Meier to my contacts, phone 0151 2345")
    assert given == {"name": "Dr. Meier", "phone": "0151 2345"}
