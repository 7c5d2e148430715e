"""An OpenAI-compatible server on loopback, for tests, benches and trying things by hand.

It speaks HTTP/1.1 straight from an asyncio protocol, because in a bench it shares the machine with
the server it measures. It keeps every request it saw, and it can break in every way that a
model's server breaks.

    async with FakeOpenAI() as model:
        model.queue(Reply(text="Hello"), Reply(status=429, headers={"Retry-After": "1"}))
        ...                                  # talk to model.base_url
        assert "patient_4" not in model.requests[0].text
"""

import argparse
import asyncio
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self, TypeAlias

import orjson

HEAD_END = b"\r\n\r\n"
EVENT_STREAM = "text/event-stream"
_MARKED = re.compile(r"(?s)<<(\w+) (\w+)>>.*?<<END \2>>\s*")


@dataclass(frozen=True)
class ToolCall:
    """One call the model asks for; `arguments` may be text that is no JSON."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str = ""

    @property
    def arguments_text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return orjson.dumps(self.arguments).decode()


@dataclass(frozen=True)
class Reply:
    """One answer, or one way to fail.

    Attributes:
        text: What the model says; None is the JSON null.
        chunk_chars: Characters of one streamed event.
        tokens_per_second: Pace of the stream, one event a token; None is all at once.
        delay_seconds: Time before the first byte.
        body: Sent as it is in place of a made-up answer.
        drop_after_bytes: The connection is reset after this many bytes of the answer; below zero,
            before its head, as a kept-alive connection that has become stale.
        end_stream: False leaves out the finish reason and `[DONE]`, as a dying server does.
        choices: False sends an answer without choices.
    """

    text: str | None = ""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunk_chars: int = 24
    tokens_per_second: float | None = None
    delay_seconds: float = 0.0
    body: bytes | None = None
    content_type: str = "application/json"
    drop_after_bytes: int | None = None
    end_stream: bool = True
    choices: bool = True


class RecordedRequest:
    """One request as it came over the wire; it is parsed only when somebody looks."""

    def __init__(self, *, path: str, head: bytes, raw: bytes) -> None:
        self.path = path
        self.head = head
        self.raw = raw
        self.was_aborted = False

    @cached_property
    def body(self) -> dict[str, Any]:
        parsed = orjson.loads(self.raw)
        assert isinstance(parsed, dict)
        return parsed

    @property
    def text(self) -> str:
        """The whole body as text, with escapes undone, for canary searches."""
        return orjson.dumps(self.body).decode()

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def instructions(self) -> str:
        first = self.messages[0]
        return str(first["content"]) if first["role"] in {"system", "developer"} else ""

    @property
    def asked(self) -> str:
        """The last message of the user's side, with what the server puts before the words."""
        asked = (str(row["content"]) for row in self.messages[::-1] if row["role"] == "user")
        return next(asked, "")

    @property
    def said(self) -> str:
        """The user's last words, without what the server puts before them."""
        return _MARKED.sub("", self.asked)

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    def header(self, name: str) -> str | None:
        wanted = name.lower().encode()
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == wanted:
                return value.strip().decode()
        return None


Brain: TypeAlias = Callable[[RecordedRequest], Reply]


def echo(request: RecordedRequest) -> Reply:
    """The brain of a server nobody told anything: repeats the end of the last message."""
    return Reply(text=f"You said: {str(request.messages[-1].get('content'))[-80:]}")


