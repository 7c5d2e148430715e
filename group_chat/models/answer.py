"""Reads a chat completion off the wire, streamed or whole, and refuses what is no answer."""

from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from data_models import errors
from group_chat.models.model_settings import CallLimits
from services.model_port import TokenUsage

PIECE_LIMIT_BYTES = 1_000_000
"""One streamed event, or an answer that comes whole."""
_BEFORE = b"\xef\xbb\xbf \t\r\n"
_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")
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


# What is read of a chunk, or of an answer that comes whole.


def _none_if_odd(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Pass over what servers differ in, and no answer depends on."""
    try:
        return read(value)
    except ValidationError:
        return None


Lenient = WrapValidator(_none_if_odd)
Count: TypeAlias = Annotated[int, Field(ge=0, lt=10**9)] | None


class _Function(BaseModel):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _ToolCall(BaseModel):
    index: Annotated[int, Lenient] | None = None
    id: str | None = None
    function: _Function | None = None


def _text_of_parts(value: Any) -> Any:
    """Return what is said of a content in parts, as some servers send it, without thoughts."""
    if not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
        return value
    return "".join(str(one.get("text") or "") for one in value if one.get("type") == "text")


class _Message(BaseModel):
    content: Annotated[str | None, BeforeValidator(_text_of_parts)] = None
    refusal: Any = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    delta: _Message | None = None
    message: _Message | None = None
    finish_reason: Annotated[str, Lenient] | None = None


class _Details(BaseModel):
    cached_tokens: Count = None


class _Usage(BaseModel):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    prompt_tokens_details: _Details | None = None


class _Chunk(BaseModel):
    error: Any = None
    usage: Annotated[_Usage, Lenient] | None = None
    choices: list[_Choice] | None = None


class AnswerReader:
    """Takes the bytes of one answer, gives its text as it comes, and the whole at its end.

    What does not begin with events is an answer in one piece, whatever its content type says. No
    error that is raised holds a word of the answer.
    """

    def __init__(self, *, limits: CallLimits) -> None:
        self._limits = limits
        self._rest = b""
        self._is_stream = False
        self._answer = Answer()
        self._texts: list[str] = []
        self._calls: dict[int, ToolCallParts] = {}
        self._places: dict[int, int] = {}  # of calls whose number another one has
        self._refused = False
        self._had_choice = False
        self._bytes = self._chars = self._unlooked = 0
        self._done = False

    @property
    def usage(self) -> TokenUsage | None:
        """What the server counted so far."""
        return self._answer.usage

    def is_done(self) -> bool:
        """Return whether `[DONE]`, or all bytes, were read."""
        return self._done

    def feed(self, data: bytes) -> str:
        """Return the text that `data` adds; nothing (`b""`) is the end of all bytes.

        Raises:
            ModelError: malformed, too long, or the server reports a failure.
        """
        self._bytes += len(data)
        if self._bytes > self._limits.answer_bytes:
            raise errors.ModelOutputError("the model's answer is too long")
        before = len(self._texts)
        self._rest += data or b"\n"
        if not self._is_stream:
            self._rest = self._rest.lstrip(_BEFORE)
            self._is_stream = self._rest.startswith(_EVENTS)
        if self._is_stream:
            *lines, self._rest = self._rest.split(b"\n")
            for line in filter(None, lines):
                self._line(line)
        if len(self._rest) > PIECE_LIMIT_BYTES:
            raise errors.ModelOutputError("the model's answer, or one event of it, is too long")
        if not data:
            self._done = True
            if not self._is_stream:
                self._chunk(self._rest)
        return "".join(self._texts[before:])

    def end(self) -> Answer:
        """Return the whole answer, at the end of the bytes.

        Raises:
            ModelRefusedError: the model or a content filter declined.
            ModelOutputError: cut off, empty, or without a choice.
        """
        answer, reason = self._answer, self._answer.finish_reason
        if self._refused or reason == "content_filter":
            raise errors.ModelRefusedError("the model or its content filter declined")
        if reason is None and (self._is_stream or not self._done):
            # Some servers end a stream in good order when they die or run out of time.
            raise errors.ModelOutputError("the model's answer stopped before its end")
        if reason == "length":
            raise errors.ModelOutputError("the model's answer was cut off at its length limit")
        if not self._had_choice:
            raise errors.ModelOutputError("the model's answer has no choices")
        answer.text = "".join(self._texts)
        answer.tool_calls = [self._calls[index] for index in sorted(self._calls)]
        if not answer.text.strip() and not answer.tool_calls:
            raise errors.ModelSilentError("the model's answer is empty")
        if any(not call.name for call in answer.tool_calls):
            raise errors.ModelOutputError("the model called a tool without a name")
        return answer

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
            chunk = _Chunk.model_validate_json(payload)
        except ValidationError:
            # The cause carries the text it failed on, which may name a patient.
            raise errors.ModelOutputError(
                "the model's answer is not of the expected form"
            ) from None
        if chunk.error:
            raise _reported(chunk.error)
        if chunk.usage is not None:
            details = chunk.usage.prompt_tokens_details or _Details()
            self._answer.usage = TokenUsage(
                prompt=chunk.usage.prompt_tokens or 0,
                cached=details.cached_tokens or 0,
                answer=chunk.usage.completion_tokens or 0,
            )
        if chunk.choices is None:
            raise errors.ModelOutputError("the model's answer has no list of choices")
        if not chunk.choices:
            return  # token counts, or the verdict of a prompt filter
        choice = chunk.choices[0]
        self._had_choice = True
        self._message(choice.delta or choice.message or _Message())
        if choice.finish_reason is not None:
            self._answer.finish_reason = choice.finish_reason

    def _message(self, message: _Message) -> None:
        if message.content:
            self._count_chars(len(message.content))
            self._texts.append(message.content)
            self._unlooked += len(message.content)
            if self._unlooked >= _LOOK_CHARS:
                self._unlooked = 0
                if is_looping("".join(self._texts[-_LOOP_CHARS:])[-_LOOP_CHARS:]):
                    raise errors.ModelOutputError("the model's answer repeats itself without end")
        self._refused = self._refused or bool(message.refusal)
        for part in message.tool_calls or ():
            self._tool_call(part, part.function or _Function())

    def _tool_call(self, part: _ToolCall, function: _Function) -> None:
        index = self._place(part, function)
        if index not in self._calls and len(self._calls) >= self._limits.tool_calls:
            raise errors.ModelOutputError("the model's answer calls too many tools")
        call = self._calls.setdefault(index, ToolCallParts())
        call.call_id = call.call_id or part.id or ""
        call.name = call.name or function.name or ""
        said = function.arguments or ""
        # Some servers send arguments unencoded.
        arguments = said if isinstance(said, str) else orjson.dumps(said).decode()
        self._count_chars(len(arguments))
        call.arguments += arguments

    def _place(self, part: _ToolCall, function: _Function) -> int:
        """Return which call a piece is of: some servers number none, or all of them alike."""
        last = max(self._calls, default=-1)
        if part.index is None:
            return last + 1 if part.id or function.name or last < 0 else last
        place = self._places.get(part.index, part.index)
        known = self._calls.get(place)
        if known and function.name and part.id not in (None, "", known.call_id):
            place = self._places[part.index] = last + 1
        return place

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


def _reported(problem: object) -> errors.ModelError:
    code = problem.get("code") if isinstance(problem, dict) else None
    if code == "content_filter":
        return errors.ModelRefusedError("a content filter stopped the model")
    if code == "context_length_exceeded":
        return errors.ModelWindowError(status=200)
    return errors.ModelUnavailableError("the model's server reported a failure within its answer")
