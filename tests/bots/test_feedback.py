"""Thumbs under an answer: kept with the turn they are about, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bots.conftest import Bot
from tests.bots.scripts import Talk, telling
from tests.fakes_connector import FakeConnector
from tests.tables import with_cases
from tests.waiting import until


async def says_something(talk: Talk) -> None:
    await talk.say("It is a mass.", message_id="m7")


async def answered(bot: Bot, teams: FakeConnector, folder: Path) -> str:
    """Have something answered, and return what Teams calls the answer, once that is stored."""
    bot.scheduler.script = telling(says_something)
    message = await teams.ask(bot.url, "what did the CT show?", until="It is a mass.")
    await until(lambda: list((folder / "chat-users").glob("deliveries/*/sent/*.json")))
    return teams.id_of(message)


def kept(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "chat-sessions").rglob("feedback/*.json"))
    return [json.loads(file.read_text()) for file in files]


async def test_a_thumb_is_kept_with_the_turn_it_is_about(
    bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    sent_id = await answered(bot, teams, tmp_path)
    posted = await teams.rate(bot.url, "dislike", sent_id=sent_id, text="Wrong side.")
    assert (posted.status, posted.body) == (200, {})
    (feedback,) = kept(tmp_path)
    assert feedback["message_id"] == "m7"
    assert feedback["run_id"].startswith("run_")
    assert (feedback["reaction"], feedback["comment"]) == ("dislike", "Wrong side.")
    assert "user-1" not in str(feedback)


async def test_an_opinion_may_change_and_two_people_have_two(
    bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    sent_id = await answered(bot, teams, tmp_path)
    for reaction in ("dislike", "like"):
        await teams.rate(bot.url, reaction, sent_id=sent_id)
    await teams.rate(bot.url, "dislike", sent_id=sent_id, user={"id": "user-2"})
    assert sorted(row["reaction"] for row in kept(tmp_path)) == ["dislike", "like"]


async def test_a_thumb_under_a_forgotten_message_is_kept_by_the_channels_name(
    bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    await answered(bot, teams, tmp_path)
    await teams.rate(bot.url, "like", sent_id="1485983408511")
    (feedback,) = kept(tmp_path)
    assert (feedback["run_id"], feedback["channel_message_id"]) == ("", "1485983408511")


async def test_a_thumb_from_another_directory_is_refused(
    bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    sent_id = await answered(bot, teams, tmp_path)
    posted = await teams.rate(
        bot.url, "like", sent_id=sent_id, channelData={"tenant": {"id": "another"}}
    )
    assert posted.status == 404
    assert kept(tmp_path) == []


@with_cases("value")
async def test_what_is_no_thumb_is_answered_and_not_kept(
    value: Any, bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    activity = teams.activity(type="invoke", name="message/submitAction", value=value)
    assert (await teams.post(bot.url, activity)).status == 200
    assert kept(tmp_path) == []


@pytest.mark.parametrize("said", ["{", "NaN", "\ud800"])
async def test_a_comment_that_is_not_json_is_refused(
    said: str, bot: Bot, teams: FakeConnector, tmp_path: Path
) -> None:
    await answered(bot, teams, tmp_path)
    value = {"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": said}}
    activity = teams.activity(
        type="invoke", name="message/submitAction", value=value, replyToId="x"
    )
    posted = await teams.post(bot.url, json.dumps(activity).encode())
    assert posted.status == 400


async def test_only_teams_shows_thumbs(bot: Bot, channel: FakeConnector) -> None:
    bot.scheduler.script = telling(says_something)
    message = await channel.ask(bot.url, "hello", until="It is a mass.")
    assert "channelData" not in message
