"""The public keys of a directory that signs tokens: fetched when needed, kept, and renewed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import aiohttp
import jwt
import orjson
import structlog

from data_models.clock import Clock
from data_models.errors import SignInUnavailableError, UnauthenticatedError
from data_models.http_answers import Bounds, ask

RENEW_SECONDS = 6 * 3_600.0
KEEP_SECONDS = 24 * 3_600.0
ASK_AGAIN_SECONDS = 60.0
ASK_AGAIN_AFTER_FAILURE_SECONDS = 15.0
_BOUNDS = Bounds(3.0, 1_000_000)

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One public key.

    Attributes:
        issuer: The directory that it may sign for, if the document says so.
        endorsements: The Bot Framework's channels that it may sign for.
    """

    key: Any
    issuer: str | None
    endorsements: frozenset[str]


KeyDownload: TypeAlias = Callable[[], Awaitable[bytes]]
"""Fetches the JWKS document; raises SignInUnavailableError after three seconds."""


async def download_keys(session: aiohttp.ClientSession, url: str) -> bytes:
    """Return the JWKS document at `url`; see `KeyDownload`."""
    try:
        answer = await ask(session, "GET", url, _BOUNDS)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SignInUnavailableError("the key server did not answer") from error
    if answer.status != 200:
        raise SignInUnavailableError(f"the key server answered {answer.status}")
    return answer.body


class KeyTable:
    """The keys as they were downloaded last. Asks at most once a minute, whoever wants a key."""

    def __init__(self, *, download: KeyDownload, clock: Clock) -> None:
        self._download = download
        self._clock = clock
        self._keys: dict[str, SigningKey] = {}
        self._loaded_at = float("-inf")
        self._ask_at = float("-inf")

    def knows(self, key_id: str, *, within_seconds: float) -> bool:
        """Whether it is a key of a document that is no older."""
        return key_id in self._keys and self.age() <= within_seconds

    def key(self, key_id: str) -> SigningKey:
        """Return a key.

        Raises:
            UnauthenticatedError: the directory has no such key.
        """
        if key_id not in self._keys:
            raise UnauthenticatedError
        return self._keys[key_id]

    def age(self) -> float:
        """Return the seconds since the keys were downloaded."""
        return self._clock.monotonic() - self._loaded_at

    def may_ask(self) -> bool:
        """Whether the last attempt is long enough ago."""
        return self._clock.monotonic() >= self._ask_at

    async def load(self) -> None:
        """Download the keys; those that are known stay where that fails."""
        self._ask_at = self._clock.monotonic() + ASK_AGAIN_AFTER_FAILURE_SECONDS
        try:
            self._keys = _read_keys(await self._download())
        except SignInUnavailableError:
            logger.warning("signing_keys_not_renewed", known_keys=len(self._keys))
            return
        self._loaded_at = self._clock.monotonic()
        self._ask_at = self._loaded_at + ASK_AGAIN_SECONDS


class SigningKeys:
    """Keys by id, fetched while the caller waits."""

    def __init__(self, *, download: KeyDownload, clock: Clock) -> None:
        self._table = KeyTable(download=download, clock=clock)
        self._lock = asyncio.Lock()

    async def find(self, key_id: str) -> SigningKey:
        """Return the key `key_id`.

        Raises:
            UnauthenticatedError: the directory has no such key.
            SignInUnavailableError: the directory's keys are not known at the moment.
        """
        if not self._table.knows(key_id, within_seconds=RENEW_SECONDS):
            async with self._lock:
                # Whoever held the lock before may have fetched it.
                is_known = self._table.knows(key_id, within_seconds=RENEW_SECONDS)
                if not is_known and self._table.may_ask():
                    await self._table.load()
        if self._table.age() > KEEP_SECONDS:
            raise SignInUnavailableError("the signing keys are not known")
        return self._table.key(key_id)


def _read_keys(document: bytes) -> dict[str, SigningKey]:
    try:
        rows = orjson.loads(document)["keys"]
        return {
            row["kid"]: SigningKey(
                key=jwt.PyJWK(row, algorithm="RS256").key,
                issuer=row.get("issuer"),
                endorsements=frozenset(row.get("endorsements") or ()),
            )
            for row in rows
            if row.get("kty") == "RSA" and row.get("use", "sig") == "sig" and "kid" in row
        }
    except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError) as error:
        raise SignInUnavailableError("the key document is not as expected") from error
