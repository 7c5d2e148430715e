"""One statement is withdrawn after a yes; the conversation is not cleared for it."""

import pytest

from data_models.chat_context import ChatContext
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.turn.talk_lines import Line, held, play
from tests.services.world import CHAT, World
from tests.tables import with_cases


@pytest.fixture
async def world(store: MemoryBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    for text in (
        "start a tumor board for patient_4",
        "She is allergic to penicillin.",
        "Please remember that her daughter has power of attorney",
    ):
        await world.tell(text)
    return world


def statuses(store: MemoryBlobStore) -> dict[str, str]:
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    points = ChatContext.model_validate_json(data).memory.key_points
    return {one.text: one.status for one in points}


async def test_a_statement_is_forgotten_after_a_yes_and_nothing_is_cleared(
    world: World, store: MemoryBlobStore
) -> None:
    asked = await world.tell("forget the allergy to penicillin")
    assert "“Allergy: penicillin”" in asked.texts[-1]
    assert statuses(store)["Allergy: penicillin"] == "active", "not before the yes"
    await world.tell("yes")
    assert statuses(store) == {
        "Allergy: penicillin": "retired",
        "Noted: her daughter has power of attorney": "active",
    }


@pytest.mark.slow
@with_cases("talk")
async def test_one_statement_is_withdrawn_and_no_more(
    world: World, store: MemoryBlobStore, talk: tuple[Line, ...]
) -> None:
    await play(world, talk, store=store)


@pytest.mark.slow
@with_cases("asked", "heading", "quote")
async def test_what_is_held_is_listed_in_the_language_of_who_asks(
    world: World, asked: str, heading: str, quote: str
) -> None:
    told = (await world.tell(asked)).texts[-1]
    assert told.startswith(heading)
    assert quote in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        "what did I tell you about her",
        "Was habe ich gesagt?",
        "was weißt du über sie, was nicht in der Akte steht",
    ],
)
async def test_what_was_told_in_passing_is_listed_beside_it(world: World, asked: str) -> None:
    await world.tell("Her husband says she drinks half a bottle of whisky a day")
    told = (await world.tell(asked)).texts[-1]
    assert "Her husband says she drinks half a bottle of whisky a day" in told
    assert told.count("She is allergic to penicillin") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "put_right",
    ["wrong, she is full code", "I was wrong, she is full code", "no, she is full code"],
)
async def test_a_code_status_that_was_wrong_is_not_held_beside_the_right_one(
    world: World, store: MemoryBlobStore, put_right: str
) -> None:
    await world.tell("she is DNR")
    await world.tell(put_right)
    assert [one for one in held(store) if one.startswith("Code status")] == [
        "Code status: full code"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["forget the potassium", "vergiss das Kalium"])
async def test_what_is_held_may_be_named_otherwise(world: World, text: str) -> None:
    await world.tell("note: K 4.9 on the phone")

    asked = await world.tell(text)

    assert "K 4.9 on the phone" in asked.texts[0]
