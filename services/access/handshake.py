"""What a caller shows on entering, and the Protocol of those who verify it."""

import ipaddress
from dataclasses import dataclass, field
from typing import Protocol

from services.access.principal import Principal

TOKEN_LIMIT_CHARS = 16_384
TOKEN_PROTOCOL_PREFIX = "bearer."  # noqa: S105 - a prefix, not a token


@dataclass(frozen=True, slots=True)
class Handshake:
    """The parts of a request that decide who it is from.

    Attributes:
        peer: Address of the other end of the TCP connection.
        forwarded: Whether a proxy says that it passes the request on for somebody.
        fetch_site: The browser's `Sec-Fetch-Site`.
        only_reads: GET or HEAD, and no WebSocket.
        protocols: Requested WebSocket subprotocols; a browser, which cannot set headers there,
            sends its token as `bearer.<token>`.
        writes: Neither GET nor HEAD, nor a WebSocket.
        session_id: The cookie of a user who signed in with a browser.
        csrf: `X-CSRF-Token`.
        client_principal: The proxy's `X-MS-CLIENT-PRINCIPAL`.
    """

    peer: str | None
    host: str
    forwarded: bool = False
    origin: str | None = None
    fetch_site: str | None = None
    only_reads: bool = False
    authorization: str | None = field(default=None, repr=False)
    protocols: tuple[str, ...] = field(default=(), repr=False)
    client_principal: str | None = field(default=None, repr=False)
    writes: bool = False
    session_id: str | None = field(default=None, repr=False)
    csrf: str | None = field(default=None, repr=False)

    @property
    def bearer(self) -> str | None:
        """The bearer token, if there is one of a bearable length."""
        scheme, _, token = (self.authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            token = next(
                (
                    text.removeprefix(TOKEN_PROTOCOL_PREFIX)
                    for text in self.protocols
                    if text.startswith(TOKEN_PROTOCOL_PREFIX)
                ),
                "",
            )
        token = token.strip()
        return token if 0 < len(token) <= TOKEN_LIMIT_CHARS else None


class Authenticator(Protocol):
    """One way to verify who calls."""

    async def authenticate(self, handshake: Handshake) -> Principal:
        """Return who calls.

        Raises:
            UnauthenticatedError: nothing that could be verified was shown.
            ForbiddenError: the caller is known, or its place is, and is not allowed.
            SignInUnavailableError: nothing can be verified at the moment.
        """
        ...


def is_loopback(address: str | None) -> bool:
    """Tell whether `address` is of this machine."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback
