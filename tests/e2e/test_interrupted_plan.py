"""A message that comes in meanwhile: the plan goes on behind it, and “stop” waits for nobody."""

import asyncio
from pathlib import Path
from threading import Event

import aiohttp
import pytest

from tests.e2e import talks
from tests.e2e.models import board_brain, running_model
from tests.e2e.server import running_server
from tests.fakes_openai import RecordedRequest, Reply

pytestmark = pytest.mark.slow

PAUSED = "The plan is paused for your message."
HELD_SECONDS = 100.0


class HeldModel:
    """Answers as the board does, once it may."""

    def __init__(self) -> None:
        self.may_answer = Event()
        self.may_answer.set()
        self.is_asked = Event()

    def __call__(self, request: RecordedRequest) -> Reply:
        if not self.may_answer.is_set():
            self.is_asked.set()
        self.may_answer.wait(HELD_SECONDS)
        return board_brain(request)


@pytest.mark.parametrize(
    ("words", "goes_on"),
    [("any allergies?", True), ("wrong patient", False)],
    ids=["asks", "stops"],
)
async def test_a_plan_goes_on_behind_a_question_and_stays_paused_behind_a_stop(
    tmp_path: Path, words: str, *, goes_on: bool
) -> None:
    held = HeldModel()
    with running_model(held) as model, running_server(tmp_path, **model.settings()) as server:
        async with aiohttp.ClientSession() as client:
            chat = await talks.new_chat(client, server.url)
            async with talks.socket_to(client, server.url, chat) as socket:
                talk = talks.PlainTalk(chat, socket)
                await talk.say("start with patient_4")
                await talk.say("start tumor board")
                held.may_answer.clear()
                for text in ("yes", words):
                    await socket.send_json({"content": text, "sender": "Dr. Ada"})
                if goes_on:
                    while (await talks.next_frame(socket)).get("notice") != "queued":
                        pass
                    held.may_answer.set()
                board, between = await talk.answer(), await talk.answer()
                held.may_answer.set()
    assert "ReportCreation" not in board.agents
    assert ("ReportCreation" in between.agents) is goes_on
    assert any(one.text.startswith(PAUSED) for one in board.said) is goes_on


@pytest.mark.parametrize("surface", talks.SURFACES)
async def test_stop_is_answered_while_the_model_is_silent(
    tmp_path: Path, surface: talks.Surface
) -> None:
    held = HeldModel()
    with running_model(held) as model, running_server(tmp_path, **model.settings()) as server:
        async with talks.talking(server.url, surface) as talk:
            await talk.say("start with patient_4", last_words="patient_4")
            held.may_answer.clear()
            asked = asyncio.create_task(send(talk, "what is the stage?"))
            async with asyncio.timeout(HELD_SECONDS * 0.9):
                await asyncio.to_thread(held.is_asked.wait)
                stopped = await answer_to_stop(talk)
            await asked
            held.may_answer.set()
    assert "Stopped. What was shown so far is kept." in stopped


async def send(talk: talks.Talk, text: str) -> None:
    """Send a message; over AG-UI its run is over before this returns."""
    match talk:
        case talks.PlainTalk() | talks.StreamTalk():
            await talk.socket.send_json({"content": text, "sender": "Dr. Ada"})
        case talks.BotTalk():
            await talk.channel.say(talk.url, text, conversation=talk.conversation)
        case _:
            await talk.say(text, last_words="")


async def answer_to_stop(talk: talks.Talk) -> str:
    """Say stop, and return what was said until it is answered."""
    if not isinstance(talk, talks.PlainTalk | talks.StreamTalk):
        return (await talk.say("stop", last_words="Stopped.")).text
    await talk.socket.send_json({"content": "stop", "sender": "Dr. Ada"})
    told = ""
    while "Stopped." not in told:
        told += str(await talks.next_frame(talk.socket))
    return told
