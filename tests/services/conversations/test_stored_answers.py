"""A message that was answered is never answered anew; it is told the stored answer."""

import pytest

from data_models.conversations import turn_events
from services.group_chat_port import GroupChatRequest
from tests.fakes_store import MemoryBlobStore
from tests.services.world import ENDLESS, Heard, World


@pytest.fixture
def world() -> World:
    return World(sessions=MemoryBlobStore())


def restarted(world: World) -> World:
    return World(sessions=world.sessions, users=world.users)


async def told(world: World, text: str, message_id: str) -> Heard:
    return await world.tell(text, message_id=message_id)


async def repeated(world: World, text: str, message_id: str) -> Heard:
    again = await told(world, text, message_id)
    assert again.run.replayed
    return again


def notices(heard: Heard) -> list[turn_events.Notice]:
    return [event for event in heard.events if isinstance(event, turn_events.Notice)]


@pytest.mark.slow
async def test_at_once_after_a_restart_and_after_a_switch(world: World) -> None:
    first = await told(world, "start a tumor board for patient_4", "m1")
    assert (await repeated(world, "whatever it says now", "m1")).texts == first.texts
    world = restarted(world)
    assert (await repeated(world, "start a tumor board for patient_4", "m1")).texts == first.texts
    await told(world, "switch to patient_15", "m2")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert (again.texts, again.run.run_id) == (first.texts, first.run.run_id)
    assert world.team.requests == []


async def test_under_another_patient_it_says_first_whom_it_is_about(world: World) -> None:
    await told(world, "start a tumor board for patient_4", "m1")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert notices(again) == []
    await told(world, "switch to patient_15", "m2")
    again = await repeated(restarted(world), "start a tumor board for patient_4", "m1")
    (notice,) = notices(again)
    assert notice.text == (
        "This repeats an earlier answer about `patient_4`; `patient_15` is active now."
    )
    begun = next(
        event for event in again.events if isinstance(event, turn_events.AgentMessageStarted)
    )
    assert again.events.index(notice) < again.events.index(begun)


async def test_after_a_clear_it_says_so_and_shows_nothing_of_the_archive(world: World) -> None:
    await told(world, "start a tumor board for patient_4", "m1")
    await told(world, "clear", "m2")
    again = await repeated(world, "start a tumor board for patient_4", "m1")
    assert "cleared since" in again.texts[0]
    assert "patient_4" not in again.texts[0]
    assert isinstance((await repeated(world, "clear", "m2")).end, turn_events.RunFinished)


async def test_a_turn_that_failed_is_told_as_failed(world: World) -> None:
    def fail(_: GroupChatRequest) -> list[str]:
        raise ZeroDivisionError("a patient's words")

    world.team.say = fail
    first = await told(world, "hello", "m1")
    assert isinstance(first.end, turn_events.RunFailed)
    again = await repeated(restarted(world), "hello", "m1")
    assert again.end == first.end
    assert "patient's words" not in str(again.events)


async def test_a_turn_that_was_cut_off_is_told_as_far_as_it_was_shown(world: World) -> None:
    world.team.say = lambda _: ["First.", f"Second{ENDLESS}"]
    world.team.gate.set()
    await world.submit("hello", message_id="m1")
    await world.scheduler.drain(seconds=0.05)
    again = await repeated(restarted(world), "hello", "m1")
    assert again.texts == ["First.", f"Second{ENDLESS}"]
    assert isinstance(again.end, turn_events.RunFailed)
    assert again.end.code == "interrupted"


@pytest.mark.slow
async def test_a_long_answer_is_repeated_whole_after_it_left_the_document(world: World) -> None:
    world.team.say = lambda request: [f"{request.text}: " + "long " * 3_000]
    firsts = [await told(world, f"question {number}", f"m{number}") for number in range(8)]
    world = restarted(world)
    for number, first in enumerate(firsts):
        assert (await repeated(world, f"question {number}", f"m{number}")).texts == first.texts


async def test_the_same_id_of_another_sender_is_another_message(world: World) -> None:
    await told(world, "hello", "m1")
    other = world.message("hello from bob", message_id="m1")
    sender = other.sender.model_copy(update={"principal_id": "bob"})
    run = await world.scheduler.submit(other.model_copy(update={"sender": sender}))
    await run.wait()
    assert not run.replayed


@pytest.mark.slow
async def test_three_hundred_messages_later_the_first_is_still_known(world: World) -> None:
    for number in range(300):
        await told(world, f"message {number}", f"m{number}")
    world = restarted(world)
    assert (await repeated(world, "again", "m0")).texts == ["Heard: message 0"]
    assert (await repeated(world, "again", "m299")).texts == ["Heard: message 299"]
