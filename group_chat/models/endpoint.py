"""Where chat completions are asked for: one address, one key, one pool of connections."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import aiohttp
import orjson

from group_chat.models.transport import Connections

Body: TypeAlias = Mapping[str, Any]
HeadersOf: TypeAlias = Callable[[], Awaitable[Mapping[str, str]]]


class Endpoint:
    """Posts chat completions to one server and to no other.

    The openai client could, but it builds each request anew through a dozen layers, which takes
    ten times the processor time of sending it, and a turn asks twice.
    """

    def __init__(
        self, *, connections: Connections, url_of: Callable[[str], str], headers_of: HeadersOf
    ) -> None:
        """Ask for the completions of a model at `url_of(model)`.

        Args:
            connections: Shared with the openai client.
            url_of: Azure's addresses name the model's deployment.
            headers_of: Asked before each call, since a key may be a token that expires.
        """
        self._connections = connections
        self._url_of = url_of
        self._headers_of = headers_of

    async def post(self, body: Body) -> aiohttp.ClientResponse:
        """Return the server's answer to `body`, whatever its status, unread; `close` it.

        Raises:
            ModelUnavailableError: no token was given for the call.
            aiohttp.ClientError: no connection, or it broke.
            OSError: the same, or no connection in time.
            orjson.JSONEncodeError: `body` holds what JSON cannot.
        """
        return await self._connections.request(
            "POST",
            self._url_of(body["model"]),
            headers=await self._headers_of(),
            data=orjson.dumps(body),
        )
