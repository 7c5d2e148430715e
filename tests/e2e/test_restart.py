"""What a user meets when the server dies, stops or is restarted, and when a connection is lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e import talks
from tests.e2e.models import ModelServer, board_brain, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredFiles
from tests.fakes_openai import RecordedRequest, Reply
from tests.waiting import until as until_so

pytestmark = pytest.mark.slow

FOUR = "patient_patient_4_context.json"
QUESTION = "Did the radiotherapy end as intended?"
LONG = "".join(f"Part {number} is a long story. " for number in range(48))
GOING_AWAY = 1001
PATIENCE_SECONDS = 180.0


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with running_model(board_brain) as server:
        yield server


@pytest.fixture
def server(model: ModelServer, tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path, **model.settings()) as running:
        yield running


def slow(request: RecordedRequest) -> Reply:
    """Tell a long story over ten seconds, or until the model shall be hasty."""
    return Reply(text=LONG, chunk_chars=25, tokens_per_second=5.0)


def endless(request: RecordedRequest) -> Reply:
    return Reply(text=LONG * 40, chunk_chars=25, tokens_per_second=20.0)


def endless_status(request: RecordedRequest) -> Reply:
    """Answer at once, but for the second step of the plan."""
    is_second = "You are PatientStatus" in request.instructions
    return endless(request) if is_second else board_brain(request)


@asynccontextmanager
async def stream_to(server: Server, conversation: str, **query: object) -> AsyncIterator[Any]:
    parts = "".join(f"&{name}={value}" for name, value in query.items())
    async with (
        aiohttp.ClientSession() as client,
        talks.socket_to(client, server.url, conversation, f"?stream=1{parts}") as socket,
    ):
        yield socket


async def say(server: Server, conversation: str, text: str, **more: str) -> talks.Answer:
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": text, **more})
        return await talks.StreamTalk(conversation, socket).answer()


async def chat_about_four(server: Server) -> str:
    async with aiohttp.ClientSession() as client:
        conversation = await talks.new_chat(client, server.url)
    await say(server, conversation, "switch to patient_4")
    return conversation


async def until(socket: aiohttp.ClientWebSocketResponse, part: str) -> list[talks.Frame]:
    """Return the frames up to the first that streams text once `part` was said."""
    frames: list[talks.Frame] = []
    said = ""
    while part not in said:
        frames.append(await talks.next_frame(socket))
        assert not talks.is_last(frames[-1]), "the turn ended before the test meant it to"
        said += frames[-1].get("delta", "") if "messageId" in frames[-1] else ""
    return frames


async def until_not_ready(server: Server) -> None:
    """Return once the server, which still runs, asks balancers for no more work."""
    status = 200
    async with aiohttp.ClientSession() as client, asyncio.timeout(PATIENCE_SECONDS):
        while status == 200:
            async with client.get(f"{server.url}/readyz") as ready:
                status = ready.status
    assert status == 503


async def rest_of(socket: aiohttp.ClientWebSocketResponse) -> list[talks.Frame]:
    frames: list[talks.Frame] = []
    while not frames or not talks.is_last(frames[-1]):
        frames.append(await talks.next_frame(socket))
    return frames


def stored_in(server: Server, conversation: str) -> Stored:
    return Stored(StoredFiles(server.data), conversation)


def turns_of(server: Server, conversation: str) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = stored_in(server, conversation).document(FOUR)["chat_history"]
    return turns


def steps_of(server: Server, conversation: str) -> dict[str, str]:
    plan = stored_in(server, conversation).document(FOUR)["plan"]
    return {step["agent"]: step["status"] for step in plan["steps"]}


def rows_of(server: Server, conversation: str) -> list[tuple[str, str]]:
    """Return what the user said and what became of it; a message whose patient the dead server
    had not yet decided is kept with the session."""
    stored = stored_in(server, conversation)
    turns = turns_of(server, conversation)
    if "session_context.json" in stored.names():
        turns += stored.document("session_context.json")["chat_history"]
    turns.sort(key=lambda turn: str(turn["timestamp"]))
    return [(turn["user_message"], turn["turn_status"]) for turn in turns]


def interruptions(answer: talks.Answer) -> int:
    return answer.notices.count("interrupted")


async def test_a_kill_amid_a_plan_loses_no_step_or_word(server: Server, model: ModelServer) -> None:
    conversation = await chat_about_four(server)
    await say(server, conversation, "start tumor board for patient_4")
    model.brain = endless_status
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": "yes proceed"})
        await until(socket, "long story")
        # Steps run side by side; each is stored once it is finished, whatever the others do.
        await until_so(lambda: steps_of(server, conversation)["PatientHistory"] == "done")
        server.kill()
    model.brain = board_brain
    server.start()
    answer = await say(server, conversation, "yes proceed")
    assert interruptions(answer) == 1
    assert answer.state is not None
    assert answer.state["plan"]["status"] == "done"
    assert {step["status"] for step in answer.state["plan"]["steps"]} == {"done"}
    # The first step had been stored; it is not done twice.
    assert "PatientHistory" not in answer.agents
    assert "PatientStatus" in answer.agents
    await talks.at_rest(stored_in(server, conversation))
    turns = turns_of(server, conversation)
    assert [turn["turn_status"] for turn in turns] == [
        "COMPLETED", "COMPLETED", "FAILED", "COMPLETED",
    ]  # fmt: skip
    said_before = [message["agent"] for message in turns[2]["agent_responses"]]
    assert "PatientHistory" in said_before
    again = await say(server, conversation, QUESTION)
    assert interruptions(again) == 0


async def test_a_kill_amid_an_answer_is_said_once_and_keeps_the_question(
    server: Server, model: ModelServer
) -> None:
    conversation = await chat_about_four(server)
    model.brain = endless
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": QUESTION, "client_message_id": "m-1"})
        await until(socket, "long story")
        server.kill()
    model.brain = board_brain
    server.start()
    first = await say(server, conversation, "Are you there?")
    assert interruptions(first) == 1
    assert first.said
    second = await say(server, conversation, "And now?")
    assert interruptions(second) == 0
    await talks.at_rest(stored_in(server, conversation))
    rows = rows_of(server, conversation)
    assert rows[1:] == [
        (QUESTION, "FAILED"),
        ("Are you there?", "COMPLETED"),
        ("And now?", "COMPLETED"),
    ]
    # The client that sends its message again is told what became of it; no second turn runs.
    asked = len(model.requests)
    again = await say(server, conversation, QUESTION, client_message_id="m-1")
    assert again.failure == "interrupted"
    assert len(model.requests) == asked
    assert rows_of(server, conversation) == rows


async def test_a_queued_message_outlives_the_server(server: Server, model: ModelServer) -> None:
    conversation = await chat_about_four(server)
    model.brain = endless
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": QUESTION})
        await until(socket, "long story")
        await socket.send_json({"content": "And the chemotherapy?", "client_message_id": "m-2"})
        while "queued" not in str(await talks.next_frame(socket)):
            pass
        server.kill()
    model.brain = board_brain
    server.start()
    # Sent again, as a client does that saw no answer: it runs once, in its place.
    await say(server, conversation, "And the chemotherapy?", client_message_id="m-2")
    await talks.at_rest(stored_in(server, conversation))
    rows = rows_of(server, conversation)
    assert rows[1:] == [(QUESTION, "FAILED"), ("And the chemotherapy?", "COMPLETED")]


async def test_sigterm_lets_the_turn_finish_and_says_goodbye(
    server: Server, model: ModelServer
) -> None:
    conversation = await chat_about_four(server)
    model.brain = slow
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": QUESTION})
        frames = await until(socket, "long story")
        server.ask_to_stop()
        await until_not_ready(server)
        model.is_hasty = True
        frames += await rest_of(socket)
        assert talks.answer_of(frames).said[-1].text.strip() == LONG.strip()
        assert frames[-1]["outcome"]["type"] == "success"
        assert (await socket.receive(timeout=PATIENCE_SECONDS)).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == GOING_AWAY
    assert await asyncio.to_thread(server.wait_for_end) == 0
    assert turns_of(server, conversation)[-1]["turn_status"] == "COMPLETED"
    assert "Traceback" not in server.log


async def test_a_lost_line_is_taken_up_where_it_broke(server: Server, model: ModelServer) -> None:
    conversation = await chat_about_four(server)
    model.brain = slow
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": QUESTION})
        first = await until(socket, "long story")
    run, seen = first[0]["runId"], first[-1]["metadata"]["seq"]
    async with stream_to(server, conversation, run=run, after=seen) as socket:
        rest = await until(socket, "long story")
        model.is_hasty = True
        rest += await rest_of(socket)
    numbers = [frame["metadata"]["seq"] for frame in first + rest]
    assert numbers == list(range(1, len(numbers) + 1))
    assert talks.answer_of(first + rest).said[-1].text.strip() == LONG.strip()
    await talks.at_rest(stored_in(server, conversation))
    assert turns_of(server, conversation)[-1]["agent_responses"][0]["text"].strip() == LONG.strip()


async def test_stop_ends_the_models_work_and_keeps_text(server: Server, model: ModelServer) -> None:
    conversation = await chat_about_four(server)
    model.brain = endless
    async with stream_to(server, conversation) as socket:
        await socket.send_json({"content": QUESTION})
        frames = await until(socket, "long story")
        await socket.send_json({"type": "stop"})
        frames += await rest_of(socket)
    assert frames[-1]["outcome"]["type"] == "cancelled"
    await talks.at_rest(stored_in(server, conversation))
    turn = turns_of(server, conversation)[-1]
    assert turn["turn_status"] == "STOPPED"
    assert turn["agent_responses"][0]["text"] == talks.answer_of(frames).said[-1].text
    await until_so(lambda: model.requests[-1].was_aborted)
