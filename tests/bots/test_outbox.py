"""Replies in order, each once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bots.config import PerBot, ServiceUrls
from bots.connector import Connector, Outbox, channel_session
from bots.reference import Reference
from bots.rendering.rendering import text_activity
from data_models.clock import SystemClock
from data_models.errors import ChannelClosedError, ChannelRefusedError, ChannelUnavailableError
from tests.fakes_connector import BOT, USER, FakeConnector
from tests.waiting import until


class FixedToken:
    renewed = 0

    async def token(self) -> str:
        return f"the-token-{self.renewed + 1}" if self.renewed else "the-token"

    def note_refusal(self, token: str) -> bool:
        self.renewed += 1
        return True


@pytest.fixture
def tokens() -> FixedToken:
    return FixedToken()


@pytest.fixture
async def channel() -> AsyncIterator[FakeConnector]:
    async with FakeConnector(messages_per_second=1_000) as connector:
        yield connector


@pytest.fixture
async def connector(tokens: FixedToken) -> AsyncIterator[Connector]:
    async with channel_session(loopback=True) as session:
        yield Connector(
            session=session,
            tokens=PerBot(tokens),
            service_urls=ServiceUrls(hosts=(), loopback=True),
            clock=SystemClock(),
        )


@pytest.fixture
def outbox(connector: Connector) -> Outbox:
    return Outbox(connector=connector)


def reference(channel: FakeConnector, conversation: str = "conversation-1") -> Reference:
    return {
        "channelId": "emulator",
        "serviceUrl": channel.service_url,
        "conversation": {"id": conversation},
        "bot": BOT,
        "user": USER,
    }


async def test_replies_carry_the_bots_token(outbox: Outbox, channel: FakeConnector) -> None:
    await outbox.send(reference(channel), text_activity("one"))
    assert channel.tokens == ["Bearer the-token"]


@pytest.mark.slow
async def test_replies_arrive_in_order_though_the_first_must_wait(
    outbox: Outbox, channel: FakeConnector
) -> None:
    channel.fail_next(503, times=2)
    sends = [outbox.send(reference(channel), text_activity(str(n))) for n in range(5)]
    assert len(set(await asyncio.gather(*sends))) == 5
    assert channel.texts() == ["0", "1", "2", "3", "4"]


async def test_a_conversation_that_waits_holds_no_other_up(
    outbox: Outbox, channel: FakeConnector
) -> None:
    channel.fail_next(429, Retry_After="25")
    waiting = asyncio.create_task(outbox.send(reference(channel, "busy"), text_activity("late")))
    await until(lambda: channel.refused)
    await outbox.send(reference(channel, "free"), text_activity("soon"))
    assert not waiting.done()
    waiting.cancel()


async def test_a_refusal_is_told_and_not_tried_again(
    outbox: Outbox, channel: FakeConnector
) -> None:
    channel.fail_next(403)
    with pytest.raises(ChannelClosedError):
        await outbox.send(reference(channel), text_activity("one"))
    assert channel.refused == 1


async def test_a_token_that_the_channel_refuses_is_replaced_once(
    channel: FakeConnector, tokens: FixedToken, outbox: Outbox
) -> None:
    channel.fail_next(401)
    await outbox.send(reference(channel), text_activity("one"))
    assert channel.tokens == ["Bearer the-token", "Bearer the-token-2"]
    assert channel.texts() == ["one"]


async def test_what_is_too_large_goes_in_parts_with_nothing_missing(
    outbox: Outbox, channel: FakeConnector
) -> None:
    words = [f"word{number}" for number in range(900)]
    channel.fail_next(413, times=2)
    await outbox.send(reference(channel), {**text_activity(" ".join(words)), "summary": "all"})
    parts = channel.messages()
    assert len(parts) > 2
    assert " ".join(part["text"].strip() for part in parts).split() == words
    assert [part.get("summary") for part in parts[-2:]] == [None, "all"]


@pytest.mark.parametrize("status", [400, 405, 413])
async def test_what_the_channel_never_takes_is_named_in_a_line(
    status: int, outbox: Outbox, channel: FakeConnector
) -> None:
    channel.fail_next(status)
    await outbox.send(reference(channel), text_activity("one"))
    await outbox.send(reference(channel), text_activity("two"))
    assert ["missing here" in text for text in channel.texts()] == [True, False]


@pytest.mark.slow
async def test_a_channel_that_is_slow_to_accept_gets_one_message(
    connector: Connector, channel: FakeConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel.accept_seconds = 2.0
    slow = Connector(
        session=connector.session,
        tokens=PerBot(FixedToken()),
        service_urls=ServiceUrls(hosts=(), loopback=True),
        clock=SystemClock(),
        send_seconds=1.0,
    )
    with pytest.raises(ChannelUnavailableError) as caught:
        await slow.send(reference(channel), text_activity("one"))
    assert caught.value.is_maybe_taken
    await channel.until_said("one")
    assert await channel.until_quiet(seconds=0.8) == channel.activities()
    assert channel.texts() == ["one"]


async def test_a_wait_that_is_too_long_is_not_waited(
    outbox: Outbox, channel: FakeConnector
) -> None:
    channel.fail_next(429, Retry_After="3600")
    with pytest.raises(ChannelUnavailableError):
        await outbox.send(reference(channel), text_activity("one"))


async def test_a_message_is_changed_in_its_place(
    outbox: Outbox, connector: Connector, channel: FakeConnector
) -> None:
    place = reference(channel)
    sent_id = await outbox.send(place, text_activity("one"))
    await outbox.send(place, text_activity("two"))
    await connector.update(place, sent_id, text_activity("one, mended"))
    assert channel.texts() == ["one, mended", "two"]


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_redirects_are_not_followed(
    status: int, connector: Connector, channel: FakeConnector
) -> None:
    channel.fail_next(status, Location="http://127.0.0.1:9/")
    with pytest.raises(ChannelRefusedError):
        await connector.send(reference(channel), text_activity("one"))
