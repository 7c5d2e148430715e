"""Bounds of what comes in and goes out (spec page 7).

How much one caller may ask for at a time (R18), from which pages (R1), how long a body may take;
and where the server may call: named hosts, no redirects, no private addresses (R52). The checks
of calls raise aiohttp's own errors, which every adapter on aiohttp translates already.
"""

import asyncio
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from data_models import errors
from data_models.clock import Clock
from data_models.values import Newest
from services.access.principal import Handshake, is_loopback

TABLE_LIMIT = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class MessageRate:
    """A bucket of tokens for each principal: `per_minute` at once, refilled evenly.

    The table is bounded: the principal who was quiet for longest is forgotten first, and one who
    was quiet for a minute has a full bucket anyway.

    Attributes:
        per_minute: None: no limit.
        error: What is raised over the limit.
    """

    per_minute: int | None
    clock: Clock
    table_limit: int = TABLE_LIMIT
    error: type[errors.RateLimitedError] = errors.RateLimitedError

    def __post_init__(self) -> None:
        self._buckets = Newest[str, tuple[float, float]](limit=self.table_limit)

    def take(self, principal_id: str) -> None:
        """Count one message.

        Raises:
            RateLimitedError: there were too many; this one is not counted.
        """
        if self.per_minute is None:
            return
        now = self.clock.monotonic()
        tokens, seen_at = self._buckets.get(principal_id, (float(self.per_minute), now))
        tokens = min(self.per_minute, tokens + (now - seen_at) * self.per_minute / 60)
        if tokens < 1:
            raise self.error(per_minute=self.per_minute)
        self._buckets[principal_id] = (tokens - 1, now)


class SocketSlots:
    """Counts the open sockets of each principal."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """Open sockets of everybody."""
        return self._open.total()

    @contextmanager
    def hold(self, principal_id: str) -> Iterator[None]:
        """Hold a slot while a socket is open.

        Raises:
            TooManySocketsError: the principal holds as many as it may.
        """
        if self._open[principal_id] >= self._limit:
            raise errors.TooManySocketsError(limit=self._limit)
        self._open[principal_id] += 1
        try:
            yield
        finally:
            self._open[principal_id] -= 1
            if not self._open[principal_id]:
                del self._open[principal_id]


_HOST = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_OWN_SITES = {None, "same-origin", "none"}


class OriginPolicy:
    """Compares whole origins, never parts of them.

    Args:
        allowed: Origins besides the server's own, in lower case.
        public_host: `host[:port]` that browsers use; None: whichever they use.
        loopback_only: In dev: callers must name this machine. A page of elsewhere whose name was
            made to point here (DNS rebinding) names its own host.
    """

    def __init__(
        self, *, allowed: Collection[str], public_host: str | None, loopback_only: bool
    ) -> None:
        self._allowed = frozenset(allowed)
        self._public_host = public_host.lower() if public_host else None
        self._loopback_only = loopback_only

    def check(self, handshake: Handshake) -> None:
        """Return if the page that calls may.

        Raises:
            ForbiddenError: a foreign page, or a name that is not this server's.
            UnauthenticatedError: no page and no token.
        """
        host = handshake.host.lower()
        if not self._is_ours(host):
            raise errors.ForbiddenError
        if handshake.origin is None:
            self._check_without_origin(handshake)
        elif handshake.origin.lower() not in self._allowed | {f"http://{host}", f"https://{host}"}:
            raise errors.ForbiddenError

    def _is_ours(self, host: str) -> bool:
        if (match := _HOST.fullmatch(host)) is None:
            return False
        if self._loopback_only:
            return match[1] == "localhost" or is_loopback(match[1].strip("[]"))
        return self._public_host is None or host == self._public_host

    def _check_without_origin(self, handshake: Handshake) -> None:
        # Browsers leave the origin out of reads within a site, and of images of any site.
        if handshake.bearer is not None:
            return
        if handshake.fetch_site not in _OWN_SITES:
            raise errors.ForbiddenError
        within_site = handshake.only_reads and handshake.fetch_site is not None
        if not (self._loopback_only or within_site):
            raise errors.UnauthenticatedError


BODY_SECONDS = 10.0


async def body_of(request: web.Request) -> bytes:
    """Return the body of `request`; who sends it drop by drop holds a place for no longer.

    Raises:
        web.HTTPRequestTimeout: it did not come whole within `BODY_SECONDS`.
        web.HTTPRequestEntityTooLarge: it is larger than the application takes.
    """
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None


async def large_body_of(request: web.Request, *, limit_bytes: int, seconds: float) -> bytes | None:
    """Return the body, which may be larger than the application's others; None beyond the limit.

    Raises:
        web.HTTPRequestTimeout: it did not come whole within `seconds`.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.content.iter_any():
                body += part
                if len(body) > limit_bytes:
                    return None
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    return bytes(body)


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