class FakeOpenAI:
    """The server. Queued replies come first, in order; then `brain` answers."""

    def __init__(
        self, *, brain: Brain = echo, port: int = 0, keep_requests: int | None = None
    ) -> None:
        self.brain = brain
        self.requests: deque[RecordedRequest] = deque(maxlen=keep_requests)
        self.connections = 0
        self.models_reply = Reply(body=orjson.dumps(MODELS))
        """What `GET /models` answers."""
        self.pace: float | None = None
        """Tokens per second of every reply that names no pace of its own."""
        self.delay_seconds = 0.0
        """Time before the first byte of every reply that names no delay of its own."""
        self.is_hasty = False
        """Whether what is left of paced replies is said at once, those under way included."""
        self._port = port
        self._queue: deque[Reply] = deque()
        self._server: asyncio.Server | None = None
        self._open: set[_Connection] = set()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._open):
            connection.drop()
        await asyncio.sleep(0)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def queue(self, *replies: Reply) -> None:
        self._queue.extend(replies)

    def assert_finished(self) -> None:
        """Every queued reply was asked for."""
        assert not self._queue, f"{len(self._queue)} queued replies were never asked for"

    def attach(self, connection: "_Connection") -> None:
        self.connections += 1
        self._open.add(connection)

    def detach(self, connection: "_Connection") -> None:
        self._open.discard(connection)

    def reply_to(self, request: RecordedRequest) -> Reply:
        self.requests.append(request)
        reply = self._queue.popleft() if self._queue else self.brain(request)
        if reply.tokens_per_second is None and self.pace is not None:
            reply = replace(reply, tokens_per_second=self.pace)
        if not reply.delay_seconds and self.delay_seconds:
            reply = replace(reply, delay_seconds=self.delay_seconds)
        return reply


class _Connection(asyncio.Protocol):
    """One keep-alive connection; requests on it are answered in turn."""

    def __init__(self, server: FakeOpenAI) -> None:
        self._server = server
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._answering: asyncio.Task[None] | None = None
        self._request: RecordedRequest | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.attach(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.detach(self)
        if self._answering is not None and self._request is not None:
            self._request.was_aborted = True
            self._answering.cancel()

    def drop(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._answering is None:
            self._next()

    def _next(self) -> None:
        end = self._buffer.find(HEAD_END)
        if end < 0:
            return
        head = bytes(self._buffer[:end])
        start = end + len(HEAD_END)
        length = _content_length(head)
        if len(self._buffer) < start + length:
            return
        raw = bytes(self._buffer[start : start + length])
        del self._buffer[: start + length]
        self._handle(head, raw)

    def _handle(self, head: bytes, raw: bytes) -> None:
        path = head.split(b" ", 2)[1].decode().partition("?")[0]
        if path.endswith("/models"):
            self._write(_answer(self._server.models_reply, streamed=False))
            return
        if not path.endswith("/chat/completions"):
            self._write(_whole(404, b'{"error":{"message":"no"}}', {}, "application/json"))
            return
        request = RecordedRequest(path=path, head=head, raw=raw)
        reply = self._server.reply_to(request)
        streamed = b'"stream":true' in raw or b'"stream": true' in raw
        if reply.delay_seconds or reply.drop_after_bytes is not None or reply.tokens_per_second:
            self._request = request
            self._answering = asyncio.create_task(self._slowly(reply, streamed=streamed))
            self._answering.add_done_callback(self._done)
        else:
            self._write(_answer(reply, streamed=streamed))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._answering = None
        if not task.cancelled() and task.exception() is None:
            self._next()

    async def _slowly(self, reply: Reply, *, streamed: bool) -> None:
        await asyncio.sleep(reply.delay_seconds)
        whole = _answer(reply, streamed=streamed)
        if reply.drop_after_bytes is not None and reply.drop_after_bytes < 0:
            self.drop()
        elif reply.drop_after_bytes is not None:
            self._write(whole[: whole.find(HEAD_END) + len(HEAD_END) + reply.drop_after_bytes])
            await asyncio.sleep(0.01)
            self.drop()
        elif streamed and reply.tokens_per_second:
            await self._paced(reply, 1.0 / reply.tokens_per_second)
        else:
            self._write(whole)

    async def _paced(self, reply: Reply, pause_seconds: float) -> None:
        self._write(_head(200, {}, EVENT_STREAM, b"Transfer-Encoding: chunked"))
        loop = asyncio.get_running_loop()
        due = loop.time()
        for event in _events(reply):
            self._write(b"%x\r\n%b\r\n" % (len(event), event))
            due += pause_seconds
            await asyncio.sleep(0.0 if self._server.is_hasty else max(0.0, due - loop.time()))
        self._write(b"0\r\n\r\n")

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


MODELS = {"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "tests"}]}


def _content_length(head: bytes) -> int:
    at = head.lower().find(b"\r\ncontent-length:")
    if at < 0:
        return 0
    return int(head[at + 17 :].split(b"\r\n", 1)[0])


def _head(status: int, headers: Mapping[str, str], content_type: str, length: bytes) -> bytes:
    extra = b"".join(b"%b: %b\r\n" % (k.encode(), v.encode()) for k, v in headers.items())
    kind = content_type.encode()
    return b"HTTP/1.1 %d X\r\nContent-Type: %b\r\n%b%b\r\n\r\n" % (status, kind, extra, length)


def _whole(status: int, body: bytes, headers: Mapping[str, str], content_type: str) -> bytes:
    return _head(status, headers, content_type, b"Content-Length: %d" % len(body)) + body


def _answer(reply: Reply, *, streamed: bool) -> bytes:
    if reply.body is not None:
        return _whole(reply.status, reply.body, reply.headers, reply.content_type)
    if reply.status >= 400:
        problem = {"error": {"message": "scripted failure", "type": "test", "code": None}}
        return _whole(reply.status, orjson.dumps(problem), reply.headers, "application/json")
    if streamed:
        return _whole(reply.status, b"".join(_events(reply)), reply.headers, EVENT_STREAM)
    return _whole(reply.status, _completion(reply), reply.headers, "application/json")


def _finish_reason(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": call.call_id or f"call_{index}_{call.name}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_text},
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def _completion(reply: Reply) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply)
    if reply.refusal is not None:
        message |= {"refusal": reply.refusal, "content": None}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    return orjson.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake",
            "choices": [choice] if reply.choices else [],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    )


_CHUNK_HEAD = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"fake",'
    b'"choices":['
)


