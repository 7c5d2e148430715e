"""Reading an answer does not depend on how the network cut it."""

import itertools
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import ModelError, ModelOutputError
from group_chat.models.answer import AnswerReader
from group_chat.models.model_settings import CallLimits

TEXTS = st.lists(st.text(max_size=20), min_size=1, max_size=8)


def stream_of(texts: list[str], *, line_end: bytes = b"\n", space: bytes = b" ") -> bytes:
    events: list[dict[str, Any]] = [{"choices": [{"delta": {"content": text}}]} for text in texts]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    lines = [b"data:" + space + orjson.dumps(event) + line_end * 2 for event in events]
    return b": comment" + line_end * 2 + b"".join(lines) + b"data: [DONE]" + line_end * 2


def read(pieces: list[bytes]) -> tuple[str, str]:
    reader = AnswerReader(limits=CallLimits())
    shown = "".join(reader.feed(piece) for piece in [*pieces, b""])
    return shown, reader.end().text


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if a < b]


@pytest.mark.slow
@given(TEXTS, st.lists(st.integers(0, 5_000), max_size=12), st.booleans(), st.booleans())
def test_any_cut_gives_the_same_text(
    texts: list[str], places: list[int], windows: bool, tight: bool
) -> None:
    said = "a" + "".join(texts)
    data = stream_of(
        ["a", *texts], line_end=b"\r\n" if windows else b"\n", space=b"" if tight else b" "
    )
    assert read(cut(data, places)) == (said, said)


@given(st.binary(max_size=400))
def test_any_bytes_give_an_answer_or_our_own_error(data: bytes) -> None:
    reader = AnswerReader(limits=CallLimits())
    try:
        reader.feed(b"data: " + data + b"\n")
        reader.end()
    except ModelError:
        return


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "tool_calls", "function", "name",
                 "arguments", "index", "id", "finish_reason", "error", "refusal"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@given(JSON)
def test_any_json_gives_an_answer_or_our_own_error(value: object) -> None:
    for wrapped in (
        value,
        {"choices": [{"message": value}]},
        {"choices": [{"delta": {"tool_calls": value}}]},
    ):
        try:
            read([orjson.dumps(wrapped)])
        except ModelError:
            continue


def piece(said: str | dict[str, int], **rest: object) -> dict[str, object]:
    """Return a piece of a tool call; `name` and all else of `rest` stand where servers put them."""
    name = rest.pop("name", None)
    return {**rest, "function": {"arguments": said, **({"name": name} if name else {})}}


@pytest.mark.parametrize(
    "pieces",
    [
        [
            piece('{"x"', name="f", id="a"),
            piece(":1}"),
            piece({"y": 2}, name="g", id="b"),
        ],
        [piece('{"x":1}', name="f"), piece('{"y":2}', name="g")],
        [
            piece('{"x":1}', name="f", id="a", index=0),
            piece('{"y"', name="g", id="b", index=0),
            piece(":2}", index=0),
        ],
        [
            piece('{"x"', name="f", id="a", index=0),
            piece('{"y":2}', name="g", id="b", index=1),
            piece(":1}", name="f", id="a", index=0),
        ],
    ],
)
def test_calls_are_told_apart_however_they_are_numbered(pieces: list[dict[str, object]]) -> None:
    reader = AnswerReader(limits=CallLimits())
    for one in pieces:
        event = {"choices": [{"delta": {"tool_calls": [one]}}]}
        reader.feed(b"data: " + orjson.dumps(event) + b"\n\n")
    reader.feed(b'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n')
    reader.feed(b"")
    calls = reader.end().tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_of_a_content_in_parts_the_text_is_read_and_no_thought() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Perhaps."}]}
    parts = [thought, {"type": "text", "text": "Hello"}, {"type": "text", "text": "."}]
    whole = orjson.dumps({"choices": [{"message": {"content": parts}}]})
    assert read([whole]) == ("Hello.", "Hello.")


@pytest.mark.parametrize("limit", ["answer_chars", "answer_bytes"])
def test_an_answer_beyond_a_limit_is_refused(limit: str) -> None:
    limits = CallLimits(answer_chars=50) if limit == "answer_chars" else CallLimits(answer_bytes=99)
    with pytest.raises(ModelError, match="too long"):
        AnswerReader(limits=limits).feed(stream_of(["word " * 20]))


def test_the_bytes_say_what_is_a_stream_and_what_comes_whole() -> None:
    whole = b'{"choices":\n[{"message": {"content": "Hello."}}]}'
    stream = stream_of(["Hel", "lo."])
    for said in (stream, b"\xef\xbb\xbf\n" + stream, stream.removeprefix(b": comment"), whole):
        assert read([said]) == ("Hello.", "Hello.")
        assert read([said[at : at + 1] for at in range(len(said))]) == ("Hello.", "Hello.")


def shown_before_an_error(texts: list[str]) -> int:
    """Return how many characters come before the answer is broken off."""
    reader, shown = AnswerReader(limits=CallLimits()), 0
    for text in texts:
        event = {"choices": [{"delta": {"content": text}}]}
        try:
            shown += len(reader.feed(b"data: " + orjson.dumps(event) + b"\n\n"))
        except ModelOutputError:
            return shown
    pytest.fail("it was read to its end")


@pytest.mark.parametrize("loop", ["She never smoked. ", " and so on", "x", "- a\n- b\n\n" * 9])
def test_an_answer_that_goes_round_in_circles_is_broken_off(loop: str) -> None:
    assert shown_before_an_error([loop] * 1_000) < 2_500


@pytest.mark.parametrize(
    "text",
    [
        "| - | - |\n" * 12,
        "".join(f"{n}. Cycle {n} was given as planned, without problems.\n" for n in range(90)),
        "-" * 80,
    ],
)
def test_rows_of_one_form_are_no_circle(text: str) -> None:
    assert read([stream_of([text])]) == (text, text)
