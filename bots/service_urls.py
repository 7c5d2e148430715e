"""Where replies may go: the channels' own hosts, nothing that a caller makes up."""

from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from services.access.handshake import is_loopback


class ServiceUrls:
    """Decides on service URLs.

    Args:
        hosts: Names, or `*.` and a domain for all names below it.
        loopback: Take plain http to this machine and nothing else: for the Emulator, in dev.
    """

    def __init__(self, *, hosts: Collection[str], loopback: bool) -> None:
        self._names = frozenset(host.lower() for host in hosts if not host.startswith("*."))
        self._below = tuple(host[1:].lower() for host in hosts if host.startswith("*."))
        self._loopback = loopback

    def allows(self, url: str | None) -> bool:
        """Tell whether replies may go to `url`; an absent or unreadable one never."""
        parts = _split(url or "")
        if parts is None or not parts.hostname or parts.username is not None:
            return False
        if parts.query or parts.fragment:
            return False
        host = parts.hostname
        if self._loopback:
            return parts.scheme == "http" and (host == "localhost" or is_loopback(host))
        if parts.scheme != "https" or parts.port not in (None, 443):
            return False
        return host in self._names or host.endswith(self._below)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # Reading the port is what finds a bad one.
        return parts if parts.port != 0 and url.isascii() and url.isprintable() else None
    except ValueError:
        return None
