"""The Bot Framework's signing keys, always at hand: no request waits for their download."""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import jwt
import orjson
import structlog

from data_models.clock import Clock
from data_models.errors import SignInUnavailableError, UnauthenticatedError
from services.access.signing_keys import HttpKeyDownload, KeyDownload

RENEW_SECONDS = 6 * 3_600.0
KEEP_SECONDS = 24 * 3_600.0
ASK_AGAIN_SECONDS = 60.0
ASK_AGAIN_AFTER_FAILURE_SECONDS = 15.0
PATIENCE_SECONDS = 0.05

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ChannelKey:
    """One public key and the channels it may sign for."""

    key: Any
    endorsements: frozenset[str]


class MetadataKeyDownload:
    """Finds the key document by the OpenID metadata; the caller owns `session`."""

    def __init__(self, *, session: aiohttp.ClientSession, metadata_url: str) -> None:
        self._session = session
        self._url = metadata_url

    async def __call__(self) -> bytes:
        """See `KeyDownload`."""
        metadata = await HttpKeyDownload(session=self._session, url=self._url)()
        keys_url = _keys_url(metadata)
        if urlsplit(keys_url)[:2] != urlsplit(self._url)[:2]:
            raise SignInUnavailableError("the metadata points to another server")
        return await HttpKeyDownload(session=self._session, url=keys_url)()


class ChannelKeys:
    """Keys by id, renewed in the background and asked for at most once a minute."""

    def __init__(self, *, download: KeyDownload, clock: Clock) -> None:
        self._download = download
        self._clock = clock
        self._keys: dict[str, ChannelKey] = {}
        self._loaded_at = float("-inf")
        self._ask_at = float("-inf")
        self._renewal: asyncio.Task[None] | None = None

    async def keep_fresh(self) -> None:
        """Renew the keys for as long as the server runs."""
        while True:
            await self._wait_for_renewal()
            is_fresh = self._age() < RENEW_SECONDS
            await asyncio.sleep(RENEW_SECONDS if is_fresh else ASK_AGAIN_AFTER_FAILURE_SECONDS)

    async def find(self, key_id: str) -> ChannelKey:
        """Return the key `key_id`, within a twentieth of a second.

        A new key of the directory is downloaded meanwhile and serves the next request.

        Raises:
            UnauthenticatedError: no such key is known.
        """
        if key_id not in self._keys and self._may_ask():
            await asyncio.wait({self._renew()}, timeout=PATIENCE_SECONDS)
        if key_id not in self._keys or self._age() > KEEP_SECONDS:
            raise UnauthenticatedError
        return self._keys[key_id]

    def _may_ask(self) -> bool:
        under_way = self._renewal is not None and not self._renewal.done()
        return under_way or self._clock.monotonic() >= self._ask_at

    async def _wait_for_renewal(self) -> None:
        await asyncio.wait({self._renew()})

    def _renew(self) -> "asyncio.Task[None]":
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._load())
        return self._renewal

    async def _load(self) -> None:
        self._ask_at = self._clock.monotonic() + ASK_AGAIN_AFTER_FAILURE_SECONDS
        try:
            self._keys = _read_keys(await self._download())
        except SignInUnavailableError:
            logger.warning("channel_keys_not_renewed", known_keys=len(self._keys))
            return
        self._loaded_at = self._clock.monotonic()
        self._ask_at = self._loaded_at + ASK_AGAIN_SECONDS

    def _age(self) -> float:
        return self._clock.monotonic() - self._loaded_at


def _keys_url(metadata: bytes) -> str:
    try:
        found = orjson.loads(metadata)["jwks_uri"]
    except (ValueError, TypeError, KeyError) as error:
        raise SignInUnavailableError("the metadata is not as expected") from error
    if not isinstance(found, str):
        raise SignInUnavailableError("the metadata is not as expected")
    return found


def _read_keys(document: bytes) -> dict[str, ChannelKey]:
    try:
        rows = [row for row in orjson.loads(document)["keys"] if row.get("kty") == "RSA"]
        return {row["kid"]: _channel_key(row) for row in rows}
    except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError) as error:
        raise SignInUnavailableError("the key document is not as expected") from error


def _channel_key(row: dict[str, Any]) -> ChannelKey:
    return ChannelKey(
        key=jwt.PyJWK(row, algorithm="RS256").key,
        endorsements=frozenset(row.get("endorsements") or ()),
    )
