"""One call of a chat completion endpoint: bounded, retried, counted, in our own errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import ExitStack, aclosing, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import aiohttp
import structlog
from prometheus_client import CollectorRegistry

from data_models.errors import ModelError, ModelOutputError, ModelRequestError, ModelTimeoutError
from group_chat.models.answer import PIECE_LIMIT_BYTES, Answer, AnswerReader
from group_chat.models.learned import LearnedModel, chars_of, said_chars
from group_chat.models.model_server import FOREIGN, Fault, ModelServer, fault_of
from group_chat.models.model_settings import CallLimits
from services.telemetry.metrics import Metrics
from services.usage import TokenUsage, lost_seconds, note_lost_seconds, note_model_call, note_tokens

# An answer on its way in: bytes with time limits, read as text.

_DRAIN_SECONDS = 0.2
_MEDIA_STREAM = "text/event-stream"


class IncomingAnswer:
    """The answer to one request; `aclose` it, whatever happens."""

    def __init__(
        self, *, response: aiohttp.ClientResponse, limits: CallLimits, deadline: float
    ) -> None:
        self.reader = AnswerReader(limits=limits)
        self._response = response
        self._is_stream = response.headers.get("content-type", "").startswith(_MEDIA_STREAM)
        self._data: AsyncIterator[bytes] = response.content.iter_any()
        self._limits = limits
        self._deadline = deadline
        self._first_text = ""

    async def begin(self) -> None:
        """Wait for the first text, or for the whole answer where it has no text.

        Raises:
            ModelError: the answer is unusable.
            aiohttp.ClientError, OSError: the connection broke.
            TimeoutError: nothing came in time.
        """
        self._first_text = await self._read()
        if not self._first_text:
            self.reader.end()

    async def next_text(self) -> str:
        """Return more text; none at the end of the answer.

        Raises:
            ModelError: the answer broke off.
        """
        if self._first_text:
            text, self._first_text = self._first_text, ""
            return text
        try:
            return await self._read()
        except FOREIGN as error:
            raise fault_of(error).error from None  # the cause may quote the prompt

    async def aclose(self) -> None:
        """Let go of the connection; an answer that is not over is aborted."""
        self._response.close()

    async def _read(self) -> str:
        """Read until there is text, or the answer is over."""
        if self.reader.is_done():
            return ""
        if not self._is_stream:
            return self.reader.feed_whole(await self._read_whole())
        text = ""
        while not text and not self.reader.is_done() and (data := await self._next_bytes()):
            text = self.reader.feed_stream(data)
        if self.reader.is_done():
            await self._drain()
        return text

    async def _read_whole(self) -> bytes:
        body = bytearray()
        while data := await self._next_bytes():
            body += data
            if len(body) > PIECE_LIMIT_BYTES:
                raise ModelOutputError("the model's answer is too long")
        return bytes(body)

    async def _next_bytes(self) -> bytes:
        async with asyncio.timeout_at(byte_due(self._limits, self._deadline)):
            return await anext(self._data, b"")

    async def _drain(self) -> None:
        """Read what follows the last event, so that the connection can serve again."""
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in self._data:
                    pass
        except FOREIGN:
            return  # the answer is whole; its connection just cannot be used again


def byte_due(limits: CallLimits, deadline: float) -> float:
    """Return the loop's time by which the next byte must be here."""
    return min(asyncio.get_running_loop().time() + limits.idle_seconds, deadline)


Body: TypeAlias = Mapping[str, Any]

_log = structlog.get_logger()


