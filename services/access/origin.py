"""Which browser pages may call (spec page 7, R1), and under which of the server's names."""

import re
from collections.abc import Collection

from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access.handshake import Handshake, is_loopback

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
            raise ForbiddenError
        if handshake.origin is None:
            self._check_without_origin(handshake)
        elif handshake.origin.lower() not in self._allowed | {f"http://{host}", f"https://{host}"}:
            raise ForbiddenError

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
            raise ForbiddenError
        within_site = handshake.only_reads and handshake.fetch_site is not None
        if not (self._loopback_only or within_site):
            raise UnauthenticatedError
