"""Listens, serves until a signal, and stops in order: no turn is lost (spec page 7, R29)."""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from aiohttp import web

from data_models.errors import ConfigurationError
from routes.requests.endpoint import Readiness
from routes.server import create_runner

# Where connections come in: so many from one address, and no more (spec page 15).


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
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        await super().start()
        if (server := self._runner.server) is None:
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


DRAIN_SECONDS = 25.0
logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that serves, and how it starts and stops.

    Attributes:
        start: Runs once the port is open; readiness waits for it.
        drain: Lets running turns finish within so many seconds, else stores them as interrupted.
        close: Releases connections; the last thing that happens.
    """

    web: web.Application
    readiness: Readiness
    start: Callable[[], Awaitable[None]]
    drain: Callable[[float], Awaitable[None]]
    close: Callable[[], Awaitable[None]]


async def serve(
    server: Server,
    *,
    host: str,
    port: int,
    handshake_seconds: float,
    per_address: int | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; running turns finish or are stored as interrupted.

    Args:
        per_address: Connections that one address may hold; None: any number.

    Raises:
        ConfigurationError: the address cannot be listened on, or the start failed.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Not loop.add_signal_handler: Windows has none.
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    runner = create_runner(server.web, handshake_seconds=handshake_seconds)
    await runner.setup()
    try:
        await _listen(BoundedSite(runner, host, port, per_address=per_address))
        starting = asyncio.create_task(_start(server, stopped))
        await stopped.wait()
        server.readiness.drain()
        await server.drain(DRAIN_SECONDS)
    finally:
        await runner.cleanup()
        await server.close()
    starting.cancel()
    await asyncio.wait({starting})
    if not starting.cancelled():
        starting.result()


async def _listen(site: BoundedSite) -> None:
    try:
        await site.start()
    except OSError as error:
        place = site.name.removeprefix("http://")
        raise ConfigurationError(
            f"HOST, PORT: {place} cannot be listened on, perhaps because another program "
            "does. Example: PORT=4000"
        ) from error
    logger.info("listening", url=site.name)


async def _start(server: Server, stopped: asyncio.Event) -> None:
    is_started = False
    try:
        await server.start()
        is_started = True
    finally:
        # Whatever broke the start, a server that never gets ready ends, and is started anew.
        if not is_started:
            stopped.set()
    # What was imported and built stays for good. Looked through at every collection, it took a
    # third of a turn's CPU.
    gc.freeze()
    logger.info("ready")
