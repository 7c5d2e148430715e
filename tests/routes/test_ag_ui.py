"""`POST /api/ag-ui` over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import orjson
import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from data_models.conversations.turn_events import RunStarted
from routes.streams.ag_ui import or_pause
from services.runs.hub import Run
from tests.routes.conftest import ADA, BEN, Server
from tests.routes.fakes import answer, tell
from tests.tables import with_cases

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def asks(text: str = "hello", **more: Any) -> dict[str, Any]:
    messages = [
        {"id": "1", "role": "user", "content": "an earlier question"},
        {"id": "2", "role": "assistant", "content": "PATIENT_CONTEXT_JSON: {}"},
        {"id": "3", "role": "user", "content": text},
    ]
    given = {"threadId": "thread-1", "runId": "run-of-client", "messages": messages}
    return {**given, "state": {}, "tools": [], "context": [], "forwardedProps": {}, **more}


async def events_of(server: Server, body: dict[str, Any]) -> list[dict[str, Any]]:
    async with server.client.post(f"{server.base}/api/ag-ui", json=body, headers=ADA) as reply:
        assert reply.status == 200
        assert reply.content_type == "text/event-stream"
        lines = (await reply.text()).split("\n\n")
    return [orjson.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data")]


async def test_a_turn_is_streamed_under_the_clients_own_names(server: Server) -> None:
    events = await events_of(server, asks())
    for event in events:
        EVENT.validate_python(event)
    ends = (events[0], events[-1])
    assert [(one["threadId"], one["runId"]) for one in ends] == [("thread-1", "run-of-client")] * 2
    assert [event["metadata"]["seq"] for event in events] == list(range(1, len(events) + 1))


async def test_only_the_last_user_message_is_read(server: Server) -> None:
    parts = [
        {"type": "text", "text": "look at"},
        {"type": "image", "source": {"type": "url", "value": "http://x"}},
        {"type": "text", "text": "this"},
    ]
    await events_of(server, asks(messages=[{"id": "9", "role": "user", "content": parts}]))
    await events_of(server, asks("second", runId="run-2"))
    assert [message.text for message in server.scheduler.messages] == ["look at\nthis", "second"]


@with_cases("more", "count")
async def test_what_a_page_sends_beside_the_message_is_not_read_and_a_notice_says_so(
    server: Server, more: dict[str, Any], count: int
) -> None:
    events = await events_of(server, asks(**more))
    notices = [one for one in events if one["type"] == "CUSTOM" and one["name"] == "notice"]
    assert [one["value"]["kind"] for one in notices].count("not_read") == count
    assert events[0]["type"] == "RUN_STARTED"
    for event in events:
        EVENT.validate_python(event)
    assert "SECRET" not in str(server.scheduler.messages)


PICTURE = {"type": "image", "source": {"type": "url", "value": "http://x"}}


@pytest.mark.parametrize(
    ("content", "is_said"),
    [
        ([{"type": "text", "text": "what does this show?"}, PICTURE], True),
        ([{"type": "text", "text": "hello"}], False),
        ("hello", False),
    ],
)
async def test_a_picture_is_said_to_be_unread_in_words_that_every_page_shows(
    server: Server, content: object, is_said: bool
) -> None:
    events = await events_of(
        server, asks(messages=[{"id": "9", "role": "user", "content": content}])
    )
    for event in events:
        EVENT.validate_python(event)
    told = [one["delta"] for one in events if one["type"] == "TEXT_MESSAGE_CONTENT"]
    assert ["cannot see pictures" in one for one in told].count(True) == is_said
    assert events[0]["type"] == "RUN_STARTED"


async def test_a_repeated_request_starts_no_second_turn(server: Server) -> None:
    first = await events_of(server, asks())
    assert await events_of(server, asks()) == first
    assert len(server.scheduler.messages) == 1


@pytest.mark.slow
@with_cases("answer", "text", "press")
async def test_resume_answers_what_is_open(
    server: Server,
    answer: tuple[str, str, object],
    text: str,
    press: tuple[str, str, tuple[int, ...] | None] | None,
) -> None:
    interrupt_id, status, payload = answer
    entry = {"interruptId": interrupt_id, "status": status, "payload": payload}
    await events_of(server, asks(resume=[entry]))
    [message] = server.scheduler.messages
    pressed = message.press
    assert message.text == text
    assert (pressed and (pressed.target_id, pressed.answer, pressed.steps)) == press


@pytest.mark.slow
@pytest.mark.parametrize(
    ("interrupt", "payload"),
    [
        *product(["plan:p1", "question:q1", "input:r1"], [{"text": "yes"}, {}, 7, ["confirm"]]),
        # Where words are asked for, the newest message may be these; elsewhere it is an older one.
        *product(["plan:p1", "question:q1"], [{"answer": 1}, None]),
    ],
)
async def test_an_answer_of_an_unknown_form_is_refused_and_answers_nothing(
    server: Server, interrupt: str, payload: object
) -> None:
    entry = {"interruptId": interrupt, "status": "resolved", "payload": payload}
    url = f"{server.base}/api/ag-ui"
    async with server.client.post(url, json=asks(resume=[entry]), headers=ADA) as reply:
        assert reply.status == 400
        told = await reply.json()
    assert told["code"] == "wrong_answer"
    assert "responseSchema" in told["detail"]
    assert server.scheduler.messages == []


async def test_a_client_that_goes_away_does_not_stop_the_turn_but_stop_does(server: Server) -> None:
    gate, ended = asyncio.Event(), asyncio.Event()

    async def slow(run: Run) -> None:
        run.emit(RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        await gate.wait()
        tell(run, answer(run, "done")[1:])
        ended.set()

    server.scheduler.script = slow
    url = f"{server.base}/api/ag-ui"
    async with server.client.post(url, json=asks(), headers=ADA) as reply:
        await reply.content.readline()
    await asyncio.sleep(0.05)
    gate.set()
    await asyncio.wait_for(ended.wait(), 60)
    gate.clear()
    async with server.client.post(url, json=asks(runId="second"), headers=ADA) as reply:
        await reply.content.readline()
        stop = f"{server.base}/api/chats/thread-1/stop"
        async with server.client.post(stop, headers=ADA) as stopped:
            assert await stopped.json() == {"stopped": True}
        last = (await reply.text()).strip().removeprefix("data: ")
    assert orjson.loads(last)["outcome"] == {"type": "cancelled"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "bad_frame"),
        (b"\xff\xfe", 400, "bad_frame"),
        (b'{"threadId": "t", "runId": "r", "messages": []}', 400, "bad_frame"),
        (b'{"threadId": "t", "runId": 5, "messages": []}', 400, "bad_frame"),
        (b'{"threadId": "", "runId": "r", "messages": []}', 400, "bad_frame"),
        (b"[" * 100 + b"]" * 100, 400, "bad_frame"),
        (orjson.dumps(asks("")), 400, "empty_message"),
        (orjson.dumps(asks("x" * 16_001)), 413, "message_too_long"),
        (orjson.dumps(asks("x" * 300_000)), 413, "too_large"),
        (orjson.dumps(asks(threadId="../x")), 404, "not_found"),
        (orjson.dumps(asks(threadId="19:abc@thread.tacv2")), 404, "not_found"),
    ],
)
async def test_a_bad_request_is_a_problem_and_no_stream(
    server: Server, body: bytes, status: int, code: str
) -> None:
    async with server.client.post(f"{server.base}/api/ag-ui", data=body, headers=ADA) as reply:
        assert (reply.status, (await reply.json())["code"]) == (status, code)
        assert reply.content_type == "application/problem+json"
    assert server.scheduler.messages == []


async def test_a_stranger_cannot_write_into_a_thread(server: Server) -> None:
    await events_of(server, asks())
    url = f"{server.base}/api/ag-ui"
    async with server.client.post(url, json=asks("mine?"), headers=BEN) as reply:
        assert reply.status == 404


async def test_pauses_are_told_and_nothing_is_lost() -> None:
    go_on = asyncio.Event()

    async def slowly() -> AsyncIterator[int]:
        yield 1
        await go_on.wait()
        yield 2

    items: list[int | None] = []
    async for item in or_pause(slowly(), seconds=0.05):
        items.append(item)
        if items.count(None) == 2:
            go_on.set()
    assert items == [1, None, None, 2]
