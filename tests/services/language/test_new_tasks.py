"""What a task is and when it is due, as people say both in one sentence."""

from services.language.tool_requests import OF_OWN_THINGS
from tests.tables import with_cases

(ADD,) = [one for one in OF_OWN_THINGS["task"] if one.tool == "add_task"]


@with_cases("text", "title", "due")
def test_only_what_tells_a_time_is_not_in_the_task(text: str, title: str, due: str | None) -> None:
    given = ADD.given(text)
    assert given is not None
    assert (given["title"], given.get("due")) == (title, due)


def test_what_only_points_is_no_task() -> None:
    assert ADD.given("put it in my tasks") is None
