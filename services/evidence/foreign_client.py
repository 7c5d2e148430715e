"""Asks another system's server over the Model Context Protocol, as a guest who trusts nothing.

Each call is a session of its own. The server is offered neither sampling nor elicitation nor
roots; what it asks for itself is refused. Time and size of all that it says are bounded.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import aiohttp
import orjson
from mcp import types
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from pydantic import ValidationError

from data_models.errors import ToolInputError

ANSWER_LIMIT_CHARS = 20_000
_BODY_LIMIT_BYTES = 1_000_000
_MESSAGES_LIMIT = 200
_PAGES_LIMIT = 10
_SECONDS = 15.0
_JSON, _STREAM = "application/json", "text/event-stream"
_SESSION, _VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"
Found = TypeVar("Found")
_HEADERS = {"Accept": f"{_JSON}, {_STREAM}", "Content-Type": _JSON}


def _wrong(reason: str) -> ToolInputError:
    """Return what agents are told, in our words only: what the server said stays out of it."""
    return ToolInputError(f"that system gave nothing that can be used: {reason}; tell the user")


def digest_of(tool: types.Tool) -> str:
    """Return what stands for all that a server says of a tool."""
    definition = tool.model_dump(mode="json", exclude_none=True, exclude={"meta", "icons"})
    return hashlib.sha256(orjson.dumps(definition, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignClient:
    """Calls one server.

    Attributes:
        token: Shown to it as a bearer token; None: it wants none.
    """

    url: str
    session: aiohttp.ClientSession
    token: str | None = field(default=None, repr=False)
    seconds: float = _SECONDS

    async def call(self, tool: str, arguments: Mapping[str, str], *, digest: str) -> str:
        """Return the words of the answer.

        Raises:
            ToolInputError: there is none that may be used; the text says why, and nothing of
                what the server said.
        """
        return await self._run_bounded(self._call(tool, arguments, digest))

    async def list_tools(self) -> list[types.Tool]:
        """Return the tools that the server offers.

        Raises:
            ToolInputError: as `call`.
        """
        return await self._run_bounded(self._list_tools())

    async def _run_bounded(self, work: Awaitable[Found]) -> Found:
        try:
            async with asyncio.timeout(self.seconds):
                return await work
        except TimeoutError:
            reason = f"it did not answer within {self.seconds:g} seconds"
        except aiohttp.ClientError:
            reason = "it cannot be reached or broke off"
        except (ValidationError, orjson.JSONDecodeError, UnicodeDecodeError):
            reason = "its answer does not fit the protocol"
        # Outside the handlers: a cause would quote what the server said, or was sent.
        raise _wrong(reason)

    async def _list_tools(self) -> list[types.Tool]:
        async with _Talk(client=self) as talk:
            return await _tools_of(talk)

    async def _call(self, tool: str, arguments: Mapping[str, str], digest: str) -> str:
        async with _Talk(client=self) as talk:
            _check_unchanged(tool, await _tools_of(talk), digest)
            params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
            answer = types.CallToolResult.model_validate(await talk.ask("tools/call", params))
        if answer.isError:
            raise _wrong("it refused the call")
        others = [one for one in answer.content if not isinstance(one, types.TextContent)]
        if others:
            raise _wrong("it sent something that is no text")
        text = "\n".join(one.text for one in answer.content if isinstance(one, types.TextContent))
        if len(text) > ANSWER_LIMIT_CHARS:
            raise _wrong(f"its answer is over {ANSWER_LIMIT_CHARS} characters; ask for less")
        return text


def _check_unchanged(name: str, offered: list[types.Tool], digest: str) -> None:
    found = [one for one in offered if one.name == name]
    if len(found) != 1:
        raise _wrong("it does not offer that tool any more")
    if digest_of(found[0]) != digest:
        raise _wrong(
            "what it says of that tool has changed since the tool was allowed, so it is switched "
            "off until an operator has looked at it"
        )
    hints = found[0].annotations
    if hints is not None and hints.readOnlyHint is False:
        raise _wrong("that tool changes something, and only reading is allowed")


async def _tools_of(talk: "_Talk") -> list[types.Tool]:
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES_LIMIT):
        params = types.PaginatedRequestParams(cursor=cursor)
        page = types.ListToolsResult.model_validate(await talk.ask("tools/list", params))
        found += page.tools
        if (cursor := page.nextCursor) is None:
            return found
    raise _wrong("its list of tools has no end")


class _Talk:
    """One session with one server."""

    def __init__(self, *, client: ForeignClient) -> None:
        self._session, self._url = client.session, client.url
        self._headers = dict(_HEADERS)
        if client.token is not None:
            self._headers["Authorization"] = f"Bearer {client.token}"
        self._number = 0
        self._left_bytes = _BODY_LIMIT_BYTES
        self._left_messages = _MESSAGES_LIMIT

    async def __aenter__(self) -> Self:
        about = types.InitializeRequestParams(
            protocolVersion=types.LATEST_PROTOCOL_VERSION,
            capabilities=types.ClientCapabilities(),
            clientInfo=types.Implementation(name="rounds", version="1"),
        )
        began = types.InitializeResult.model_validate(await self.ask("initialize", about))
        if began.protocolVersion not in SUPPORTED_PROTOCOL_VERSIONS:
            raise _wrong("it speaks another version of the protocol")
        self._headers[_VERSION] = str(began.protocolVersion)
        await self._tell({"method": "notifications/initialized"})
        return self

    async def __aexit__(self, *_: object) -> None:
        if _SESSION in self._headers:
            async with self._session.delete(self._url, headers=self._headers):
                pass

    async def ask(self, method: str, params: types.RequestParams) -> Any:
        """Return the result of one request."""
        self._number += 1
        asked = {
            "id": self._number,
            "method": method,
            "params": params.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
        async with self._posted(asked) as response:
            if response.status != 200:
                raise _wrong(f"it answered {response.status}")
            if _SESSION in response.headers:
                self._headers[_SESSION] = response.headers[_SESSION]
            async for message in self._messages(response):
                if isinstance(message, types.JSONRPCRequest):
                    # Answer what the server asks for: there is no sampling and nobody to be asked.
                    error = {"code": types.METHOD_NOT_FOUND, "message": "not offered"}
                    await self._tell({"id": message.id, "error": error})
                elif isinstance(message, types.JSONRPCError) and message.id == self._number:
                    raise _wrong("it refused the request")
                elif isinstance(message, types.JSONRPCResponse) and message.id == self._number:
                    return message.result
        raise _wrong("it ended without an answer")

    async def _tell(self, message: Mapping[str, Any]) -> None:
        async with self._posted(message) as response:
            if response.status not in (200, 202, 204):
                raise _wrong(f"it answered {response.status}")

    def _posted(
        self, message: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        data = orjson.dumps({"jsonrpc": "2.0", **message})
        return self._session.post(
            self._url, data=data, headers=self._headers, allow_redirects=False
        )

    async def _messages(self, response: aiohttp.ClientResponse) -> AsyncIterator[Any]:
        parts = self._parts(response)
        found = _events(parts) if response.content_type == _STREAM else _whole(parts)
        async for data in found:
            self._left_messages -= 1
            if self._left_messages < 0:
                raise _wrong("it talks without end")
            yield types.JSONRPCMessage.model_validate(orjson.loads(data)).root

    async def _parts(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        async for part in response.content.iter_any():
            self._left_bytes -= len(part)
            if self._left_bytes < 0:
                raise _wrong(f"it sent more than {_BODY_LIMIT_BYTES} bytes")
            yield part


async def _whole(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b"".join([part async for part in parts])


async def _events(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of server-sent events; comments, ids and empty events are left out."""
    line, data = b"", []
    async for part in parts:
        *lines, line = (line + part).split(b"\n")
        for one in (ended.removesuffix(b"\r") for ended in lines):
            if one.startswith(b"data:"):
                data.append(one[5:].removeprefix(b" "))
            elif not one and data:
                yield b"\n".join(data)
                data = []
