"""Replies that did not arrive: kept past a restart, delivered once, on whichever replica."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import orjson
import pytest

from bots.rendering import delivery
from services.basis import Replica
from services.channels.ports import Fate
from services.runs.hub import Run
from tests.bots.conftest import Bot, KeptAnswers, Start
from tests.bots.scripts import Talk, telling
from tests.fakes_connector import FakeConnector
from tests.given import present
from tests.routes.fakes import answer, tell
from tests.waiting import until

Script = Callable[[Run], Awaitable[None]]


class DeadLater(Replica):
    """A replica; `dead` names those that are known to be dead."""

    dead: frozenset[str] = frozenset()

    def is_dead(self, name: str) -> bool:
        return name in self.dead


async def lost(talk: Talk) -> None:
    await talk.say("Lost at first.")


async def never(run: Run) -> None:
    """Begin, and answer nothing."""
    Talk(run).begin()
    await asyncio.sleep(3_600)


async def with_message(
    start: Start, channel: FakeConnector, script: Script
) -> tuple[Bot, Bot, Callable[[], None]]:
    """Two replicas, the first at work on a message; the last tells the second of its death."""
    dying, living = DeadLater(), DeadLater()
    first, second = await start(replica=dying), await start(replica=living)
    first.scheduler.script = script
    await channel.say(first.url, "hello")

    def die() -> None:
        living.dead = frozenset({dying.name})

    return first, second, die


def notes(folder: Path) -> list[Path]:
    # Not rglob: a bot that runs removes folders while they are listed; os.walk skips those.
    found = os.walk(folder / "chat-users" / "owed")
    return sorted(Path(each) / name for each, _, names in found for name in names)


async def until_owed(folder: Path, count: int) -> None:
    """Return once so many runs are owed."""
    await until(lambda: len(notes(folder)) == count)


async def until_noted(folder: Path, field: str, value: object) -> None:
    """Return once a note says that of what is owed."""
    await until(lambda: value in [orjson.loads(note.read_bytes())[field] for note in notes(folder)])


@pytest.mark.slow
async def test_nothing_is_left_of_what_was_delivered(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    await channel.ask(bot.url, "hello", until="You said")
    await channel.until_quiet()
    await until_owed(tmp_path, 0)


async def test_a_note_says_no_word_of_the_question(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    bot.scheduler.script = never
    await channel.say(bot.url, "canary-7 has a mass")
    await channel.until(lambda one: one["type"] == "typing")
    await until_owed(tmp_path, 1)
    (note,) = notes(tmp_path)
    assert "canary-7" not in note.read_text()


@pytest.mark.slow
async def test_what_a_channel_refused_comes_from_another_process(
    start: Start, channel: FakeConnector, tmp_path: Path
) -> None:
    first = await start()
    first.scheduler.script = telling(lost)
    channel.fail_next(403, kind="message")
    await channel.say(first.url, "hello")
    await until_noted(tmp_path, "is_kept", value=True)
    await first.server.close()
    second = await start()
    await channel.ask(second.url, "hello again", until="You said: hello again")
    assert ["Lost at first." in text for text in channel.texts()] == [False, True, False]
    await channel.until_quiet()
    await until_owed(tmp_path, 0)


async def test_what_a_dead_process_owed_is_made_from_the_stored_answer(
    start: Start, channel: FakeConnector, answers: KeptAnswers, tmp_path: Path
) -> None:
    first, second, die = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    answers.texts[first.scheduler.messages[0].message_hash] = ["Stored before the crash."]
    die()
    await channel.ask(second.url, "are you there?", until="You said: are you there?")
    assert ["Stored before the crash." in text for text in channel.texts()] == [False, True, False]


@pytest.mark.slow
async def test_a_reply_is_owed_before_the_one_ahead_of_it_is_out(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    await channel.say(bot.url, "hello")
    await channel.until_quiet()
    assert bot.scheduler.deliver is not None
    for run_id in ("run_1", "run_2"):
        run = Run(run_id=run_id, message=bot.scheduler.messages[0])
        await bot.scheduler.deliver(run)
        Talk(run).begin()
    await until_owed(tmp_path, 2)


@pytest.mark.slow
async def test_what_another_replica_answered_and_died_over_comes_without_a_new_message(
    start: Start,
    channel: FakeConnector,
    answers: KeptAnswers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "LATE_SECONDS", 0.1)
    dying, living = DeadLater(), DeadLater()
    first, second = await start(replica=dying), await start(replica=living)

    async def answered_elsewhere(run: Run) -> None:
        there = Run(run_id=run.run_id, message=run.message)
        await present(first.scheduler.deliver)(there)
        Talk(there).begin()
        await until_owed(tmp_path, 1)
        answers.texts[run.message.message_hash] = ["Stored before the crash."]
        living.dead = frozenset({dying.name})
        run.replayed = True
        tell(run, answer(run, "Stored before the crash."))

    second.scheduler.script = answered_elsewhere
    await channel.ask(second.url, "hello", until="Stored before the crash.")
    await channel.until_quiet()
    assert len(channel.texts()) == 2  # that it could not come earlier, and itself
    assert notes(tmp_path) == []


@pytest.mark.slow
async def test_messages_that_arrived_before_the_crash_do_not_come_twice(
    start: Start, channel: FakeConnector, answers: KeptAnswers, tmp_path: Path
) -> None:
    async def two_of_three(run: Run) -> None:
        talk = Talk(run)
        talk.begin()
        await talk.say("One.", message_id="m1")
        await talk.say("Two.", message_id="m2")
        await asyncio.sleep(3_600)

    first, second, die = await with_message(start, channel, two_of_three)
    await channel.until_said("Two.")
    await until_noted(tmp_path, "delivered", ["m1"])  # the last is noted with the next
    answers.texts[first.scheduler.messages[0].message_hash] = ["One.", "Two.", "Three."]
    die()
    await channel.ask(second.url, "go on", until="You said: go on")
    texts = "\n".join(channel.texts())
    assert texts.count("One.") == 1
    assert texts.count("Three.") == 1


@pytest.mark.slow
async def test_what_a_taken_over_turn_says_again_is_marked(
    start: Start, channel: FakeConnector, tmp_path: Path
) -> None:
    async def dies(run: Run) -> None:
        talk = Talk(run)
        talk.begin()
        await talk.say("Said before.")
        await asyncio.sleep(3_600)

    first, second = await start(replica=DeadLater()), await start(replica=DeadLater())
    first.scheduler.script = dies
    await channel.ask(first.url, "hello", until="Said before.")
    (note,) = notes(tmp_path)
    taken_over = Run(run_id=note.stem, message=first.scheduler.messages[0])
    await present(second.scheduler.deliver)(taken_over)
    talk = Talk(taken_over)
    talk.begin()
    await talk.say("Said before.")
    await channel.until_said("or you have seen it already")
    await until(lambda: "\n".join(channel.texts()).count("Said before.") == 2)


@pytest.mark.slow
async def test_nobody_delivers_what_another_replica_is_at_work_on(
    start: Start, channel: FakeConnector, answers: KeptAnswers, tmp_path: Path
) -> None:
    first, second, _ = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    answers.texts[first.scheduler.messages[0].message_hash] = ["Not yours to say."]
    await channel.ask(second.url, "again", until="You said: again")
    await channel.until_quiet()
    assert len(channel.texts()) == 1


@pytest.mark.slow
async def test_what_nobody_touches_for_a_while_is_delivered_after_all(
    start: Start,
    channel: FakeConnector,
    answers: KeptAnswers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(delivery, "LATE_SECONDS", 0.1)
    first, second, _ = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    answers.texts[first.scheduler.messages[0].message_hash] = ["From far away."]
    await channel.ask(second.url, "again", until="From far away.")


@pytest.mark.slow
async def test_a_server_that_stops_does_not_wait_for_what_others_deliver(
    start: Start, channel: FakeConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "CLOSE_SECONDS", 60.0)
    _first, second, _ = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    await channel.ask(second.url, "again", until="You said: again")
    await channel.until_quiet()
    async with asyncio.timeout(30):
        await second.server.close()


@pytest.mark.slow
async def test_a_queued_message_that_runs_elsewhere_is_owed_there(
    bot: Bot, channel: FakeConnector, tmp_path: Path
) -> None:
    await channel.ask(bot.url, "hello", until="You said")
    run = Run(run_id="run_of_another", message=bot.scheduler.messages[0])
    await present(bot.scheduler.deliver)(run)
    events = answer(run, "From here.")
    run.emit(events[0])
    await until(lambda: [note.stem for note in notes(tmp_path)] == ["run_of_another"])
    tell(run, events[1:])
    await channel.until_said("From here.")
    await channel.until_quiet()
    await until_owed(tmp_path, 0)


async def test_a_note_that_cannot_be_written_costs_no_reply(
    start: Start, channel: FakeConnector, tmp_path: Path
) -> None:
    (tmp_path / "chat-users").write_text("a file where the folder should be")
    bot = await start()
    await channel.ask(bot.url, "hello", until="You said: hello")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fate", "said"),
    [("cleared", "from before the conversation was cleared"), ("unknown", "too old to be shown")],
)
async def test_what_was_cleared_or_is_forgotten_is_not_shown_any_more(
    start: Start,
    channel: FakeConnector,
    answers: KeptAnswers,
    tmp_path: Path,
    fate: Fate,
    said: str,
) -> None:
    first = await start()
    first.scheduler.script = telling(lost)
    channel.fail_next(403, kind="message")
    await channel.say(first.url, "hello")
    await until_noted(tmp_path, "is_kept", value=True)
    answers.fates[first.scheduler.messages[0].message_hash] = fate
    await first.server.close()
    second = await start()
    await channel.ask(second.url, "hello again", until="You said: hello again")
    await channel.until_quiet()
    told = "\n".join(channel.texts())
    assert "Lost at first." not in told
    assert told.count(said) == 1
    assert notes(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["cleared", "unknown"])
async def test_of_what_a_dead_process_may_have_said_before_nothing_is_made(
    start: Start, channel: FakeConnector, answers: KeptAnswers, tmp_path: Path, fate: Fate
) -> None:
    first, second, die = await with_message(start, channel, never)
    await until_owed(tmp_path, 1)
    asked = first.scheduler.messages[0].message_hash
    answers.texts[asked], answers.fates[asked] = ["Stored before the clear."], fate
    die()
    await channel.ask(second.url, "are you there?", until="You said: are you there?")
    told = "\n".join(channel.texts())
    assert "Stored before the clear." not in told
    assert ("from before the conversation was cleared" in told) is (fate == "cleared")
