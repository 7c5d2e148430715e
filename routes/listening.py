"""Where connections come in: so many from one address, and no more (spec page 15)."""

import asyncio

import structlog
from aiohttp import web

logger = structlog.get_logger()


class BoundedSite(web.BaseSite):
    """A TCP site that lets go at once of what one address opens beyond `per_address`.

    Args:
        per_address: None: no bound, as behind a proxy, where all come from one address.
    """

    def __init__(
        self, runner: web.AppRunner, host: str, port: int, *, per_address: int | None
    ) -> None:
        super().__init__(runner)
        self._host = host
        self._port = port
        self._per_address = per_address

    @property
    def name(self) -> str:
        """See `BaseSite.name`."""
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        """See `BaseSite.start`."""
        await super().start()
        server = self._runner.server
        if server is None:
            raise RuntimeError("the runner is not set up")
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Entrance(server, self._per_address), self._host, self._port
        )


class _Entrance(asyncio.Protocol):
    """Meets a connection, and hands it to aiohttp if its address holds not too many."""

    def __init__(self, server: web.Server, per_address: int | None) -> None:
        self._aiohttp = server
        self._per_address = per_address

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream is expected")
        if self._per_address is not None and self._held_by(transport) >= self._per_address:
            logger.warning("connections_refused", limit=self._per_address)
            transport.abort()
            return
        handler = self._aiohttp()
        transport.set_protocol(handler)
        handler.connection_made(transport)

    def _held_by(self, transport: asyncio.Transport) -> int:
        address = _address(transport.get_extra_info("peername"))
        return sum(_address(one.peername) == address for one in self._aiohttp.connections)


def _address(peer: object) -> object:
    return peer[0] if isinstance(peer, tuple) else peer
