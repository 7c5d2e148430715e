import asyncio

import pytest

from data_models.conversations.turn_events import AgentTextDelta, Notice
from data_models.errors import ModelOutputError
from group_chat.drafts.event_stream import EventStream
from services.group_chat_port import GroupChatEvent


def delta(text: str, message_id: str = "m1") -> AgentTextDelta:
    return AgentTextDelta(message_id, text)


async def test_the_first_piece_goes_out_at_once_and_later_ones_are_gathered() -> None:
    stream, go_on = EventStream(), asyncio.Event()
    heard: list[GroupChatEvent] = []

    async def work() -> None:
        for piece in "abcdef":
            stream.put(delta(piece))
            await asyncio.sleep(0)
        await go_on.wait()
        stream.put(delta("g"))

    async for event in stream.events_of(work()):
        heard.append(event)
        if len(heard) == 2:
            go_on.set()
    assert heard == [delta("a"), delta("bcdef"), delta("g")]


async def test_order_is_kept_between_kinds_and_messages() -> None:
    stream = EventStream()
    sent: list[GroupChatEvent] = [
        delta("a"), delta("b"), Notice("limit", "x"), delta("c"), delta("d", "m2"), delta("e", "m2")
    ]  # fmt: skip

    async def work() -> None:
        for event in sent:
            stream.put(event)

    heard = [event async for event in stream.events_of(work())]
    assert heard == sent


@pytest.mark.slow
async def test_long_text_is_not_held_back_to_gather_more() -> None:
    stream = EventStream()

    async def work() -> None:
        for _ in range(4):
            stream.put(delta("x" * 150))
        await asyncio.sleep(0.2)

    heard = [event async for event in stream.events_of(work())]
    assert [len(e.text) for e in heard if isinstance(e, AgentTextDelta)] == [150, 300, 150]


async def test_what_went_wrong_comes_after_what_was_put() -> None:
    stream = EventStream()

    async def work() -> None:
        stream.put(delta("a"))
        raise ModelOutputError("empty")

    events = stream.events_of(work())
    assert await anext(events) == delta("a")
    with pytest.raises(ModelOutputError):
        await anext(events)


async def test_a_reader_that_leaves_cancels_the_work() -> None:
    stream = EventStream()
    ended = asyncio.Event()

    async def work() -> None:
        try:
            stream.put(delta("a"))
            await asyncio.Event().wait()
        finally:
            ended.set()

    events = stream.events_of(work())
    assert await anext(events) == delta("a")
    await events.aclose()
    assert ended.is_set()
