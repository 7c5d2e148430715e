"""One call of a chat completion endpoint: bounded, retried, counted, in our own errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
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
from group_chat.models.fit import chars_of
from group_chat.models.incoming import IncomingAnswer, byte_due
from group_chat.models.learned import LearnedModel
from group_chat.models.model_settings import CallLimits
from services.usage import (
    TokenUsage,
    lost_seconds,
    note_lost_seconds,
    note_model_call,
    note_tokens,
)

Body: TypeAlias = Mapping[str, Any]

_log = structlog.get_logger()
_UNREAD: RequestOptions = {"headers": {"X-Stainless-Raw-Response": "stream"}}
"""Tells the openai client to hand the answer over unread."""


class CallObserver(Protocol):
    """Is told of every call that ended by itself; `services.telemetry.Metrics` has one."""

    def __call__(
        self,
        purpose: str,
        *,
        succeeded: bool,
        seconds: float,
        prompt_chars: int,
        tokens: TokenUsage | None,
    ) -> None:
        """Take note of one call; `tokens` as the server counted them."""
        ...


def unobserved(
    purpose: str,
    *,
    succeeded: bool,
    seconds: float,
    prompt_chars: int,
    tokens: TokenUsage | None,
) -> None:
    """Take no note of a call."""


class Completions:
    """Asks one model server. Holds connections and a bound on calls, nothing of any turn."""

    def __init__(
        self,
        *,
        client: AsyncOpenAI,
        limits: CallLimits,
        learned: LearnedModel,
        observe: CallObserver = unobserved,
    ) -> None:
        self._client = client
        self.learned = learned
        self._limits = limits
        self._observe = observe
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
        began, usage = loop.time(), None
        try:
            async with self._slot(deadline), aclosing(await self._open(body, deadline)) as answer:
                yield answer
                usage = answer.reader.usage
        except ModelError:
            lost = loop.time() - began
            note_lost_seconds(lost)
            self._observe(purpose, succeeded=False, seconds=lost, prompt_chars=chars, tokens=None)
            raise
        took = loop.time() - began
        tokens = self._counted(usage, body)
        self._observe(purpose, succeeded=True, seconds=took, prompt_chars=chars, tokens=tokens)

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
            sent = self.learned.sent(dict(body))
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
