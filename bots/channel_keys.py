"""The Bot Framework's signing keys, always at hand: no request waits for their download."""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
import orjson

from data_models.clock import Clock
from data_models.errors import SignInUnavailableError, UnauthenticatedError
from services.access import signing_keys

PATIENCE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataKeyDownload:
    """Finds the key document by the OpenID metadata; the caller owns `session`."""

    session: aiohttp.ClientSession
    metadata_url: str

    async def __call__(self) -> bytes:
        """See `KeyDownload`."""
        metadata = await signing_keys.HttpKeyDownload(session=self.session, url=self.metadata_url)()
        keys_url = _keys_url(metadata)
        if urlsplit(keys_url)[:2] != urlsplit(self.metadata_url)[:2]:
            raise SignInUnavailableError("the metadata points to another server")
        return await signing_keys.HttpKeyDownload(session=self.session, url=keys_url)()


class ChannelKeys:
    """Keys by id, renewed in the background."""

    def __init__(self, *, download: signing_keys.KeyDownload, clock: Clock) -> None:
        self._table = signing_keys.KeyTable(download=download, clock=clock)
        self._renewal: asyncio.Task[None] | None = None

    async def keep_fresh(self) -> None:
        """Renew the keys for as long as the server runs."""
        while True:
            await asyncio.wait({self._renew()})
            is_fresh = self._table.age() < signing_keys.RENEW_SECONDS
            await asyncio.sleep(
                signing_keys.RENEW_SECONDS
                if is_fresh
                else signing_keys.ASK_AGAIN_AFTER_FAILURE_SECONDS
            )

    async def find(self, key_id: str) -> signing_keys.SigningKey:
        """Return the key `key_id`, within a twentieth of a second.

        A new key of the directory is downloaded meanwhile and serves the next request.

        Raises:
            UnauthenticatedError: no such key is known.
        """
        is_known = self._table.knows(key_id, within_seconds=float("inf"))
        is_renewing = self._renewal is not None and not self._renewal.done()
        if not is_known and (is_renewing or self._table.may_ask()):
            await asyncio.wait({self._renew()}, timeout=PATIENCE_SECONDS)
        if not self._table.knows(key_id, within_seconds=signing_keys.KEEP_SECONDS):
            raise UnauthenticatedError
        return self._table.key(key_id)

    def _renew(self) -> "asyncio.Task[None]":
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._table.load())
        return self._renewal


def _keys_url(metadata: bytes) -> str:
    try:
        found = orjson.loads(metadata)["jwks_uri"]
    except (ValueError, TypeError, KeyError) as error:
        raise SignInUnavailableError("the metadata is not as expected") from error
    if not isinstance(found, str):
        raise SignInUnavailableError("the metadata is not as expected")
    return found
