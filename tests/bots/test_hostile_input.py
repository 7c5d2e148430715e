"""Whatever a caller posts, the bot answers, keeps going and tells the log nothing."""

import json
import random
from typing import Any

import pytest

from data_models.errors import StoreUnavailableError
from tests.bots.conftest import Bot
from tests.fakes_connector import FakeConnector

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, "", "x", "\x00", "\u202e", "😀" * 50, "x" * 5_000, [],
    [None], [[]], {}, {"id": None}, {"id": "a"}, {"id": {"id": {}}}, [{"type": "mention"}],
    [{"mentioned": 5}],
    [{"type": "mention", "mentioned": {"id": "bot-1"}, "text": "<at>" * 2_000}],
    {"action": {"data": {"target_id": "q", "answer": "yes"}}}, {"target_id": "q", "answer": "no"},
    {"tenant": {"id": 5}}, {"tenant": []}, "expectReplies", "adaptiveCard/action", "<at>" * 1_000,
)  # fmt: skip
KINDS = ("message", "invoke", "conversationUpdate", "typing", "event", "\x00")
FIELDS = (
    "id", "channelId", "conversation", "from", "recipient", "text", "value", "name", "entities",
    "membersAdded", "channelData", "deliveryMode", "locale", "localTimezone", "serviceUrl",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
async def test_no_activity_makes_the_server_fail(
    seed: int, bot: Bot, channel: FakeConnector
) -> None:
    chosen = random.Random(seed)
    for number in range(60):
        activity = channel.activity(
            type=chosen.choice(KINDS), text="hello", conversation=f"{seed}-{number}"
        )
        for name in chosen.sample(FIELDS, chosen.randint(1, 4)):
            activity[name] = chosen.choice(VALUES)
        body = json.dumps(activity).encode()
        posted = await channel.post(bot.url, body)
        assert posted.status < 500 or posted.status == 501, body[:500]
    assert (await channel.say(bot.url, "still there?", conversation="after")).status == 202
    await channel.until_said("still there?", conversation="after")
    channel.faults.clear()


@pytest.mark.slow
async def test_logs_hold_neither_what_was_said_nor_tokens(
    bot: Bot, channel: FakeConnector, capfd: pytest.CaptureFixture[str]
) -> None:
    token = {"Authorization": "Bearer CANARY-token"}
    spoken = channel.activity(text="CANARY-text", user={"id": "CANARY-user", "name": "CANARY-name"})
    channel.fail_next(502, times=1)
    channel.fail_next(403, times=1)
    await channel.post(bot.url, spoken, headers=token)
    await channel.until_quiet(seconds=1.0)
    await channel.post(bot.url, {**spoken, "text": ["CANARY-shape"]}, headers=token)
    await channel.post(bot.url, b'{"type": "CANARY', headers=token)
    bot.scheduler.refusal = StoreUnavailableError("the store is down")
    await channel.ask(bot.url, "CANARY-unstored", until="storage")
    captured = capfd.readouterr()
    assert "bot_reply_kept" in captured.out + captured.err
    assert "CANARY" not in captured.out + captured.err
