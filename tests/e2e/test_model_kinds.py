"""A long talk with boards on servers of every kind: each message is answered whole."""

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from bench.token_talk import TALK
from bench.tokens import prompt_tokens, talk
from tests.amounts import amount
from tests.fakes_openai import Brain, RecordedRequest, Reply

pytestmark = [pytest.mark.slow, pytest.mark.large]

WINDOW = 8_192


def refusal(message: str, *, code: str | None = None, param: str | None = None) -> Reply:
    problem = {"error": {"message": message, "code": code, "param": param}}
    return Reply(status=400, body=orjson.dumps(problem))


def strict(model: Brain) -> Brain:
    """A template that takes one system message, then user and assistant in turns."""

    def answer(request: RecordedRequest) -> Reply:
        roles = [row["role"] for row in request.messages]
        talk = roles[1:] if roles[0] == "system" else roles
        talk = talk[: talk.index("tool") - 1] if "tool" in talk else talk
        turns = ["user" if place % 2 == 0 else "assistant" for place in range(len(talk))]
        if talk != turns or any("name" in row for row in request.messages):
            return refusal("Conversation roles must alternate user/assistant/user/assistant/…")
        return model(request)

    return answer


def small(model: Brain) -> Brain:
    """A window of 8,192 tokens, answer included."""

    def answer(request: RecordedRequest) -> Reply:
        if prompt_tokens(request) + int(request.body["max_tokens"]) > WINDOW:
            text = f"This model's maximum context length is {WINDOW} tokens"
            return refusal(text, code="context_length_exceeded")
        return model(request)

    return answer


def unforced(model: Brain) -> Brain:
    def answer(request: RecordedRequest) -> Reply:
        if request.body.get("tool_choice", "auto") != "auto":
            return refusal("tool_choice is not supported")
        return model(request)

    return answer


def schemaless(model: Brain) -> Brain:
    def answer(request: RecordedRequest) -> Reply:
        if "response_format" in request.body:
            return refusal("response_format is not supported", param="response_format")
        return model(request)

    return answer


def reasoning(model: Brain) -> Brain:
    """Thinks aloud, takes no temperature, and names the longest answer otherwise."""

    def answer(request: RecordedRequest) -> Reply:
        for name in ("temperature", "max_tokens"):
            if name in request.body:
                return refusal(f"Unsupported parameter: '{name}'", param=name)
        said = model(request)
        thought = "<think>The user wants *Radiology*, I will ask {it}.</think>\n"
        return Reply(text=thought + (said.text or ""), tool_calls=said.tool_calls, chunk_chars=7)

    return answer


def toolless(model: Brain) -> Brain:
    """Takes no tools: reads them in the instructions, and writes its calls as text."""

    def answer(request: RecordedRequest) -> Reply:
        if "tools" in request.body:
            return refusal("registry.ollama.ai/library/llama does not support tools")
        said = model(with_tools(request))
        calls = [
            f'<tool_call>{{"name": "{one.name}", "arguments": {one.arguments_text}}}</tool_call>'
            for one in said.tool_calls
        ]
        return Reply(text="\n".join([said.text or "", *calls]).strip(), chunk_chars=11)

    return answer


def with_tools(request: RecordedRequest) -> RecordedRequest:
    """What a model understands of tools that are only written down."""
    body: dict[str, Any] = orjson.loads(request.raw)
    listed = re.search(r"<tools>\n(.*)\n</tools>", str(body["messages"][0]["content"]), re.DOTALL)
    if listed is not None:
        functions = [orjson.loads(line) for line in listed[1].splitlines()]
        body["tools"] = [{"type": "function", "function": one} for one in functions]
    last = body["messages"][-1]
    if str(last["content"]).startswith("<tool_response>"):
        last["role"] = "tool"
    return RecordedRequest(path=request.path, head=request.head, raw=orjson.dumps(body))


KINDS: dict[str, tuple[Callable[[Brain], Brain], dict[str, str]]] = {
    "strict template": (strict, {}),
    "8k window": (small, {}),
    "8k window, told": (small, {"MODEL_CONTEXT_TOKENS": str(WINDOW)}),
    "no forced tools": (unforced, {}),
    "no schema": (schemaless, {}),
    "reasoning": (reasoning, {}),
    "no tools": (toolless, {}),
}


# Only a window is filled by a long talk; the first half has a board and every kind of call.
FIRST_HALF = TALK[: amount(by_day=15, by_night=len(TALK))]


@pytest.mark.parametrize("kind", KINDS)
async def test_every_turn_of_a_talk_with_boards_is_answered_whole(kind: str) -> None:
    server_of, settings = KINDS[kind]
    parts = TALK if server_of is small else FIRST_HALF
    turns = await talk(server_of, parts=parts, call_seconds=0.0, **settings)
    assert [turn.part for turn in turns] == list(parts)
    silent = {"", "yes", "thanks"}
    unanswered = [
        turn.part.text
        for turn in turns
        if not turn.requests
        and not turn.part.text.startswith("switch")
        and turn.part.text not in silent
    ]
    assert unanswered == []
