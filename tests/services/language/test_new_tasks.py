"""What a task is and when it is due, as people say both in one sentence."""

import pytest

from services.language.tool_requests import OF_OWN_THINGS

(ADD,) = [one for one in OF_OWN_THINGS["task"] if one.tool == "add_task"]


@pytest.mark.parametrize(
    ("text", "title", "due"),
    [
        ("remind me to call his wife tomorrow at 10", "call his wife", "tomorrow at 10"),
        ("remind me tomorrow at 10 to call his wife", "call his wife", "tomorrow at 10"),
        ("create a task: order PET for Bosco by monday", "order PET for Bosco", "monday"),
        ("create a task: order PET for Bosco", "order PET for Bosco", None),
        ("new task: call the lab by friday", "call the lab", "friday"),
        ("new task: call the lab", "call the lab", None),
        ("add a task: check K in 2 hours", "check K", "in 2 hours"),
        ("put check CT on my tasks for 3 December", "check CT", "3 December"),
        ("neue Aufgabe: Labor von Bosco prüfen bis Montag", "Labor von Bosco prüfen", "Montag"),
        ("neue Aufgabe: Konsil für Jacobi bis Freitag", "Konsil für Jacobi", "Freitag"),
        ("remind me to review the labs of monday with the team",
         "review the labs of monday with the team", None),
    ],
)  # fmt: skip
def test_only_what_tells_a_time_is_no_part_of_the_task(
    text: str, title: str, due: str | None
) -> None:
    given = ADD.given(text)
    assert given is not None
    assert (given["title"], given.get("due")) == (title, due)
