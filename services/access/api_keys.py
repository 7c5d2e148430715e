"""`AUTH_MODE=api_key`: services and scripts with a static key."""

import hashlib
import hmac
from collections.abc import Collection, Iterable

from data_models.errors import UnauthenticatedError
from services.access.handshake import Handshake
from services.access.principal import Principal, roles_of


class ApiKeyAuthenticator:
    """Knows clients by the SHA-256 of their keys; the keys themselves are nowhere.

    Args:
        keys: Names and hashes in lower-case hex; a name may have two keys while one is replaced.
    """

    def __init__(self, *, keys: Iterable[tuple[str, str]], operators: Collection[str]) -> None:
        self._keys = [
            (
                bytes.fromhex(digest),
                Principal(
                    id=f"key:{name}", name=name, kind="api_key", roles=roles_of(name, operators)
                ),
            )
            for name, digest in keys
        ]

    async def authenticate(self, handshake: Handshake) -> Principal:
        """See `Authenticator.authenticate`."""
        shown = hashlib.sha256((handshake.bearer or "").encode(errors="surrogatepass")).digest()
        # Every key is compared, so that the time does not tell which one was close.
        matching = [who for digest, who in self._keys if hmac.compare_digest(digest, shown)]
        if handshake.bearer is None or not matching:
            raise UnauthenticatedError
        return matching[0]
