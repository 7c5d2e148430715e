"""An answer on its way in: bytes with time limits, read as text."""

import asyncio
from collections.abc import AsyncIterator

import httpx2

from data_models.errors import ModelOutputError
from group_chat.models.answer import PIECE_LIMIT_BYTES, AnswerReader
from group_chat.models.faults import FOREIGN, fault_of
from group_chat.models.model_settings import CallLimits

_DRAIN_SECONDS = 0.2
_MEDIA_STREAM = "text/event-stream"


class IncomingAnswer:
    """The answer to one request; `aclose` it, whatever happens."""

    def __init__(self, *, response: httpx2.Response, limits: CallLimits, deadline: float) -> None:
        self.reader = AnswerReader(limits=limits)
        self._response = response
        self._is_stream = response.headers.get("content-type", "").startswith(_MEDIA_STREAM)
        self._data: AsyncIterator[bytes] = response.aiter_raw()
        self._limits = limits
        self._deadline = deadline
        self._first_text = ""

    async def begin(self) -> None:
        """Wait for the first text, or for the whole answer where it has no text.

        Raises:
            ModelError: the answer is unusable.
            httpx2.HTTPError: the connection broke.
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
        await self._response.aclose()

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
                while await self._next_bytes():
                    pass
        except (TimeoutError, httpx2.TransportError):
            return  # the answer is whole; its connection just cannot be used again


def byte_due(limits: CallLimits, deadline: float) -> float:
    """Return the loop's time by which the next byte must be here."""
    return min(asyncio.get_running_loop().time() + limits.idle_seconds, deadline)
