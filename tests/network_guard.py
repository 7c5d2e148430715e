"""Keeps tests on this machine: what leaves loopback is refused, and the test that tried fails."""

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ADDRESSES = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
"""Which argument of an event says where it leads."""


class LeftLoopbackError(OSError):
    """Something in the test process spoke to another machine."""


class NetworkGuard:
    """An audit hook: it sees connections from every library, C code included.

    Audit hooks cannot be removed, so one guard serves the whole run.
    """

    def __init__(self) -> None:
        self._attempts: list[str] = []

    def install(self) -> None:
        sys.addaudithook(self.on_event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Fail on leaving if anything was refused meanwhile, even if the code under test hid it."""
        self._attempts.clear()
        yield
        attempts = sorted(set(self._attempts))
        self._attempts.clear()
        assert not attempts, f"the test tried to leave this machine: {attempts}"

    def on_event(self, event: str, args: tuple[object, ...]) -> None:
        """Refuse `event` if it speaks to another machine; the form `sys.addaudithook` asks for."""
        place = _ADDRESSES.get(event)  # one look-up: every import and every file is an event too
        if place is not None:
            self._check(args[1] if place else (args[0],))

    def _check(self, address: object) -> None:
        # Unix sockets have text or bytes for an address and stay on the machine.
        if isinstance(address, tuple) and address and not is_loopback(address[0]):
            self._attempts.append(str(address[0]))
            raise LeftLoopbackError(f"tests may not speak to {address[0]}; use loopback")


def is_loopback(host: object) -> bool:
    """Tell whether `host`, as given to `socket`, can only be this machine."""
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host in {None, "", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
