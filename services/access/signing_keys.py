"""The public keys of the directory that signs tokens: fetched when needed, kept, and renewed."""

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

DOWNLOAD_SECONDS = 3.0
RENEW_SECONDS = 6 * 3_600.0
KEEP_SECONDS = 24 * 3_600.0
ASK_AGAIN_SECONDS = 60.0
ASK_AGAIN_AFTER_FAILURE_SECONDS = 15.0

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One public key; `issuer` names the directory it may sign for, if the document says so."""

    key: Any
    issuer: str | None


KeyDownload: TypeAlias = Callable[[], Awaitable[bytes]]
"""Fetches the JWKS document; raises SignInUnavailableError after `DOWNLOAD_SECONDS`."""


class HttpKeyDownload:
    """Fetches the key document from `url`; the caller owns `session`."""

    def __init__(self, *, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self._timeout = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS)

    async def __call__(self) -> bytes:
        """Return the JWKS document; see `KeyDownload`."""
        try:
            async with self._session.get(
                self._url, timeout=self._timeout, allow_redirects=False
            ) as answer:
                if answer.status != 200:
                    raise SignInUnavailableError(f"the key server answered {answer.status}")
                return await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SignInUnavailableError("the key server did not answer") from error


class SigningKeys:
    """Keys by id. Asks at most once a minute, whatever key ids callers make up."""

    def __init__(self, *, download: KeyDownload, clock: Clock) -> None:
        self._download = download
        self._clock = clock
        self._keys: dict[str, SigningKey] = {}
        self._loaded_at = float("-inf")
        self._ask_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str) -> SigningKey:
        """Return the key `key_id`.

        Raises:
            UnauthenticatedError: the directory has no such key.
            SignInUnavailableError: the directory's keys are not known at the moment.
        """
        if key_id not in self._keys or self._age() > RENEW_SECONDS:
            await self._renew(key_id)
        if self._age() > KEEP_SECONDS:
            raise SignInUnavailableError("the signing keys are not known")
        if key_id not in self._keys:
            raise UnauthenticatedError
        return self._keys[key_id]

    async def _renew(self, key_id: str) -> None:
        async with self._lock:
            # Whoever held the lock before may have fetched it.
            known = key_id in self._keys and self._age() <= RENEW_SECONDS
            if known or self._clock.monotonic() < self._ask_at:
                return
            self._ask_at = self._clock.monotonic() + ASK_AGAIN_AFTER_FAILURE_SECONDS
            try:
                self._keys = _read_keys(await self._download())
            except SignInUnavailableError:
                logger.warning("signing_keys_not_renewed", known_keys=len(self._keys))
                return
            self._loaded_at = self._clock.monotonic()
            self._ask_at = self._loaded_at + ASK_AGAIN_SECONDS

    def _age(self) -> float:
        return self._clock.monotonic() - self._loaded_at


def _read_keys(document: bytes) -> dict[str, SigningKey]:
    try:
        rows = orjson.loads(document)["keys"]
        return {row["kid"]: _signing_key(row) for row in rows if _is_usable(row)}
    except (ValueError, TypeError, KeyError, jwt.PyJWTError) as error:
        raise SignInUnavailableError("the key document is not as expected") from error


def _is_usable(row: dict[str, Any]) -> bool:
    return row.get("kty") == "RSA" and row.get("use", "sig") == "sig" and "kid" in row


def _signing_key(row: dict[str, Any]) -> SigningKey:
    return SigningKey(key=jwt.PyJWK(row, algorithm="RS256").key, issuer=row.get("issuer"))
