"""Where the server may call."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer

from services.access.limits import GuardedResolver, OutboundPolicy, outbound_session
from tests.tables import tables_beside, with_cases

HOSTS = ["fhir.example", "127.0.0.1", "10.1.2.3", "169.254.169.254", "8.8.8.8"]


def policy(*networks: str, allow_loopback: bool = False) -> OutboundPolicy:
    return OutboundPolicy(hosts=HOSTS, networks=networks, allow_loopback=allow_loopback)


@with_cases("host", "allowed")
def test_hosts(host: str | None, *, allowed: bool) -> None:
    assert policy().allows_host(host) is allowed


PRIVATE: list[str] = tables_beside(Path(__file__))["private"]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_not_called(address: str) -> None:
    assert not policy().allows_address(address)


def test_networks_and_loopback_can_be_opened() -> None:
    assert policy("10.0.0.0/8").allows_address("::ffff:10.1.2.3")
    assert not policy("10.0.0.0/8").allows_address("192.168.0.1")
    assert policy(allow_loopback=True).allows_address("::1")


class Answers(AbstractResolver):
    """Resolves every name to the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self._addresses
        ]

    async def close(self) -> None:
        return None


async def test_a_name_that_points_inside_is_not_called() -> None:
    resolver = GuardedResolver(policy=policy(), resolver=Answers("10.0.0.1", "127.0.0.1"))
    with pytest.raises(OSError, match="no address"):
        await resolver.resolve("fhir.example")


async def test_only_public_addresses_of_a_name_are_called() -> None:
    resolver = GuardedResolver(policy=policy(), resolver=Answers("10.0.0.1", "8.8.8.8"))
    assert [row["host"] for row in await resolver.resolve("fhir.example")] == ["8.8.8.8"]


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    async def hello(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def away(request: web.Request) -> web.Response:
        raise web.HTTPFound("/")

    app = web.Application()
    app.router.add_get("/", hello)
    app.router.add_get("/away", away)
    server = TestServer(app)
    async with server:
        yield server


async def test_an_allowed_host_is_called_and_its_redirects_are_not(server: TestServer) -> None:
    async with outbound_session(policy(allow_loopback=True)) as session:
        async with session.get(server.make_url("/")) as answer:
            assert await answer.text() == "hello"
        with pytest.raises(aiohttp.ClientConnectionError, match="redirects"):
            await session.get(server.make_url("/away"))


async def test_other_hosts_and_loopback_outside_dev_are_not_called(server: TestServer) -> None:
    async with outbound_session(policy()) as session:
        for url in (str(server.make_url("/")), "http://evil.example/"):
            with pytest.raises(aiohttp.ClientConnectionError, match="may be called"):
                await session.get(url)
