"""Reads a chat completion off the wire, streamed or whole, and refuses what is no answer."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from data_models import errors
from group_chat.models.model_settings import CallLimits
from services.usage import TokenUsage

PIECE_LIMIT_BYTES = 1_000_000
"""One streamed event, or an answer that comes whole."""
_LOOK_CHARS, _LOOP_CHARS, _LOOP_END_CHARS = 400, 3_000, 40
_LEAST_TIMES, _LEAST_CHARS = 4, 600


@dataclass(slots=True)
class ToolCallParts:
    """One tool call as its pieces come in."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Answer:
    """What the model said.

    Attributes:
        finish_reason: As the server named it; None until it did.
        usage: What the server counted; None where it does not count.
    """

    text: str = ""
    tool_calls: list[ToolCallParts] = field(default_factory=list)
    finish_reason: str | None = None
    usage: TokenUsage | None = None


class AnswerReader:
    """Takes the bytes of one answer, gives its text as it comes, and the whole at its end.

    No error it raises holds a word of the answer.
    """

    def __init__(self, *, limits: CallLimits) -> None:
        self._limits = limits
        self._rest = b""
        self._texts: list[str] = []
        self._calls: dict[int, ToolCallParts] = {}
        self._finish_reason: str | None = None
        self.usage: TokenUsage | None = None
        """What the server counted so far."""
        self._is_stream = False
        self._refused = False
        self._had_choice = False
        self._bytes = 0
        self._chars = self._unlooked = 0
        self._done = False

    def is_done(self) -> bool:
        """Return whether `[DONE]`, or a whole answer, was read."""
        return self._done

    def feed_stream(self, data: bytes) -> str:
        """Return the text that `data` adds.

        Raises:
            ModelError: malformed, too long, or the server reports a failure.
        """
        self._is_stream = True
        self._bytes += len(data)
        if self._bytes > self._limits.answer_bytes:
            raise errors.ModelOutputError("the model's answer is too long")
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > PIECE_LIMIT_BYTES:
            raise errors.ModelOutputError("one event of the model's answer is too long")
        before = len(self._texts)
        for line in filter(None, lines):
            self._line(line)
        return "".join(self._texts[before:])

    def feed_whole(self, body: bytes) -> str:
        """Return the text of an answer that came in one piece.

        Raises:
            ModelError: malformed, too long, or the server reports a failure.
        """
        if len(body) > PIECE_LIMIT_BYTES:
            raise errors.ModelOutputError("the model's answer is too long")
        if body.lstrip().startswith(b"data:"):  # a stream under a wrong content type
            return self.feed_stream(body + b"\n")
        self._chunk(body)
        self._done = True
        return "".join(self._texts)

    def end(self) -> Answer:
        """Return the whole answer, at the end of the bytes.

        Raises:
            ModelRefusedError: the model or a content filter declined.
            ModelOutputError: cut off, empty, or without a choice.
        """
        if self._refused or self._finish_reason == "content_filter":
            raise errors.ModelRefusedError("the model or its content filter declined")
        if self._finish_reason is None and (self._is_stream or not self._done):
            # Some servers end a stream in good order when they die or run out of time.
            raise errors.ModelOutputError("the model's answer stopped before its end")
        if self._finish_reason == "length":
            raise errors.ModelOutputError("the model's answer was cut off at its length limit")
        if not self._had_choice:
            raise errors.ModelOutputError("the model's answer has no choices")
        text = "".join(self._texts)
        calls = [self._calls[index] for index in sorted(self._calls)]
        if not text.strip() and not calls:
            raise errors.ModelSilentError("the model's answer is empty")
        if any(not call.name for call in calls):
            raise errors.ModelOutputError("the model called a tool without a name")
        return Answer(
            text=text, tool_calls=calls, finish_reason=self._finish_reason, usage=self.usage
        )

    def _line(self, line: bytes) -> None:
        line = line.strip()
        if not line.startswith(b"data:"):
            return  # comments, event names and blank lines
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self._done = True
        elif payload:
            self._chunk(payload)

    def _chunk(self, payload: bytes) -> None:
        try:
            parsed = orjson.loads(payload)
        except orjson.JSONDecodeError:
            # The decoder's error carries the text it failed on, which may name a patient.
            raise errors.ModelOutputError("the model's answer is not JSON") from None
        chunk = _dict_of(parsed)
        if chunk.get("error"):
            raise _reported(chunk["error"])
        counted = chunk.get("usage")
        if isinstance(counted, dict):
            details = counted.get("prompt_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else 0
            self.usage = TokenUsage(
                prompt=_count_of(counted.get("prompt_tokens")),
                cached=_count_of(cached),
                answer=_count_of(counted.get("completion_tokens")),
            )
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            raise errors.ModelOutputError("the model's answer has no list of choices")
        if not choices:
            return  # token counts, or the verdict of a prompt filter
        choice = _dict_of(choices[0])
        self._had_choice = True
        self._message(_dict_of(choice.get("delta") or choice.get("message") or {}))
        reason = choice.get("finish_reason")
        if isinstance(reason, str):
            self._finish_reason = reason

    def _message(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise errors.ModelOutputError("the model's answer is not text")
        if content:
            self._count_chars(len(content))
            self._texts.append(content)
            self._unlooked += len(content)
            if self._unlooked >= _LOOK_CHARS:
                self._unlooked = 0
                if is_looping("".join(self._texts[-_LOOP_CHARS:])[-_LOOP_CHARS:]):
                    raise errors.ModelOutputError("the model's answer repeats itself without end")
        if message.get("refusal"):
            self._refused = True
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            raise errors.ModelOutputError("the model's tool calls are no list")
        for part in calls:
            self._tool_call(_dict_of(part))

    def _tool_call(self, part: dict[str, Any]) -> None:
        index = part.get("index")
        if not isinstance(index, int):
            # Some servers number no calls: a piece with an id begins one, others go on with it.
            last = max(self._calls, default=-1)
            index = last + 1 if part.get("id") or last < 0 else last
        if index not in self._calls and len(self._calls) >= self._limits.tool_calls:
            raise errors.ModelOutputError("the model's answer calls too many tools")
        call = self._calls.setdefault(index, ToolCallParts())
        function = _dict_of(part.get("function") or {})
        call.call_id = call.call_id or _text_of(part.get("id"))
        call.name = call.name or _text_of(function.get("name"))
        arguments = _text_of(function.get("arguments"))
        self._count_chars(len(arguments))
        call.arguments += arguments

    def _count_chars(self, size: int) -> None:
        self._chars += size
        if self._chars > self._limits.answer_chars:
            raise errors.ModelOutputError("the model's answer is too long")


def is_looping(text: str) -> bool:
    """Whether `text` ends in the same words again and again, as small models come to do."""
    end = text[-_LOOP_END_CHARS:]
    before = text.rfind(end, 0, -1)
    period = len(text) - len(end) - before
    times = max(_LEAST_TIMES, -(-_LEAST_CHARS // period))
    return before >= 0 and text.endswith(text[-period:] * times)


def _count_of(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0


def _dict_of(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise errors.ModelOutputError("the model's answer is not of the expected shape")
    return value


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return orjson.dumps(value).decode()  # some servers send arguments unencoded
    if not isinstance(value, str):
        raise errors.ModelOutputError("the model's answer is not of the expected shape")
    return value


def _reported(problem: object) -> errors.ModelError:
    code = problem.get("code") if isinstance(problem, dict) else None
    if code == "content_filter":
        return errors.ModelRefusedError("a content filter stopped the model")
    if code == "context_length_exceeded":
        return errors.ModelWindowError(status=200)
    return errors.ModelUnavailableError("the model's server reported a failure within its answer")
