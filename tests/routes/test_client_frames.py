"""Any bytes at all: a frame, or a bad frame, and never anything else."""

from typing import Any

import orjson
import pytest
from aiohttp import WSMsgType
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import BadFrameError
from data_models.plan import StepEdit
from routes.client_frames import MessageFrame, StopFrame, parse_client_frame
from routes.json_input import parse_json
from tests.routes.conftest import Server

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS = st.sampled_from(
    ["type", "content", "sender", "client_message_id", "mentions", "time_zone", "press", "run_id"]
)
NEARLY = st.dictionaries(KEYS, JSON | st.sampled_from(["message", "stop", "yes"]))


def parsed(data: bytes) -> object:
    try:
        return parse_client_frame(data)
    except BadFrameError:
        return None


@given(st.binary() | JSON.map(lambda value: repr(value).encode(errors="surrogatepass")))
def test_any_bytes_are_a_frame_or_a_bad_frame(data: bytes) -> None:
    assert isinstance(parsed(data), MessageFrame | StopFrame | None)


@given(NEARLY)
def test_what_passes_is_what_was_sent(value: dict[str, Any]) -> None:
    try:
        data = orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return
    frame = parsed(data)
    if isinstance(frame, MessageFrame):
        assert frame.content == value["content"]
        assert value.get("type", "message") == "message"
    if isinstance(frame, StopFrame):
        assert value["type"] == "stop"


@pytest.mark.parametrize("levels", [32, 33])
def test_thirty_two_levels_are_enough(levels: int) -> None:
    data = b"[" * levels + b"]" * levels
    if levels == 32:
        assert parse_json(data) is not None
    else:
        with pytest.raises(BadFrameError):
            parse_json(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"content": "\\ud800"}',
        b'{"content": "\xed\xa0\x80"}',
        b'{"content": "\xff"}',
        b'{"content": NaN}',
        b'{"content": "x", "n": Infinity}',
        b'{"content": "x"} trailing',
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"",
    ],
)
def test_what_is_not_json_says_nothing_about_what_it_was(data: bytes) -> None:
    with pytest.raises(BadFrameError) as caught:
        parse_client_frame(data)
    assert caught.value.__cause__ is None
    assert "content" not in str(caught.value)


async def test_no_bytes_close_the_socket_or_reach_the_desk(server: Server) -> None:
    socket = await server.socket()
    hostile = [b"\xff\xfe", b'{"content": "\\ud800"}', b'{"content": NaN}', b"[" * 5_000, b"null"]
    for data in hostile:
        await socket.raw.send_frame(data, WSMsgType.TEXT)
        assert (await socket.next())["code"] == "bad_frame"
    await socket.raw.send_bytes(b'{"content": "binary"}')
    assert (await socket.next())["code"] == "bad_frame"
    assert server.desk.messages == []
    await socket.say("still there?")
    assert len(await socket.until_done()) == 2


def test_a_press_may_carry_steps_in_the_users_own_words() -> None:
    edits = [{"number": 2, "text": " look at\nthe brain "}, {"number": 1, "text": "  "}]
    press = {"target_id": "plan_1", "answer": "confirm", "edits": edits}
    frame = parse_client_frame(orjson.dumps({"content": "Confirm", "press": press}))
    assert isinstance(frame, MessageFrame)
    assert frame.press is not None
    assert frame.press.to_press().edits == (StepEdit(number=2, text="look at the brain"),)


def test_a_step_may_not_grow_beyond_what_a_plan_holds() -> None:
    edits = [{"number": 1, "text": "x" * 501}]
    press = {"target_id": "plan_1", "answer": "confirm", "edits": edits}
    with pytest.raises(BadFrameError):
        parse_client_frame(orjson.dumps({"content": "Confirm", "press": press}))
