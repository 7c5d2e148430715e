"""One call of a chat completion endpoint: bounded, retried, counted, in our own errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, Protocol, TypeAlias

import httpx2
import structlog
from openai import AsyncOpenAI, RequestOptions

from data_models.errors import (
    ModelError,
    ModelRequestError,
    ModelTimeoutError,
)
from group_chat.models.answer import Answer
from group_chat.models.faults import FOREIGN, Fault, fault_of
from group_chat.models.incoming import IncomingAnswer, byte_due
from group_chat.models.model_settings import CallLimits
from services.usage import lost_seconds, note_lost_seconds, note_model_call

Body: TypeAlias = Mapping[str, Any]

_log = structlog.get_logger()
_UNREAD: RequestOptions = {"headers": {"X-Stainless-Raw-Response": "stream"}}
"""Tells the openai client to hand the answer over unread."""
_DISPENSABLE = frozenset({"temperature", "parallel_tool_calls"})
"""What some models refuse by name, as reasoning models do a temperature."""


class CallObserver(Protocol):
    """Is told of every call that ended by itself; `services.telemetry.Metrics` has one."""

    def __call__(self, purpose: str, *, succeeded: bool, seconds: float, prompt_chars: int) -> None:
        """Take note of one call."""
        ...


def unobserved(purpose: str, *, succeeded: bool, seconds: float, prompt_chars: int) -> None:
    """Take no note of a call."""


class Completions:
    """Asks one model server. Holds connections and a bound on calls, nothing of any turn."""

    def __init__(
        self, *, client: AsyncOpenAI, limits: CallLimits, observe: CallObserver = unobserved
    ) -> None:
        self._client = client
        self._limits = limits
        self._observe = observe
        self._slots = asyncio.Semaphore(limits.concurrent_calls)
        self._refused: set[str] = set()

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
        async with self._answering({**body, "stream": True}, self.deadline(), purpose) as answer:
            while text := await answer.next_text():
                yield text
            yield answer.reader.end()

    async def complete(self, body: Body, *, purpose: str, deadline: float | None = None) -> Answer:
        """Return the whole answer.

        Raises:
            ModelError: every fault of client, connection, server and model.
        """
        due = self.deadline() if deadline is None else deadline
        async with self._answering(body, due, purpose) as answer:
            while await answer.next_text():
                pass
            return answer.reader.end()

    @asynccontextmanager
    async def _answering(
        self, body: Body, deadline: float, purpose: str
    ) -> AsyncIterator[IncomingAnswer]:
        """Give an answer that has begun, within a slot, and let go of both at the end."""
        loop, chars = asyncio.get_running_loop(), prompt_chars(body)
        began = loop.time()
        try:
            async with self._slot(deadline), aclosing(await self._open(body, deadline)) as answer:
                yield answer
        except ModelError:
            lost = loop.time() - began
            note_lost_seconds(lost)
            self._observe(purpose, succeeded=False, seconds=lost, prompt_chars=chars)
            raise
        took = loop.time() - began
        self._observe(purpose, succeeded=True, seconds=took, prompt_chars=chars)

    @asynccontextmanager
    async def _slot(self, deadline: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError as error:
            raise ModelTimeoutError("no model call became free in time") from error
        try:
            yield
        finally:
            self._slots.release()

    async def _open(self, body: Body, deadline: float) -> IncomingAnswer:
        """Return an answer that has its first text, or is whole."""
        retries_left = self._limits.retries
        while True:
            sent = {key: value for key, value in body.items() if key not in self._refused}
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
        note_model_call(prompt_chars=prompt_chars(body))
        async with AsyncExitStack() as failed:
            try:
                async with asyncio.timeout_at(byte_due(self._limits, deadline)):
                    response = await self._client.post(
                        "/chat/completions", cast_to=httpx2.Response, body=body, options=_UNREAD
                    )
                failed.push_async_callback(response.aclose)
                answer = IncomingAnswer(response=response, limits=self._limits, deadline=deadline)
                await answer.begin()
            except ModelError as error:
                return Fault(error)
            except FOREIGN as error:
                return fault_of(error)
            failed.pop_all()
            return answer

    def _can_do_without(self, fault: Fault, sent: Body) -> bool:
        """Learn, for the life of the process, which parameter the server does not take."""
        if not isinstance(fault.error, ModelRequestError):
            return False
        param = fault.error.param
        if param not in _DISPENSABLE or param not in sent:
            return False
        self._refused.add(param)
        return True

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


def prompt_chars(body: Body) -> int:
    """Return the characters of all messages in `body`, tool calls and results included."""
    total = 0
    for message in body["messages"]:
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [part["text"] for part in content]
        total += sum(len(part) for part in parts)
        for call in message.get("tool_calls") or ():
            total += len(call["function"]["arguments"] or "")
    return total
