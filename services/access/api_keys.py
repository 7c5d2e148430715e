"""`AUTH_MODE=api_key`: static keys of programs; `dev`: whoever sits at this machine."""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from data_models.clock import Clock, SystemClock
from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access.handshake import Handshake, is_loopback
from services.access.key_file import FileKey, KeyFile
from services.access.principal import USERS, Principal, Role, Scope, roles_of

_KEY_ROLES: tuple[Role, ...] = ("operator", "order")
"""Roles that the file gives beside what a key may do with conversations."""


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
        orderers: Collection[str] = (),
        file: KeyFile | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._operators = operators
        self._orderers = orderers
        self._keys = [(bytes.fromhex(digest), self._principal(name)) for name, digest in keys]
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
            yield bytes.fromhex(one.sha256), self._filed(one)

    def _principal(self, name: str) -> Principal:
        roles = roles_of(name, self._operators, self._orderers)
        return Principal(id=f"key:{name}", name=name, kind="api_key", roles=roles)

    def _filed(self, key: FileKey) -> Principal:
        scopes: frozenset[Scope] = USERS if "chat" in key.scopes else frozenset({"read"})
        named = self._principal(key.name)
        return replace(
            named,
            roles=named.roles | {role for role in _KEY_ROLES if role in key.scopes},
            expires_at=key.expires_at,
            scopes=scopes if {"chat", "read"} & set(key.scopes) else frozenset(),
            practitioner=key.practitioner,
        )


DEV_PRINCIPAL_ID = "dev"
_ORDERS: frozenset[Role] = frozenset({"order"})


class DevAuthenticator:
    """Takes every loopback caller for the principal `dev`."""

    def __init__(self, *, operators: Collection[str]) -> None:
        roles = roles_of(DEV_PRINCIPAL_ID, operators or [DEV_PRINCIPAL_ID])
        self._principal = Principal(
            id=DEV_PRINCIPAL_ID, name="dev", kind="dev", roles=roles | _ORDERS
        )

    async def authenticate(self, handshake: Handshake) -> Principal:
        """See `Authenticator.authenticate`; a proxy on this machine would let the world in."""
        if handshake.forwarded or not is_loopback(handshake.peer):
            raise ForbiddenError
        return self._principal
