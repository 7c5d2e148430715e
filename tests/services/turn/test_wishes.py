"""What is said before it is clear for whom is done once that is answered, and for nobody else."""

import pytest

from services.turn.wishes import is_wish
from tests.services.world import World

WISH = "book a CT for tomorrow"


@pytest.fixture
def world() -> World:
    return World()


async def asked_of_team(world: World, *texts: str) -> list[tuple[str | None, str]]:
    """Say `texts`; return for whom the team was asked what."""
    for text in texts:
        await world.say(text)
        await world.desk.idle()
    return [(one.patient_id, one.text) for one in world.team.requests]


@pytest.mark.parametrize("answer", ["patient_4", "switch to patient_4"])
async def test_a_wish_that_came_before_any_patient_is_done_for_the_one_who_is_named(
    world: World, answer: str
) -> None:
    asked = await asked_of_team(world, WISH, answer)
    assert asked == [(None, WISH), ("patient_4", WISH)]
    kept = world.team.requests[-1].history
    assert [turn.user_message for turn in kept] == []


async def test_the_history_shows_the_answer_with_the_wish_that_it_completes(world: World) -> None:
    await asked_of_team(world, WISH, "patient_4", "and the stage?")
    assert world.team.requests[-1].history[0].user_message == f"patient_4: {WISH}"


async def test_a_wish_about_a_number_is_done_after_the_yes(world: World) -> None:
    await asked_of_team(world, "patient_4")
    asked = await asked_of_team(world, "show the CT of patient 15", "yes")
    assert asked == [("patient_15", "show the CT of patient 15")]


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ("compare the status of patient_4 and patient_15", "patient_15"),
        ("show the CT of patient 4 and patient 7", "patient_4"),
    ],
)
async def test_a_wish_that_names_somebody_else_too_goes_to_nobody(
    world: World, wish: str, answer: str
) -> None:
    await asked_of_team(world, "patient_4", "patient_15")
    before = len(world.team.requests)
    asked = await asked_of_team(world, wish, answer)
    assert [text for _, text in asked[before:]] == []


async def test_another_message_in_between_takes_the_wish_back(world: World) -> None:
    asked = await asked_of_team(world, WISH, "hello there", "patient_4")
    assert [patient for patient, _ in asked] == [None, None]


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_plain_yes_or_no_is_for_the_agent_that_asked(world: World, word: str) -> None:
    asked = await asked_of_team(world, WISH, word)
    assert asked[-1] == (None, word)


@pytest.mark.parametrize(
    ("text", "wishes"),
    [(WISH, True), ("what is the current stage?", True), ("hello", False), ("status", False),
     ("what can you do?", False), ("stage " * 500, False)],
)  # fmt: skip
def test_only_what_a_record_holds_is_a_wish(text: str, wishes: bool) -> None:
    assert is_wish(text) is wishes
