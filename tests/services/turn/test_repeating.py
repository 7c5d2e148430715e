"""A question is offered to be asked again only where that does nothing but answer."""

import pytest

from data_models.conversations.turn_events import RunFinished
from services.group_chat_port import GroupChatRequest
from services.views.conversation_reader import OwnedChat
from tests.services.world import CHAT, Heard, World


async def stored(world: World) -> bool:
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "patient_4"))
    return page.turns[-1].is_repeatable


def told(heard: Heard) -> bool:
    assert isinstance(heard.end, RunFinished)
    return heard.end.is_repeatable


@pytest.fixture
async def world() -> World:
    world = World()
    await world.say("history of patient_4")
    return world


async def test_what_the_team_answered_may_be_asked_again(world: World) -> None:
    heard = await world.say("is she on warfarin?")
    assert told(heard)
    assert await stored(world)


async def test_what_began_a_change_outside_may_not(world: World) -> None:
    async def book(request: GroupChatRequest) -> None:
        assert request.effects is not None
        await request.effects.begin("add_task", {"title": "Check INR"}, message=0)

    world.team.first = book
    heard = await world.say("remind me to check the INR")
    assert not told(heard)
    assert not await stored(world)


@pytest.mark.parametrize("text", ["clear patient context", "stop", "switch to patient_4"])
async def test_what_the_server_answers_itself_may_not(world: World, text: str) -> None:
    assert not told(await world.say(text))


async def test_talk_about_nobody_may_not() -> None:
    assert not told(await World().say("hello"))