def _event(delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"%b%b]}\n\n" % (_CHUNK_HEAD, orjson.dumps(choice))


def _events(reply: Reply) -> list[bytes]:
    if not reply.choices:
        return [_CHUNK_HEAD + b"]}\n\n", b"data: [DONE]\n\n"]
    events = [_event({"role": "assistant", "content": ""})]
    if reply.refusal is not None:
        events.append(_event({"refusal": reply.refusal}))
    text = reply.text or ""
    step = reply.chunk_chars
    events += [_event({"content": text[at : at + step]}) for at in range(0, len(text), step)]
    for call in _calls(reply):
        events += _call_events(call, step)
    if reply.end_stream:
        events += [_event({}, _finish_reason(reply)), b"data: [DONE]\n\n"]
    return events


def _call_events(call: dict[str, Any], step: int) -> list[bytes]:
    """A tool call as servers stream it: first its name, then its arguments in pieces."""
    arguments = call["function"]["arguments"]
    first = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
    pieces = [arguments[at : at + step] for at in range(0, len(arguments), step)]
    later = [{"index": call["index"], "function": {"arguments": piece}} for piece in pieces]
    return [_event({"tool_calls": [part]}) for part in (first, *later)]


async def serve(*, port: int, tokens_per_second: float | None, delay_seconds: float) -> None:
    """Serve with the generic brain until the process ends."""
    from tests.fakes_openai_brain import brain

    server = FakeOpenAI(brain=brain, port=port, keep_requests=1)
    server.pace, server.delay_seconds = tokens_per_second, delay_seconds
    async with server:
        print(server.base_url, flush=True)  # noqa: T201 - who starts it waits for this line
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tokens-per-second", type=float, default=None)
    parser.add_argument("--delay-seconds", type=float, default=0.0)
    options = parser.parse_args()
    asyncio.run(
        serve(
            port=options.port,
            tokens_per_second=options.tokens_per_second,
            delay_seconds=options.delay_seconds,
        )
    )


if __name__ == "__main__":
    main()
