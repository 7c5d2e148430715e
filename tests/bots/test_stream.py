"""Answers that are shown while they are written, where Teams can show them."""

import asyncio
import itertools
import time
from functools import partial
from typing import Any

import pytest

from bots.rendering import text_stream
from data_models.chat_context import Citation
from data_models.conversations.turn_events import Notice, RunFailed, ToolCallStarted
from tests import fakes_stream
from tests.bots.conftest import Bot
from tests.bots.scripts import Talk, telling
from tests.fakes_connector import Activity, FakeConnector
from tests.fakes_stream import stream_info

pytestmark = pytest.mark.slow

APART = 0.04
SENTENCES = tuple(f"This is sentence number {number}. " for number in range(16))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second last a fifth of one for the bot, and less for the channel.

    On a busy machine an update may arrive late, and the next one soon behind it.
    """
    monkeypatch.setattr(text_stream, "UPDATE_SECONDS", text_stream.UPDATE_SECONDS / 5)
    monkeypatch.setattr(fakes_stream, "UPDATES_APART_SECONDS", 1.0 / 50)


def updates(channel: FakeConnector) -> list[tuple[str, str]]:
    """The kind and the text of every part of a stream."""
    found = [(stream_info(one), one) for one in channel.activities()]
    return [(info["streamType"], one.get("text", "")) for info, one in found if info is not None]


async def until_told(teams: FakeConnector, text: str) -> None:
    """Return once the channel shows an update with that text."""
    await teams.until(lambda one: stream_info(one) is not None and text in one.get("text", ""))


async def until_shown(teams: FakeConnector) -> None:
    """Return once the channel shows the beginning of an answer."""
    await teams.until(lambda one: (stream_info(one) or {}).get("streamType") == "streaming")


async def slowly(talk: Talk) -> None:
    await talk.say(*SENTENCES, apart=APART)


async def test_an_answer_grows_in_a_one_to_one_chat(bot: Bot, teams: FakeConnector) -> None:
    async def grows(talk: Talk) -> None:
        await talk.say(*SENTENCES, apart=APART, at_last=partial(until_shown, teams))

    bot.scheduler.script = telling(grows)
    began = time.monotonic()
    await teams.ask(bot.url, "hello", until="PT_CTX")
    most = 2 + (time.monotonic() - began) / text_stream.UPDATE_SECONDS
    kinds, texts = zip(*updates(teams), strict=True)
    assert kinds[-1] == "final"
    assert set(kinds[:-1]) == {"streaming"}
    assert 2 <= len(kinds) <= most
    assert teams.faults == []
    assert all(after.startswith(before) for before, after in itertools.pairwise(texts))
    assert texts[0].startswith("**Radiology**\n\nThis is sentence number 0.")
    assert [one["type"] for one in teams.messages()] == ["message"]


async def test_the_final_message_has_all_that_others_have(bot: Bot, teams: FakeConnector) -> None:
    source = Citation(ref="DocumentReference/note-3", title="CT chest", quote="a mass")

    async def cites(talk: Talk) -> None:
        await talk.say(*SENTENCES[:8], apart=APART, citations=(source,))

    bot.scheduler.script = telling(cites)
    final = await teams.ask(bot.url, "hello", until="PT_CTX")
    message, stream = final["entities"]
    assert message["additionalType"] == ["AIGeneratedContent"]
    assert message["citation"][0]["appearance"]["name"] == "CT chest"
    assert stream["streamType"] == "final"
    assert final["channelData"] == {"feedbackLoop": {"type": "default"}}


async def test_what_goes_on_is_told_until_there_is_text(bot: Bot, teams: FakeConnector) -> None:
    async def looks_up(talk: Talk) -> None:
        talk.run.emit(ToolCallStarted(call_id="c1", agent="Radiology", tool="read_reports"))
        await until_told(teams, "looks something up")
        talk.run.emit(Notice(kind="progress", text="250 of 1,000 reports are read."))
        await until_told(teams, "250 of 1,000")
        await talk.say(*SENTENCES[:8], apart=APART)

    bot.scheduler.script = telling(looks_up)
    await teams.ask(bot.url, "hello", until="PT_CTX")
    told = [text for kind, text in updates(teams) if kind == "informative"]
    assert told == ["Radiology looks something up …", "250 of 1,000 reports are read."]


async def test_a_line_that_stays_stands_beneath_the_answer(bot: Bot, teams: FakeConnector) -> None:
    async def drops_a_request(talk: Talk) -> None:
        talk.run.emit(ToolCallStarted(call_id="c1", agent="Radiology", tool="read_reports"))
        talk.run.emit(Notice(kind="told", text="“any allergies?” was not answered."))
        await talk.say("No mass.")

    bot.scheduler.script = telling(drops_a_request)
    await teams.ask(bot.url, "hello", until="PT_CTX")
    (answer,) = teams.texts()
    assert "No mass." in answer
    assert "was not answered" in answer


async def test_one_stream_ends_before_the_next_begins(bot: Bot, teams: FakeConnector) -> None:
    async def two_agents(talk: Talk) -> None:
        await talk.say(*SENTENCES[:6], apart=APART, agent="PatientHistory", message_id="m1")
        await talk.say(*SENTENCES[6:], apart=APART, agent="Radiology", message_id="m2")

    bot.scheduler.script = telling(two_agents)
    await teams.ask(bot.url, "hello", until="number 15")
    await teams.until_quiet()
    assert [text.splitlines()[0] for text in teams.texts()] == [
        "**PatientHistory**",
        "**Radiology**",
    ]
    assert sum(kind == "final" for kind, _ in updates(teams)) == 2


async def test_a_notice_waits_until_the_agent_has_finished(bot: Bot, teams: FakeConnector) -> None:
    async def noticed(talk: Talk) -> None:
        limit = asyncio.create_task(talk.say(*SENTENCES[:10], apart=APART))
        await until_shown(teams)
        talk.run.emit(Notice(kind="limit", text="The answer was cut."))
        talk.run.emit(Notice(kind="limit", text="Going on with [this](https://evil.example/x)."))
        await limit

    bot.scheduler.script = telling(noticed)
    await teams.ask(bot.url, "hello", until="Going on with")
    assert [text.splitlines()[0] for text in teams.texts()] == [
        "**Radiology**",
        "*The answer was cut.*",
        "*Going on with [this] (https: //evil.example/x).*",
    ]


async def test_a_failure_ends_what_was_shown(bot: Bot, teams: FakeConnector) -> None:
    async def fails(talk: Talk) -> None:
        talk.run.emit(ToolCallStarted(call_id="c1", agent="Radiology", tool="read_reports"))
        await until_told(teams, "looks something up")
        talk.run.emit(RunFailed(code="model_timeout", text="The model was slow.", ref="run_1"))

    bot.scheduler.script = telling(fails)
    failure = await teams.ask(bot.url, "hello", until="The model was slow.")
    assert stream_info(failure) == {
        "type": "streaminfo",
        "streamType": "final",
        "streamId": "reply-2",
    }
    assert list(teams.buttons()) == ["Try again"]


async def test_groups_get_one_message_for_each_agent(bot: Bot, teams: FakeConnector) -> None:
    teams.groups.add("conversation-1")
    bot.scheduler.script = telling(slowly)
    message = await teams.ask(bot.url, "hello", until="PT_CTX")
    assert updates(teams) == []
    assert "suggestedActions" not in message
    assert {one["type"] for one in teams.activities()} == {"typing", "message"}


@pytest.mark.parametrize("status", [400, 403, 405])
async def test_a_refused_stream_becomes_a_message(
    status: int, bot: Bot, teams: FakeConnector
) -> None:
    async def one_typing_sign_later(talk: Talk) -> None:
        await teams.until(lambda one: one["type"] == "typing")
        teams.fail_next(status, kind="typing")
        # However late the first part comes: it is this, and not the answer, that is refused.
        await talk.say(*SENTENCES, apart=APART, at_last=teams.until_refused)

    bot.scheduler.script = telling(one_typing_sign_later)
    reply = await teams.ask(bot.url, "hello", until="PT_CTX")
    assert stream_info(reply) is None
    assert "number 15" in reply["text"]
    assert teams.refused == 1


async def test_a_busy_channel_gets_fewer_updates_and_the_whole_text(
    bot: Bot, teams: FakeConnector
) -> None:
    async def while_busy(talk: Talk) -> None:
        await teams.until(lambda one: one["type"] == "typing")
        teams.fail_next(429, times=2, Retry_After="1")
        await slowly(talk)

    bot.scheduler.script = telling(while_busy)
    reply = await teams.ask(bot.url, "hello", until="PT_CTX")
    assert "number 15" in reply["text"]


async def test_a_refused_final_message_comes_as_any_other(bot: Bot, teams: FakeConnector) -> None:
    async def refused_at_the_end(talk: Talk) -> None:
        await talk.say(*SENTENCES, apart=APART, at_last=refuse)

    async def refuse() -> None:
        await until_shown(teams)
        teams.fail_next(403, kind="message")

    bot.scheduler.script = telling(refused_at_the_end)
    reply = await teams.ask(bot.url, "hello", until="PT_CTX")
    assert updates(teams)
    assert stream_info(reply) is None
    assert "number 15" in reply["text"]


async def test_teams_own_stop_button_ends_the_turn(bot: Bot, teams: FakeConnector) -> None:
    stopped: list[bool] = []

    async def until_stopped(talk: Talk) -> None:
        await talk.say(*SENTENCES * 50, "The end.", apart=APART)
        stopped.append(talk.is_stopped)

    bot.scheduler.script = telling(until_stopped)
    await teams.say(bot.url, "hello")
    await teams.until(lambda one: stream_info(one) is not None)
    teams.streams.stop("conversation-1")
    await teams.until_said("Stopped.")
    assert stopped == [True]
    assert len(teams.texts()) == 1
    assert "The end." not in str(teams.activities())


async def test_a_stream_ends_in_time_and_the_rest_follows(
    bot: Bot, teams: FakeConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_length(talk: Talk) -> None:
        await talk.say(*SENTENCES * 3, apart=APART)

    monkeypatch.setattr(text_stream, "STREAM_SECONDS", 0.3)
    bot.scheduler.script = telling(at_length)
    await teams.ask(bot.url, "hello", until="PT_CTX")
    first, second = teams.texts()
    assert first.startswith("**Radiology**\n\nThis is sentence number 0.")
    assert first.endswith("*The answer follows in a new message.*")
    assert second.startswith("**Radiology**\n\nThis is sentence number")
    shown = first.removesuffix("\n\n*The answer follows in a new message.*")
    rest = second.removeprefix("**Radiology**\n\n").partition("\n\n---")[0]
    whole = "".join(SENTENCES * 3).strip()
    assert f"{shown} {rest}".removeprefix("**Radiology**\n\n") == whole


async def test_a_long_answer_begins_as_it_was_shown(bot: Bot, teams: FakeConnector) -> None:
    line = "A sentence that is rather long, „wörtlich“, and says little. "
    paragraph = line * 40 + "\n\n"

    async def long(talk: Talk) -> None:
        await talk.say(*[paragraph] * 20, apart=0.03)

    bot.scheduler.script = telling(long)
    await teams.ask(bot.url, "hello", until="PT_CTX")
    texts: list[str] = teams.texts()
    assert len(texts) > 2
    assert texts[0].endswith(f"*(1 of {len(texts)})*")
    assert f"(2 of {len(texts)})" in texts[1].splitlines()[0]
    assert sum(text.count(line.strip()) for text in texts) == 800


async def test_a_models_links_are_dead_while_being_written(bot: Bot, teams: FakeConnector) -> None:
    pieces = (
        "Look ",
        "[here](",
        "https://",
        "evil.example/x",
        ") and ",
        "<img ",
        "src=x> ",
        "now. ",
    )

    async def harmful(talk: Talk) -> None:
        await talk.say(*pieces, apart=0.1)

    bot.scheduler.script = telling(harmful)
    await teams.ask(bot.url, "hello", until="PT_CTX")
    shown: list[Activity | Any] = [text for _, text in updates(teams)]
    assert not any("](https" in text or "<img" in text for text in shown)


async def test_of_agents_that_write_at_once_each_gets_a_message_of_its_own(
    bot: Bot, teams: FakeConnector
) -> None:
    async def together(talk: Talk) -> None:
        await asyncio.gather(
            talk.say(*SENTENCES, agent="Radiology", message_id="m1", apart=APART),
            talk.say("Adenocarcinoma ", "it is.", agent="Pathology", message_id="m2", apart=APART),
        )

    bot.scheduler.script = telling(together)
    await teams.say(bot.url, "hello")
    await teams.until(lambda one: "Adenocarcinoma it is." in one.get("text", ""))
    said = [one["text"] for one in teams.messages()]
    assert [text.splitlines()[0] for text in said] == ["**Radiology**", "**Pathology**"]
    assert "Adenocarcinoma" not in said[0]
    assert all("Adenocarcinoma" not in text for _, text in updates(teams))
    assert teams.faults == []
