"""“Remember that …” is held as it was said, or said not to be; “undo” takes the newest back."""

from datetime import timedelta

import pytest

from data_models.chat_context import ChatContext
from data_models.identifiers import PatientId
from data_models.turn_events import AgentMessageFinished
from services.identity.linking import SubjectLinker
from services.identity.person import Person, PersonName
from tests.fakes import FixedClock, GivenPeople
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World, heard
from tests.tables import with_cases


@pytest.fixture
async def world(store: MemoryBlobStore, clock: FixedClock) -> World:
    world = World(sessions=store, clock=clock)
    await said(world, "start a tumor board for patient_4")
    return world


async def said(world: World, text: str) -> str:
    assert isinstance(world.clock, FixedClock)
    world.clock.advance(5)
    ended = await heard(await world.scheduler.submit(world.message(text)))
    await world.scheduler.idle()
    return [e.message.text for e in ended.events if isinstance(e, AgentMessageFinished)][-1]


def held(store: MemoryBlobStore) -> list[str]:
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    points = ChatContext.model_validate_json(data).memory.key_points
    return [one.text for one in points if one.status == "active"]


@with_cases("message", "noted")
async def test_only_what_is_held_is_said_to_be_held(
    world: World, store: MemoryBlobStore, message: str, noted: str | None
) -> None:
    answer = await said(world, message)
    is_told = "Held as your words" in answer or "Als Ihre Worte behalten" in answer
    assert is_told is (noted is not None)
    assert held(store) == ([noted] if noted else [])


async def test_what_is_held_already_is_not_held_twice(world: World, store: MemoryBlobStore) -> None:
    await said(world, "remember that she lives alone")
    assert "already" in await said(world, "please remember that she lives alone")
    assert held(store) == ["Noted: she lives alone"]


async def test_undo_takes_back_what_was_remembered_and_undo_again_brings_it_back(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "remember that she lives alone")
    assert "no longer held: “Noted: she lives alone”" in await said(world, "undo that")
    assert held(store) == []
    assert "held again" in await said(world, "undo")
    assert held(store) == ["Noted: she lives alone"]


async def test_undo_of_a_correction_holds_what_was_said_before(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "her code status is DNR")
    await said(world, "no wait, she is full code")
    assert held(store) == ["Code status: full code"]
    await said(world, "undo")
    assert held(store) == ["Code status: DNR"]
    await said(world, "undo")
    assert held(store) == ["Code status: full code"]


async def test_undo_of_forgetting_holds_all_of_it_again(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "remember that she lives alone")
    await said(world, "She is allergic to latex.")
    before = held(store)
    asked = await said(world, "forget everything you know about her")
    assert all(f"“{text}”" in asked for text in before)
    await said(world, "yes")
    assert held(store) == []
    await said(world, "rückgängig")
    assert sorted(held(store)) == sorted(before)


async def test_undo_after_ten_minutes_takes_nothing_back(
    world: World, store: MemoryBlobStore, clock: FixedClock
) -> None:
    await said(world, "remember that she lives alone")
    clock.advance(timedelta(minutes=11).total_seconds())
    await said(world, "undo")
    assert held(store) == ["Noted: she lives alone"]


async def test_a_correction_says_what_it_takes_the_place_of(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "remember that he refuses blood")
    answer = await said(world, "correction: he refuses plasma only")
    assert "takes the place of “Noted: he refuses blood”" in answer
    assert held(store) == ["Noted: he refuses plasma only"]
    await said(world, "undo")
    assert held(store) == ["Noted: he refuses blood"]


async def test_words_of_one_stem_name_what_is_to_be_forgotten(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "he smokes")
    assert "“Smoking: smokes”" in await said(world, "forget the smoking")


@pytest.mark.parametrize("message", ["remember that she is Ottie", "She is allergic to latex."])
async def test_what_is_said_while_nobody_is_open_is_held_of_nobody(
    store: MemoryBlobStore, clock: FixedClock, message: str
) -> None:
    world = World(sessions=store, clock=clock)
    await said(world, message)
    assert "No patient is active" in await said(world, "what do you know about her?")
    kept = [data for data in store.contents.values() if b"key_points" in data]
    contexts = [ChatContext.model_validate_json(data) for data in kept]
    assert not any(context.memory.key_points for context in contexts)
    await said(world, "start a tumor board for patient_4")
    assert held(store) == []


