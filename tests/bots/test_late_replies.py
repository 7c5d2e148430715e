"""What a channel did not take comes by itself, in order, and nothing of it is lost in silence."""

from datetime import timedelta
from pathlib import Path

import pytest

from bots.rendering import delivery
from services.channels import deliveries
from tests.bots.conftest import Bot, KeptAnswers, Start
from tests.bots.scripts import Talk, telling
from tests.bots.test_owed import lost, never, notes, until_noted, until_owed, with_message
from tests.fakes_connector import RESET, FakeConnector

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "LATE_SECONDS", 0.05)
    monkeypatch.setattr(deliveries, "FIRST_PAUSE", timedelta(seconds=0.05))


async def two(talk: Talk) -> None:
    await talk.say("The first.")
    await talk.say("The second.")


async def test_replies_come_in_order_once_the_channel_is_back_and_nobody_writes(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = telling(two)
    # A wait this long is none within the turn.
    channel.fail_next(429, kind="message", Retry_After="31")
    await channel.say(bot.url, "hello")
    await until_noted(tmp_path, "is_kept", value=True)
    (note,) = notes(tmp_path)
    assert channel.texts() == []
    # The half minute is over.
    later = deliveries.Owed.model_validate_json(note.read_bytes())
    assert later.next_try is not None
    due = later.model_copy(update={"next_try": later.next_try - timedelta(seconds=60)})
    note.write_text(due.model_dump_json())
    await until_owed(tmp_path, 0)
    texts = channel.texts()
    assert "could not be delivered earlier" in texts[0]
    assert ["The first." in texts[1], "The second." in texts[2]] == [True, True]


@pytest.mark.parametrize("status", [401, 429, 503, RESET])
async def test_whatever_a_channel_answers_for_a_while_both_replies_come_once_and_in_order(
    status: int, bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = telling(two)
    channel.fail_next(status, kind="message", times=4)
    await channel.ask(bot.url, "hello", until="The second.")
    await until_owed(tmp_path, 0)
    texts = [text for text in channel.texts() if "The " in text]
    assert ["The first." in texts[0], "The second." in texts[1]] == [True, True]
    assert len(texts) == 2
    assert not [text for text in channel.texts() if "missing here" in text]


async def test_a_busy_channel_is_not_asked_before_the_time_it_named(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = telling(lost)
    channel.fail_next(429, kind="message", Retry_After="600")
    await channel.say(bot.url, "hello")
    await until_noted(tmp_path, "is_kept", value=True)
    await channel.until_quiet(seconds=0.5)
    assert channel.refused == 1
    assert channel.texts() == []


@pytest.mark.parametrize("status", [403, 404])
async def test_a_conversation_that_takes_nothing_is_parked_until_somebody_writes(
    status: int, bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = telling(lost)
    channel.fail_next(status, kind="message")
    await channel.say(bot.url, "hello")
    await until_noted(tmp_path, "is_parked", value=True)
    await channel.until_quiet(seconds=0.5)
    assert channel.texts() == [], "nobody knocks at a closed conversation"
    await channel.ask(bot.url, "hello again", until="Lost at first.")


async def test_what_a_dead_process_owed_comes_without_a_new_message(
    start: Start, channel: FakeConnector, answers: KeptAnswers, tmp_path: Path
) -> None:
    first, _, die = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    answers.texts[first.scheduler.messages[0].message_hash] = ["Stored before the crash."]
    die()
    await channel.until_said("Stored before the crash.")
    assert "or you have seen it already" in channel.texts()[0]
    await until_owed(tmp_path, 0)


async def test_what_cannot_be_taken_is_named_and_the_rest_follows(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = telling(two)
    channel.fail_next(400, kind="message")
    await channel.ask(bot.url, "hello", until="The second.")
    assert "missing here" in channel.texts()[0]
    await channel.until_quiet()
    await until_owed(tmp_path, 0)


async def test_notes_of_the_version_before_are_found_at_the_next_contact(
    start: Start, channel: FakeConnector, tmp_path: Path
) -> None:
    first = await start()
    first.scheduler.script = telling(lost)
    channel.fail_next(403, kind="message")
    await channel.say(first.url, "hello")
    await until_noted(tmp_path, "is_kept", value=True)
    await first.server.close()
    (note,) = notes(tmp_path)
    before = tmp_path / "chat-users" / "deliveries" / note.parent.name / "owed" / note.name
    before.parent.mkdir(parents=True)
    note.rename(before)
    second = await start()
    await channel.ask(second.url, "hello again", until="Lost at first.")
    await channel.until_quiet()
    assert not before.exists()
    await until_owed(tmp_path, 0)
