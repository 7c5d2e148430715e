"""“Remember that …” is held as it was said, or said not to be; “undo” takes the newest back."""

import pytest

from data_models.chat_context import ChatContext
from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName
from tests.fakes import FixedClock, GivenPeople
from tests.fakes_store import MemoryBlobStore
from tests.services.turn.talk_lines import Line, held, play
from tests.services.world import World
from tests.tables import with_cases


@pytest.fixture
async def world(store: MemoryBlobStore, clock: FixedClock) -> World:
    world = World(sessions=store, clock=clock)
    await said(world, "start a tumor board for patient_4")
    return world


async def said(world: World, text: str) -> str:
    assert isinstance(world.clock, FixedClock)
    world.clock.advance(5)
    return (await world.tell(text)).texts[-1]


@pytest.mark.slow
@with_cases("talk")
async def test_what_is_said_is_held_until_it_is_taken_back(
    world: World, store: MemoryBlobStore, talk: tuple[Line, ...]
) -> None:
    await play(world, talk, store=store)


@pytest.mark.slow
@with_cases("message", "noted")
async def test_only_what_is_held_is_said_to_be_held(
    world: World, store: MemoryBlobStore, message: str, noted: str | None
) -> None:
    answer = await said(world, message)
    is_told = "Held as your words" in answer or "Als Ihre Worte behalten" in answer
    assert is_told is (noted is not None)
    assert held(store) == ([noted] if noted else [])


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@with_cases("words")
async def test_what_is_said_not_to_be_so_is_held_no_more(
    world: World, store: MemoryBlobStore, words: str
) -> None:
    await said(world, "she is DNR")
    assert held(store) == ["Code status: DNR"]

    answer = await said(world, words)

    assert held(store) == []
    assert "no longer held" in answer or "nicht mehr" in answer


@pytest.mark.slow
@with_cases("message", "left", "told")
async def test_what_is_taken_back_is_gone_whatever_else_is_said(
    world: World, store: MemoryBlobStore, message: str, left: list[str], told: str
) -> None:
    await said(world, "She is allergic to penicillin.")
    answer = await said(world, message)
    assert held(store) == left
    assert told in answer


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["no, it is 50 mg, not 100", "No, 1000 mg", "50, not 100"])
async def test_a_bare_figure_that_may_be_of_anything_changes_nothing_and_says_so(
    world: World, store: MemoryBlobStore, correction: str
) -> None:
    for text in ("She takes aspirin 100 mg", "Allergies?"):
        await said(world, text)
    answer = await said(world, correction)
    assert answer.startswith("Nothing was changed: I cannot tell what that puts right.")
    assert held(store) == ["Takes: aspirin 100 mg"]
