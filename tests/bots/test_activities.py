"""What activities become: malformed ones, mentions, agents' own bots, welcomes, other types."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.reference import parse_activity
from data_models.errors import BadFrameError
from tests.bots.conftest import Bot
from tests.bots.directory import TENANT, USER
from tests.fakes_connector import BOT, FakeConnector
from tests.tables import with_cases

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = (
    "type", "id", "channelId", "serviceUrl", "conversation", "from", "recipient", "text", "value",
    "entities", "membersAdded", "channelData", "deliveryMode", "localTimezone", "name",
)  # fmt: skip


# -- malformed ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b"{}",
        b'{"type": null}',
        b'{"type": ""}',
        b'{"type": 5}',
        b'{"type": NaN}',
        b'{"type": "message", "text": "\\ud800"}',
        b'{"type":"message","text":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    ],
)
async def test_a_malformed_activity_is_refused(
    body: bytes, bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.post(bot.url, body)
    assert posted.status == 400
    assert posted.body["code"] == "bad_frame"


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [
        {"id": 5},
        {"id": ""},
        {"id": "x" * 5_000},
        {"text": {"a": 1}},
        {"from": []},
        {"from": {"name": "nobody"}},
        {"from": None},
        {"recipient": "bot"},
        {"entities": "none"},
        {"entities": [5]},
        {"attachments": ["x"]},
        {"serviceUrl": 5},
        {"channelId": ["emulator"]},
        {"deliveryMode": 1},
    ],
)
async def test_an_activity_with_a_field_of_another_shape_is_refused(
    fields: dict[str, Any], bot: Bot, channel: FakeConnector
) -> None:
    activity = {**channel.activity(text="hello"), **fields}
    posted = await channel.post(bot.url, activity)
    assert posted.status == 400
    assert bot.scheduler.messages == []


@pytest.mark.parametrize("absent", ["id", "from", "conversation"])
async def test_a_message_without_what_a_reply_needs_is_refused(
    absent: str, bot: Bot, channel: FakeConnector
) -> None:
    activity = channel.activity(text="hello")
    del activity[absent]
    assert (await channel.post(bot.url, activity)).status == 400
    assert bot.scheduler.messages == []


async def test_a_body_over_the_limit_is_refused(bot: Bot, channel: FakeConnector) -> None:
    posted = await channel.post(bot.url, channel.activity(text="x" * 300_000))
    assert posted.status == 413


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_whatever_comes_in_is_an_activity_or_refused(fields: dict[str, Any]) -> None:
    try:
        activity = parse_activity(json.dumps({"type": "message", **fields}).encode())
    except BadFrameError:
        return
    assert activity.type
    assert activity.tenant is None or isinstance(activity.tenant, str)


# -- mentions and agents --------------------------------------------------------------------------


def mention(account_id: str, name: str) -> dict[str, Any]:
    return {
        "type": "mention",
        "mentioned": {"id": account_id, "name": name},
        "text": f"<at>{name}</at>",
    }


@pytest.mark.slow
@with_cases("text", "understood")
async def test_the_bots_own_mention_is_taken_out(
    text: str, understood: str, bot: Bot, channel: FakeConnector
) -> None:
    entities = [mention(BOT["id"], "Rounds"), {"type": "clientInfo", "country": "DE"}]
    await channel.say(bot.url, text, channelId="msteams", entities=entities)
    assert bot.scheduler.messages[0].text == understood
    assert bot.scheduler.messages[0].mentions == ()


async def test_a_mention_of_an_agent_addresses_it(bot: Bot, channel: FakeConnector) -> None:
    await channel.say(bot.url, "<at>Rounds</at> ask <at>radiology</at>", entities=[
        mention(BOT["id"], "Rounds"), mention("bot-2", "radiology")])  # fmt: skip
    (message,) = bot.scheduler.messages
    assert message.mentions == ("Radiology",)
    assert message.text == "ask @Radiology"
    assert message.addressed_agent is None


async def test_an_agents_own_bot_addresses_it(bot: Bot, channel: FakeConnector) -> None:
    posted = await channel.say(bot.url, "<at>Radiology</at> hi", path="/api/radiology/messages")
    assert posted.status == 202
    (message,) = bot.scheduler.messages
    assert (message.addressed_agent, message.text, message.mentions) == ("Radiology", "hi", ())


async def test_the_facilitators_own_bot_is_the_usual_one(bot: Bot, channel: FakeConnector) -> None:
    await channel.say(bot.url, "hi", path="/api/Orchestrator/messages")
    assert bot.scheduler.messages[0].addressed_agent is None


async def test_a_bot_of_nobody_in_the_team_is_not_there(bot: Bot, channel: FakeConnector) -> None:
    posted = await channel.say(bot.url, "hi", path="/api/Astrology/messages")
    assert posted.status == 404
    assert bot.scheduler.messages == []


async def test_the_users_language_and_time_zone_are_passed_on_if_they_can_be_ones(
    bot: Bot, channel: FakeConnector
) -> None:
    await channel.say(bot.url, "one", localTimezone="Europe/Berlin", locale="de-DE")
    await channel.say(bot.url, "two", localTimezone="<script>", conversation="other")
    assert [one.time_zone for one in bot.scheduler.messages] == ["Europe/Berlin", None]
    assert [one.language for one in bot.scheduler.messages] == ["de", ""]


async def test_a_user_of_teams_is_the_directorys_and_not_who_it_says(
    bot: Bot, channel: FakeConnector
) -> None:
    sender = {"id": "29:1", "name": "Admin", "aadObjectId": USER.upper()}
    await channel.say(
        bot.url, "hi", channelId="msteams", channelData={"tenant": {"id": TENANT}}, user=sender
    )
    (message,) = bot.scheduler.messages
    assert message.sender.principal_id == f"entra:{TENANT}:{USER}"
    assert message.sender.display_name == "Admin"
    assert message.sender.tenant_id == TENANT


async def test_an_object_id_from_another_channel_than_teams_is_not_believed(
    bot: Bot, channel: FakeConnector
) -> None:
    sender = {"id": "29:1", "aadObjectId": USER}
    await channel.say(bot.url, "hi", channelData={"tenant": {"id": TENANT}}, user=sender)
    (message,) = bot.scheduler.messages
    assert (message.sender.principal_id, message.sender.tenant_id) == ("bot:emulator:29:1", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "conversation", ["19:abc@thread.tacv2;messageid=1", "a/b", "..", "😀" * 500]
)
async def test_replies_find_conversations_whatever_they_are_called(
    conversation: str, bot: Bot, channel: FakeConnector
) -> None:
    await channel.ask(bot.url, "hello", until="You said: hello", conversation=conversation)


async def test_group_chats_are_answered_like_others(bot: Bot, channel: FakeConnector) -> None:
    channel.groups.add("group-1")
    await channel.ask(bot.url, "hello", until="You said: hello", conversation="group-1")


# -- other types ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_whoever_joins_is_welcomed_once_by_examples(bot: Bot, channel: FakeConnector) -> None:
    for added in ([BOT], [{"id": "user-1"}], [{"id": "user-1"}]):
        activity = channel.activity(type="conversationUpdate", membersAdded=added)
        assert (await channel.post(bot.url, activity)).status == 202
    await channel.until(lambda one: bool(one.get("attachments")))
    assert len(channel.buttons()) == 3
    await channel.until_quiet()
    assert len(channel.messages()) == 1
    assert bot.scheduler.messages == []


@pytest.mark.slow
async def test_teams_is_welcomed_where_a_bot_is_installed(bot: Bot, channel: FakeConnector) -> None:
    for added in ([{"id": "29:2"}], [BOT], [{"id": "29:3"}]):
        activity = channel.activity(
            type="conversationUpdate", membersAdded=added, channelId="msteams"
        )
        await channel.post(bot.url, activity)
    await channel.until_quiet()
    assert len(channel.cards()) == 1


@pytest.mark.slow
@with_cases("kind")
async def test_other_types_are_accepted_and_ignored(
    kind: str, bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.post(bot.url, channel.activity(type=kind, text="start for patient_4"))
    assert posted.status == 202
    assert await channel.until_quiet(seconds=0.05) == []
    assert bot.scheduler.messages == []


async def test_the_bot_does_not_answer_itself(bot: Bot, channel: FakeConnector) -> None:
    for sender in (BOT, {"id": "another-bot", "role": "bot"}):
        posted = await channel.say(bot.url, "hello", user=sender)
        assert posted.status == 202
    assert bot.scheduler.messages == []
