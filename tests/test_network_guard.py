"""The guard must refuse and must tell, or tests could depend on other machines unseen."""

import asyncio
import contextlib

import aiohttp
import pytest

from tests.network_guard import LeftLoopbackError, NetworkGuard, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", b"127.0.0.1", None])
def test_this_machine_is_loopback(host: object) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.test", "127.0.0.1.example"])
def test_another_machine_is_not(host: object) -> None:
    assert not is_loopback(host)


def test_a_refused_socket_says_why() -> None:
    guard = NetworkGuard()
    with pytest.raises(LeftLoopbackError, match="use loopback"):
        guard.on_event("socket.connect", (None, ("192.0.2.1", 9)))


async def test_a_real_connection_on_loopback_passes() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        writer.close()

    server = await asyncio.start_server(answer, "localhost", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("localhost", port)
        assert await reader.readline() == b"hello\n"
        writer.close()


async def test_an_attempt_that_code_hides_fails_the_test(network_guard: NetworkGuard) -> None:
    with (
        pytest.raises(AssertionError, match=r"192\.0\.2\.1"),
        network_guard.watching(),
        contextlib.suppress(aiohttp.ClientError),
    ):
        async with aiohttp.ClientSession() as session, session.get("http://192.0.2.1:9/"):
            pass
