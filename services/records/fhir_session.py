"""The connection to a FHIR server: where it may lead and what it may carry."""

import ipaddress
import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from data_models.errors import ConfigurationError

_EXAMPLE = "such as https://fhir.hospital.example/r4"


class GuardedResolver(AbstractResolver):
    """Finds hosts, and drops addresses that the server's name must not lead to.

    Link-local addresses (a cloud's metadata service) are dropped always, private and
    loopback ones unless allowed.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the allowed addresses of `host`.

        Raises:
            OSError: there is none; aiohttp takes this for a failed look-up.
        """
        found = await self._resolver.resolve(host, port, family)
        allowed = [row for row in found if _allowed(row["host"], self._allow_private)]
        if not allowed:
            raise OSError("the host has no address that may be called")
        return allowed

    async def close(self) -> None:
        """Release the resolver."""
        await self._resolver.close()


def records_session(*, allow_private: bool) -> aiohttp.ClientSession:
    """Return a session for one FHIR server: no cookies, no proxy from the environment."""
    connector = aiohttp.TCPConnector(
        resolver=GuardedResolver(allow_private=allow_private), limit_per_host=8
    )
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def checked_base_url(text: str, *, allow_private: bool) -> URL:
    """Return `text` as the base URL of a FHIR server.

    Raises:
        ConfigurationError: it is not a plain https address (http on loopback only), or names
            an address that may not be called.
    """
    try:
        url = URL(text)
    except ValueError:
        raise ConfigurationError(f"FHIR_BASE_URL is no address; set one {_EXAMPLE}") from None
    if url.scheme not in ("http", "https") or url.host is None:
        raise ConfigurationError(f"FHIR_BASE_URL must begin with https://, {_EXAMPLE}")
    if url.user or url.password or url.query_string or url.fragment:
        raise ConfigurationError(f"FHIR_BASE_URL must be a plain address, {_EXAMPLE}")
    if url.scheme == "http" and not _is_loopback(url.host):
        raise ConfigurationError(f"FHIR_BASE_URL must use https, {_EXAMPLE}")
    if _is_address(url.host) and not _allowed(url.host, allow_private):
        raise ConfigurationError("FHIR_BASE_URL names an address that may not be called")
    return url


def _allowed(host: str, allow_private: bool) -> bool:
    address = ipaddress.ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    address = mapped or address
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    return allow_private or address.is_global


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
