"""Where the server may call: named hosts, no redirects, no private addresses (page 7, R52).

The checks raise aiohttp's own errors, which every adapter on aiohttp translates already.
"""

import ipaddress
import socket
from collections.abc import Collection

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

_REDIRECTS = {301, 302, 303, 307, 308}


class OutboundPolicy:
    """Decides on hosts and addresses.

    Args:
        hosts: Names that may be called, in lower case.
        networks: Private networks, in CIDR form, in which they may be.
        allow_loopback: In dev.
    """

    def __init__(
        self, *, hosts: Collection[str], networks: Collection[str], allow_loopback: bool
    ) -> None:
        self._hosts = frozenset(hosts)
        self._networks = [ipaddress.ip_network(network) for network in networks]
        self._allow_loopback = allow_loopback

    def allows_host(self, host: str | None) -> bool:
        """Tell whether `host`, a name or an address, may be called."""
        if host is None or host.lower() not in self._hosts:
            return False
        return not _is_address(host) or self.allows_address(host)

    def allows_address(self, address: str) -> bool:
        """Tell whether a call may go to `address`."""
        parsed = ipaddress.ip_address(address.partition("%")[0])
        mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
        parsed = mapped or parsed
        if any(parsed in network for network in self._networks):
            return True
        if parsed.is_loopback:
            return self._allow_loopback
        return parsed.is_global and not parsed.is_multicast


class GuardedResolver(AbstractResolver):
    """Resolves names, and drops addresses that may not be called.

    What is checked here is what is connected to: a name cannot change its address in between.
    """

    def __init__(self, *, policy: OutboundPolicy, resolver: AbstractResolver) -> None:
        self._policy = policy
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        allowed = [row for row in found if self._policy.allows_address(row["host"])]
        if not allowed:
            raise OSError("the host has no address that may be called")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


class OutboundGuard:
    """An aiohttp client middleware: it sees every request, redirected ones too."""

    def __init__(self, *, policy: OutboundPolicy) -> None:
        self._policy = policy

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Pass `request` on if its host may be called, and its answer if it leads nowhere else."""
        if not self._policy.allows_host(request.url.host):
            raise aiohttp.ClientConnectionError("the host is not one that may be called")
        answer = await handler(request)
        if answer.status in _REDIRECTS:
            answer.close()
            raise aiohttp.ClientConnectionError("redirects are not followed")
        return answer


def outbound_session(policy: OutboundPolicy) -> aiohttp.ClientSession:
    """Return the session for every call out of the process; the caller closes it."""
    resolver = GuardedResolver(policy=policy, resolver=aiohttp.ThreadedResolver())
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver),
        middlewares=(OutboundGuard(policy=policy),),
        trust_env=False,
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
