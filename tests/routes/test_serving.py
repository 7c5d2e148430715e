"""A server that cannot start ends, whatever the reason, so that somebody starts it anew."""

import asyncio

import pytest
from aiohttp import web

from data_models.errors import ConfigurationError
from routes.requests.endpoint import Readiness
from routes.serving import Server, serve
from tests.fakes import FixedClock
from tests.peers import free_port


class BrokenServer:
    """Opens its port, fails at its start, and notes that it was closed."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure
        self.is_closed = False

    async def start(self) -> None:
        raise self.failure

    async def drain(self, seconds: float) -> None:
        """There is nothing under way."""

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("failure", [ConfigurationError("X: is wrong"), ImportError("a package")])
async def test_a_failed_start_ends_the_server(failure: Exception) -> None:
    broken = BrokenServer(failure)
    server = Server(
        web=web.Application(),
        readiness=Readiness(probes={}, clock=FixedClock()),
        start=broken.start,
        drain=broken.drain,
        close=broken.close,
    )
    serving = serve(server, host="127.0.0.1", port=free_port(), handshake_seconds=1)
    with pytest.raises(type(failure)):
        await asyncio.wait_for(serving, 60)
    assert broken.is_closed
