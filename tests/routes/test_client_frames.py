"""Any bytes at all: a frame, or a bad frame, and never anything else."""

import json
from random import Random
from typing import Any

import orjson
import pytest
from aiohttp import WSMsgType
from hypothesis import given, settings
from hypothesis import strategies as st

from data_models.conversations.plan import StepEdit
from data_models.errors import BadFrameError
from routes.requests.json_input import parse_json
from routes.streams.socket_session import MessageFrame, StopFrame, parse_client_frame
from tests.amounts import amount
from tests.routes.conftest import Server

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS_OF_FRAMES = (
    *("type", "content", "sender", "client_message_id", "mentions", "time_zone", "press", "run_id"),
)
KEYS = st.sampled_from(KEYS_OF_FRAMES)
NEARLY = st.dictionaries(KEYS, JSON | st.sampled_from(["message", "stop", "yes"]))


def parsed(data: bytes) -> object:
    try:
        return parse_client_frame(data)
    except BadFrameError:
        return None


@pytest.mark.slow
@given(st.binary() | JSON.map(lambda value: repr(value).encode(errors="surrogatepass")))
def test_any_bytes_are_a_frame_or_a_bad_frame(data: bytes) -> None:
    assert isinstance(parsed(data), MessageFrame | StopFrame | None)


@pytest.mark.slow
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


def made_by(seed: int) -> bytes:
    """A frame by chance: drawing every choice by itself would take a hundred times as long."""
    chance = Random(seed)
    names = [name for name in KEYS_OF_FRAMES if chance.random() < 0.3]
    frame = {name: value_by(chance, 0) for name in names} | {"content": value_by(chance, 2)}
    data = json.dumps(frame, ensure_ascii=False).encode(errors="surrogatepass")
    if chance.random() < 0.5:
        return data
    cut = chance.randrange(len(data))
    return data[:cut] + chance.randbytes(chance.randrange(3)) + data[cut + chance.randrange(3) :]


def value_by(chance: Random, depth: int) -> Any:
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind < 3:
        return chance.choice(["a", "", "yes", "message", "stop", "x" * 501, "\x00", "\ud800", "é"])
    if kind < 7:
        return chance.choice([None, True, 0, -1, 10**30, 0.5, float("nan"), float("inf")])
    inner = [value_by(chance, depth + 1) for _ in range(chance.randrange(4))]
    words = [*KEYS_OF_FRAMES, "target_id", "answer", "steps", "edits", "number", "text"]
    return inner if kind == 7 else {chance.choice(words): each for each in inner}


@pytest.mark.slow
@settings(max_examples=amount(by_day=200, by_night=5_000))
@given(st.integers(0, 2**48))
def test_thousands_of_frames_are_read_or_refused(seed: int) -> None:
    data = made_by(seed)
    frame = parsed(data)
    assert isinstance(frame, MessageFrame | StopFrame | None)
    if isinstance(frame, MessageFrame):
        assert frame.content == orjson.loads(data)["content"]


def test_frames_by_chance_are_of_either_kind() -> None:
    found = [parsed(made_by(seed)) for seed in range(200)]
    assert None in found
    assert any(isinstance(frame, MessageFrame) for frame in found)
    assert any(isinstance(frame, StopFrame) for frame in found)


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


@pytest.mark.slow
async def test_no_bytes_close_the_socket_or_reach_the_desk(server: Server) -> None:
    socket = await server.socket()
    hostile = [b"\xff\xfe", b'{"content": "\\ud800"}', b'{"content": NaN}', b"[" * 5_000, b"null"]
    for data in hostile:
        await socket.raw.send_frame(data, WSMsgType.TEXT)
        assert (await socket.until_done())[0]["code"] == "bad_frame"
    await socket.raw.send_bytes(b'{"content": "binary"}')
    assert (await socket.until_done())[0]["code"] == "bad_frame"
    assert server.scheduler.messages == []
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
