"""`AUTH_MODE=api_key`: services and scripts with a static key."""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator

from data_models.clock import Clock, SystemClock
from data_models.errors import UnauthenticatedError
from services.access.handshake import Handshake
from services.access.key_file import FileKey, KeyFile
from services.access.principal import USERS, Principal, Scope, roles_of


class ApiKeyAuthenticator:
    """Knows clients by the SHA-256 of their keys; the keys themselves are nowhere.

    Args:
        keys: Names and hashes in lower-case hex; a name may have two keys while one is replaced.
        file: Keys with scopes, ranges and ends.
    """

    def __init__(
        self,
        *,
        keys: Iterable[tuple[str, str]],
        operators: Collection[str],
        file: KeyFile | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._keys = [(bytes.fromhex(digest), _principal(name, operators)) for name, digest in keys]
        self._operators = operators
        self._file = file
        self._clock = clock or SystemClock()

    async def authenticate(self, handshake: Handshake) -> Principal:
        """See `Authenticator.authenticate`."""
        shown = hashlib.sha256((handshake.bearer or "").encode(errors="surrogatepass")).digest()
        # Every key is compared, so that the time does not tell which one was close.
        known = [*self._keys, *self._of_file()]
        matching = [who for digest, who in known if hmac.compare_digest(digest, shown)]
        if handshake.bearer is None or not matching:
            raise UnauthenticatedError
        found = matching[0]
        if found.expires_at is not None and found.expires_at <= self._clock.now():
            raise UnauthenticatedError
        return found

    def _of_file(self) -> Iterator[tuple[bytes, Principal]]:
        for one in () if self._file is None else self._file.keys():
            yield bytes.fromhex(one.sha256), _filed(one, self._operators)


def _principal(name: str, operators: Collection[str]) -> Principal:
    return Principal(id=f"key:{name}", name=name, kind="api_key", roles=roles_of(name, operators))


def _filed(key: FileKey, operators: Collection[str]) -> Principal:
    scopes: frozenset[Scope] = USERS if "chat" in key.scopes else frozenset({"read"})
    is_operator = "operator" in key.scopes
    return Principal(
        id=f"key:{key.name}",
        name=key.name,
        kind="api_key",
        roles=frozenset({"operator"}) if is_operator else roles_of(key.name, operators),
        expires_at=key.expires_at,
        scopes=scopes if {"chat", "read"} & set(key.scopes) else frozenset(),
        practitioner=key.practitioner,
    )