@pytest.mark.parametrize("words", ["sorry, that was for patient_7", "Nein, das galt Patient_7."])
async def test_what_was_of_another_of_the_conversation_is_held_no_more(
    world: World, store: MemoryBlobStore, words: str
) -> None:
    await said(world, "patient_7")
    await said(world, "patient_4")
    await said(world, "she is DNR")

    answer = await said(world, words)

    assert held(store) == []
    assert "patient_7" in answer


@with_cases("words")
async def test_what_was_of_another_by_name_is_held_no_more(
    store: MemoryBlobStore, clock: FixedClock, words: str
) -> None:
    names = {"patient_4": "Ann Marlowe", "patient_7": "Bo Tarrant"}
    people = (Person(PatientId(n), n, (PersonName("", (), name),)) for n, name in names.items())
    linker = SubjectLinker(directory=GivenPeople(*people), fits=lambda _: False, seconds=30)
    world = World(sessions=store, clock=clock, linker=linker)
    await said(world, "patient_4")
    await said(world, "she is DNR")

    answer = await said(world, words)

    assert held(store) == []
    assert "patient_7" in answer


@pytest.mark.parametrize("words", ["sorry, that was patient_7's fall", "that was John's fall"])
async def test_what_was_told_in_passing_of_another_is_said_to_count_no_more(
    world: World, words: str
) -> None:
    await said(world, "patient_7")
    await said(world, "patient_4")
    await said(world, "the nurse says he had a seizure yesterday")
    told = "“the nurse says he had a seizure yesterday”"
    assert told in await said(world, "what did I tell you about him?")
    await said(world, "the nurse says he had a fall yesterday")

    answer = await said(world, words)

    assert "No longer taken as said of this patient: “the nurse says he had a fall" in answer
    await said(world, "no")
    listed = await said(world, "what did I tell you about him?")
    assert told in listed
    assert "fall" not in listed


@with_cases("words")
async def test_what_is_said_not_to_be_so_is_held_no_more(
    world: World, store: MemoryBlobStore, words: str
) -> None:
    await said(world, "she is DNR")
    assert held(store) == ["Code status: DNR"]

    answer = await said(world, words)

    assert held(store) == []
    assert "no longer held" in answer or "nicht mehr" in answer


async def test_only_what_was_said_just_before_is_taken_back(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "she is DNR")
    await said(world, "what is the stage?")
    await said(world, "that was wrong")

    assert held(store) == ["Code status: DNR"]


async def test_a_denial_behind_its_lead_takes_the_place(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "she is allergic to penicillin")
    await said(world, "no, that was wrong, she is not allergic to penicillin")

    assert held(store) == ["Not allergic to: penicillin"]


async def test_what_is_said_once_more_is_taken_back_too(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "she is DNR")
    await said(world, "what is the stage?")
    await said(world, "she is DNR")
    await said(world, "no, that was wrong")

    assert held(store) == []


@with_cases("message", "left", "told")
async def test_what_is_taken_back_is_gone_whatever_else_is_said(
    world: World, store: MemoryBlobStore, message: str, left: list[str], told: str
) -> None:
    await said(world, "She is allergic to penicillin.")
    answer = await said(world, message)
    assert held(store) == left
    assert told in answer


@pytest.mark.parametrize("correction", ["no, it is 50 mg, not 100", "No, 1000 mg", "50, not 100"])
async def test_a_bare_figure_that_may_be_of_anything_changes_nothing_and_says_so(
    world: World, store: MemoryBlobStore, correction: str
) -> None:
    for text in ("She takes aspirin 100 mg", "Allergies?"):
        await said(world, text)
    answer = await said(world, correction)
    assert answer.startswith("Nothing was changed: I cannot tell what that puts right.")
    assert held(store) == ["Takes: aspirin 100 mg"]


async def test_a_denial_after_all_takes_the_place_of_what_was_said(
    world: World, store: MemoryBlobStore
) -> None:
    await said(world, "She is allergic to latex")
    await said(world, "she is not allergic to latex after all")
    assert held(store) == ["Not allergic to: latex"]
