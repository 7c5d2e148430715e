"""One call of a chat completion endpoint: bounded, retried, counted, in our own errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import aiohttp
import structlog
from prometheus_client import CollectorRegistry

from data_models import errors
from group_chat.models.answer import Answer, AnswerReader
from group_chat.models.learned import LearnedModel, chars_of, said_chars
from group_chat.models.model_server import ModelServer, within
from group_chat.models.model_settings import CallLimits
from services import model_port
from services.telemetry.metrics import Metrics

_DRAIN_SECONDS = 0.2


class IncomingAnswer(NamedTuple):
    """An answer that has begun: its first text ("": it has none), more texts, and the whole."""

    first: str
    rest: AsyncGenerator[str, None]
    reader: AnswerReader


Body: TypeAlias = Mapping[str, Any]

_log = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class Completions:
    """Asks one model server. Holds connections and a bound on calls, nothing of any turn."""

    server: ModelServer
    limits: CallLimits
    learned: LearnedModel
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        self._metrics = self.metrics or Metrics(registry=CollectorRegistry())
        self._slots = asyncio.Semaphore(self.limits.concurrent_calls)

    def deadline(self) -> float:
        """Return the loop's time by which a call, or several that belong together, must be over.

        What a turn lost on failed calls is taken off, so that a dead server costs it one
        budget and not one for each question.
        """
        limits = self.limits
        least = min(limits.least_seconds, limits.call_seconds)
        left = max(limits.call_seconds - model_port.lost_seconds(), least)
        return asyncio.get_running_loop().time() + left

    async def stream(self, body: Body, *, purpose: str) -> AsyncGenerator[str | Answer, None]:
        """Give text as it comes and, last, the whole answer.

        Failures before the first text are retried; closing or cancelling aborts the call.

        Raises:
            ModelError: every fault of client, connection, server and model.
        """
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        async with self._answering(asked, self.deadline(), purpose) as answer:
            if answer.first:
                yield answer.first
            async for text in answer.rest:
                yield text
            yield self._whole(answer.reader)

    async def complete(self, body: Body, *, purpose: str, deadline: float | None = None) -> Answer:
        """Return the whole answer.

        Raises:
            ModelError: every fault of client, connection, server and model.
        """
        due = self.deadline() if deadline is None else deadline
        async with self._answering(body, due, purpose) as answer:
            async for _ in answer.rest:
                pass
            return self._whole(answer.reader)

    def _whole(self, reader: AnswerReader) -> Answer:
        answer = reader.end()
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
            async with self._slot(deadline):
                answer = await self._open(body, deadline, chars)
                async with aclosing(answer.rest):
                    yield answer
                usage = answer.reader.usage
        except errors.ModelError:
            lost = loop.time() - began
            model_port.note_lost_seconds(lost)
            self._metrics.model_called(purpose, succeeded=False, seconds=lost, prompt_chars=chars)
            raise
        took = loop.time() - began
        tokens = self._counted(usage, body)
        self._metrics.model_called(
            purpose, succeeded=True, seconds=took, prompt_chars=chars, tokens=tokens
        )

    def _counted(
        self, usage: model_port.TokenUsage | None, body: Body
    ) -> model_port.TokenUsage | None:
        """Return what the server counted, with its price, for the turn and for all later calls."""
        if usage is None:
            return None
        self.learned.note_usage(usage, chars=request_chars(body))
        dollars = self.learned.profile.prices.cost(
            prompt_tokens=usage.prompt, cached_tokens=usage.cached, answer_tokens=usage.answer
        )
        priced = replace(usage, dollars=dollars)
        model_port.note_tokens(priced)
        return priced

    @asynccontextmanager
    async def _slot(self, deadline: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(deadline) if self._slots.locked() else nullcontext():
                await self._slots.acquire()
        except TimeoutError as error:
            raise errors.ModelTimeoutError("no model call became free in time") from error
        try:
            yield
        finally:
            self._slots.release()

    async def _open(self, body: Body, deadline: float, chars: int) -> IncomingAnswer:
        """Return an answer that has its first text, or is whole."""
        retries_left = self.limits.retries
        while True:
            sent = self.learned.sent(dict(body))
            model_port.note_model_call(prompt_chars=chars)
            try:
                return await self._attempt(sent, deadline)
            except errors.ModelError as error:
                param = error.param if isinstance(error, errors.ModelRequestError) else ""
                if self.learned.can_do_without(param, sent):
                    continue
                pause = self._pause(error, deadline) if retries_left > 0 else None
                retries_left -= 1
                _log.warning(
                    "model_attempt_failed",
                    code=error.code,
                    reason=str(error),
                    tries_again=pause is not None,
                )
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _attempt(self, body: Body, deadline: float) -> IncomingAnswer:
        """Send one request and wait for the first text."""
        response = await self.server.complete(body, seconds=self._patience(deadline))
        reader = AnswerReader(limits=self.limits)
        texts = self._texts(response, reader, deadline)
        first = await anext(texts, "")
        if not first:
            reader.end()
        return IncomingAnswer(first, texts, reader)

    async def _texts(
        self, response: aiohttp.ClientResponse, reader: AnswerReader, deadline: float
    ) -> AsyncGenerator[str, None]:
        """Give text as it comes; closing this aborts an answer that is not over."""
        data = response.content.iter_any()
        try:
            while not reader.is_done():
                async with within(self._patience(deadline)):
                    piece = await anext(data, b"")
                if text := reader.feed(piece):
                    yield text
            # What follows the last event is read, so that the connection can serve again; where
            # that fails the answer is whole all the same.
            with suppress(errors.ModelError):
                async with within(_DRAIN_SECONDS):
                    async for _ in data:
                        pass
        finally:
            response.close()

    def _patience(self, deadline: float) -> float:
        """Return the seconds within which the next byte must be here."""
        return min(self.limits.idle_seconds, deadline - asyncio.get_running_loop().time())

    def _pause(self, error: errors.ModelError, deadline: float) -> float | None:
        """Return seconds to wait before the next attempt, or None if there is to be none."""
        if not error.retryable:
            return None
        pause = random.uniform(0.2, 0.6)
        asked = error.wait_seconds if isinstance(error, errors.ModelUnavailableError) else None
        if asked is not None:
            if asked > self.limits.retry_after_seconds:
                return None
            pause = asked + random.uniform(0, 0.1)
        left = deadline - asyncio.get_running_loop().time()
        return pause if pause < left else None


def request_chars(body: Body) -> int:
    """Return the characters of all that a model reads of `body`, tools and schema included."""
    return chars_of(body["messages"], [body.get("tools") or "", body.get("response_format") or ""])
