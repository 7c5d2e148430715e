"""One statement is withdrawn after a yes; the conversation is not cleared for it."""

import pytest

from data_models.chat_context import ChatContext
from data_models.turn_events import AgentMessageFinished
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, Heard, World, heard
from tests.tables import with_cases


@pytest.fixture
async def world(store: MemoryBlobStore) -> World:
    world = World(sessions=store, clock=FixedClock())
    for text in (
        "start a tumor board for patient_4",
        "She is allergic to penicillin.",
        "Please remember that her daughter has power of attorney",
    ):
        await said(world, text)
    return world


async def said(world: World, text: str) -> Heard:
    ended = await heard(await world.scheduler.submit(world.message(text)))
    await world.scheduler.idle()
    return ended


def statuses(store: MemoryBlobStore) -> dict[str, str]:
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    points = ChatContext.model_validate_json(data).memory.key_points
    return {one.text: one.status for one in points}


def last_words(ended: Heard) -> str:
    return [e.message.text for e in ended.events if isinstance(e, AgentMessageFinished)][-1]


async def test_a_statement_is_forgotten_after_a_yes_and_nothing_is_cleared(
    world: World, store: MemoryBlobStore
) -> None:
    asked = await said(world, "forget the allergy to penicillin")
    assert "“Allergy: penicillin”" in last_words(asked)
    assert statuses(store)["Allergy: penicillin"] == "active", "not before the yes"
    await said(world, "yes")
    assert statuses(store) == {
        "Allergy: penicillin": "retired",
        "Noted: her daughter has power of attorney": "active",
    }


async def test_a_no_keeps_the_statement(world: World, store: MemoryBlobStore) -> None:
    await said(world, "forget that her daughter has power of attorney")
    assert last_words(await said(world, "no")) == "Nothing was changed."
    assert statuses(store)["Noted: her daughter has power of attorney"] == "active"


async def test_what_is_not_held_is_said_to_be_so(world: World, store: MemoryBlobStore) -> None:
    answer = last_words(await said(world, "forget the allergy to latex"))
    assert "no statement" in answer
    assert set(statuses(store).values()) == {"active"}


async def test_a_correction_without_a_verb_replaces_what_is_held(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "She takes metformin 500 mg daily")
    await said(world, "no, metformin 1000 mg")
    held = [text for text, status in statuses(store).items() if status == "active"]
    assert "Takes: metformin 1000 mg" in held
    assert "Takes: metformin 500 mg daily" not in held
    await said(world, "no, ramipril 5 mg")
    assert not any("ramipril" in text for text in statuses(store))


async def test_what_users_said_is_listed_with_its_quotes(world: World) -> None:
    told = last_words(await said(world, "What do you know about her?"))
    assert "- Allergy: penicillin (" in told
    assert "“She is allergic to penicillin.”" in told


@with_cases("asked", "heading")
async def test_what_is_held_is_listed_in_the_language_of_who_asks(
    world: World, asked: str, heading: str
) -> None:
    told = last_words(await said(world, asked))
    assert told.startswith(heading)
    assert "“She is allergic to penicillin.”" in told


async def test_a_question_about_one_thing_is_none_for_all_that_is_held(world: World) -> None:
    told = last_words(await said(world, "what do you know about her potassium?"))
    assert "Said of this patient" not in told


async def test_who_drops_nothing_learns_how_to_take_back_what_is_held(world: World) -> None:
    await said(world, "What do you know about her?")
    assert "is still held; say “forget”" in last_words(await said(world, "forget it"))


async def test_a_yes_to_nothing_and_a_stop_of_nothing_say_so(world: World) -> None:
    await said(world, "What do you know about her?")
    assert "Nothing waits" in last_words(await said(world, "yes proceed"))
    assert last_words(await said(world, "stop")) == "Nothing is running."


@pytest.mark.parametrize("asked", ["what did I tell you about her", "Was habe ich gesagt?"])
async def test_what_was_told_in_passing_is_listed_beside_what_is_held(
    world: World, asked: str
) -> None:
    await said(world, "Her husband says she drinks half a bottle of whisky a day")
    told = last_words(await said(world, asked))
    assert "“Her husband says she drinks half a bottle of whisky a day”" in told
    assert told.count("She is allergic to penicillin") == 1


@pytest.mark.parametrize(
    "put_right",
    ["wrong, she is full code", "I was wrong, she is full code", "no, she is full code"],
)
async def test_a_code_status_that_was_wrong_is_not_held_beside_the_right_one(
    world: World, store: MemoryBlobStore, put_right: str
) -> None:
    await said(world, "she is DNR")
    await said(world, put_right)
    held = [text for text, status in statuses(store).items() if status == "active"]
    assert [one for one in held if one.startswith("Code status")] == ["Code status: full code"]