class Completions:
    """Asks one model server. Holds connections and a bound on calls, nothing of any turn."""

    def __init__(
        self,
        *,
        server: ModelServer,
        limits: CallLimits,
        learned: LearnedModel,
        metrics: Metrics | None = None,
    ) -> None:
        self._server = server
        self.learned = learned
        self._limits = limits
        self._metrics = metrics or Metrics(registry=CollectorRegistry())
        self._slots = asyncio.Semaphore(limits.concurrent_calls)

    def deadline(self) -> float:
        """Return the loop's time by which a call, or several that belong together, must be over.

        What a turn lost on failed calls is taken off, so that a dead server costs it one
        budget and not one for each question.
        """
        limits = self._limits
        least = min(limits.least_seconds, limits.call_seconds)
        left = max(limits.call_seconds - lost_seconds(), least)
        return asyncio.get_running_loop().time() + left

    async def stream(self, body: Body, *, purpose: str) -> AsyncGenerator[str | Answer, None]:
        """Give text as it comes and, last, the whole answer.

        Failures before the first text are retried; closing or cancelling aborts the call.

        Raises:
            ModelError: every fault of client, connection, server and model.
        """
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        async with self._answering(asked, self.deadline(), purpose) as answer:
            while text := await answer.next_text():
                yield text
            yield self._whole(answer)

    async def complete(self, body: Body, *, purpose: str, deadline: float | None = None) -> Answer:
        """Return the whole answer.

        Raises:
            ModelError: every fault of client, connection, server and model.
        """
        due = self.deadline() if deadline is None else deadline
        async with self._answering(body, due, purpose) as answer:
            while await answer.next_text():
                pass
            return self._whole(answer)

    def _whole(self, incoming: IncomingAnswer) -> Answer:
        answer = incoming.reader.end()
        self.learned.note_text(answer.text)
        return answer

    @asynccontextmanager
    async def _answering(
        self, body: Body, deadline: float, purpose: str
    ) -> AsyncIterator[IncomingAnswer]:
        """Give an answer that has begun, within a slot, and let go of both at the end."""
        loop, chars = asyncio.get_running_loop(), said_chars(body["messages"])
        began, usage = loop.time(), None
        try:
            async with (
                self._slot(deadline),
                aclosing(await self._open(body, deadline, chars)) as answer,
            ):
                yield answer
                usage = answer.reader.usage
        except ModelError:
            lost = loop.time() - began
            note_lost_seconds(lost)
            self._metrics.model_called(purpose, succeeded=False, seconds=lost, prompt_chars=chars)
            raise
        took = loop.time() - began
        tokens = self._counted(usage, body)
        self._metrics.model_called(
            purpose, succeeded=True, seconds=took, prompt_chars=chars, tokens=tokens
        )

    def _counted(self, usage: TokenUsage | None, body: Body) -> TokenUsage | None:
        """Return what the server counted, with its price, for the turn and for all later calls."""
        if usage is None:
            return None
        self.learned.note_usage(usage, chars=request_chars(body))
        dollars = self.learned.profile.prices.cost(
            prompt_tokens=usage.prompt, cached_tokens=usage.cached, answer_tokens=usage.answer
        )
        priced = replace(usage, dollars=dollars)
        note_tokens(priced)
        return priced

    @asynccontextmanager
    async def _slot(self, deadline: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(deadline) if self._slots.locked() else nullcontext():
                await self._slots.acquire()
        except TimeoutError as error:
            raise ModelTimeoutError("no model call became free in time") from error
        try:
            yield
        finally:
            self._slots.release()

    async def _open(self, body: Body, deadline: float, chars: int) -> IncomingAnswer:
        """Return an answer that has its first text, or is whole."""
        retries_left = self._limits.retries
        while True:
            sent = self.learned.sent(dict(body))
            note_model_call(prompt_chars=chars)
            answer = await self._attempt(sent, deadline)
            if isinstance(answer, IncomingAnswer):
                return answer
            if self._can_do_without(answer, sent):
                continue
            pause = self._pause(answer, deadline) if retries_left > 0 else None
            retries_left -= 1
            _log.warning(
                "model_attempt_failed",
                code=answer.error.code,
                reason=str(answer.error),
                tries_again=pause is not None,
            )
            if pause is None:
                raise answer.error
            await asyncio.sleep(pause)

    async def _attempt(self, body: Body, deadline: float) -> IncomingAnswer | Fault:
        """Send one request and wait for the first text."""
        with ExitStack() as failed:
            try:
                async with asyncio.timeout_at(byte_due(self._limits, deadline)):
                    response = await self._server.complete(body)
                if isinstance(response, Fault):
                    return response
                failed.callback(response.close)
                answer = IncomingAnswer(response=response, limits=self._limits, deadline=deadline)
                await answer.begin()
            except ModelError as error:
                return Fault(error)
            except FOREIGN as error:
                return fault_of(error)
            failed.pop_all()
            return answer

    def _can_do_without(self, fault: Fault, sent: dict[str, Any]) -> bool:
        if not isinstance(fault.error, ModelRequestError):
            return False
        return self.learned.can_do_without(fault.error.param, sent)

    def _pause(self, fault: Fault, deadline: float) -> float | None:
        """Return seconds to wait before the next attempt, or None if there is to be none."""
        if not fault.error.retryable:
            return None
        pause = random.uniform(0.2, 0.6)
        if fault.retry_after_seconds is not None:
            if fault.retry_after_seconds > self._limits.retry_after_seconds:
                return None
            pause = fault.retry_after_seconds + random.uniform(0, 0.1)
        left = deadline - asyncio.get_running_loop().time()
        return pause if pause < left else None


def request_chars(body: Body) -> int:
    """Return the characters of all that a model reads of `body`, tools and schema included."""
    return chars_of(body["messages"], [body.get("tools") or "", body.get("response_format") or ""])
