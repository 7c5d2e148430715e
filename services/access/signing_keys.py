"""The public keys of a directory that signs tokens: fetched when needed, kept, and renewed."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import aiohttp
import jwt
import orjson
import structlog
from jwt.types import Options

from data_models.clock import Clock
from data_models.errors import SignInUnavailableError, UnauthenticatedError
from data_models.http_answers import Bounds, Refusal, fetch
from services.access.principal import TOKEN_LIMIT_CHARS

# Signed tokens: a cheap look before any key is fetched (spec page 7, R3), then the signature.

LEEWAY_SECONDS = 60.0
_KEY_ID_LIMIT_CHARS = 200
_YEAR_5000 = 95_617_584_000


@dataclass(frozen=True, slots=True)
class TokenForm:
    """What a token says of itself; nothing of it is verified."""

    key_id: str
    claims: dict[str, Any]


def read_form(token: str, *, now: datetime) -> TokenForm:
    """Return what `token` says if it could be valid at `now`.

    Raises:
        UnauthenticatedError: not a JWT signed with RS256, no key id, no expiry, or not its time.
    """
    if len(token) > TOKEN_LIMIT_CHARS:
        raise UnauthenticatedError
    try:
        whole = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        # Not `from error`: it may hold parts of the token.
        raise UnauthenticatedError from None
    header, claims = whole["header"], whole["payload"]
    key_id = header.get("kid")
    if header.get("alg") != "RS256" or "crit" in header or not isinstance(key_id, str):
        raise UnauthenticatedError
    if not 0 < len(key_id) <= _KEY_ID_LIMIT_CHARS:
        raise UnauthenticatedError
    # Check `exp`, which must be there, and `nbf`, with a minute of leeway.
    expires, begins = _seconds(claims.get("exp")), _seconds(claims.get("nbf", 0))
    if expires <= now.timestamp() - LEEWAY_SECONDS or begins > now.timestamp() + LEEWAY_SECONDS:
        raise UnauthenticatedError
    return TokenForm(key_id=key_id, claims=claims)


def verified_claims(
    token: str,
    key: Any,
    *,
    audience: str | Collection[str],
    issuer: str | None = None,
    also: Collection[str] = (),
) -> dict[str, Any]:
    """Return the claims of a token that `key` signed for `audience`.

    The times are not looked at: `read_form` checks them by our clock, on the same bytes.

    Args:
        issuer: Who must have issued it; None: the caller has looked.
        also: Claims that must be there besides `exp`, `iss` and `aud`.

    Raises:
        UnauthenticatedError: it is not so.
    """
    options: Options = {
        "require": ["exp", "iss", "aud", *also],
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
    }
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            audience=audience if isinstance(audience, str) else list(audience),
            issuer=issuer,
            options=options,
        )
    except (jwt.PyJWTError, ValueError):
        # Not `from error`: it may hold parts of the token.
        raise UnauthenticatedError from None
    return claims


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnauthenticatedError
    if not 0 <= value < _YEAR_5000:
        raise UnauthenticatedError
    return value


RENEW_SECONDS = 6 * 3_600.0
KEEP_SECONDS = 24 * 3_600.0
ASK_AGAIN_SECONDS = 60.0
ASK_AGAIN_AFTER_FAILURE_SECONDS = 15.0
_BOUNDS = Bounds(3.0, 1_000_000)
_UNAVAILABLE = Refusal(SignInUnavailableError, "the key server")

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
    return await fetch(session, "GET", url, _BOUNDS, refusal=_UNAVAILABLE)


class SigningKeys:
    """Keys by id, as they were downloaded last; asks at most once a minute, whoever wants a key.

    Args:
        patience_seconds: How long a caller waits for a download; what comes later serves the next.
    """

    def __init__(
        self, *, download: KeyDownload, clock: Clock, patience_seconds: float | None = None
    ) -> None:
        self._download = download
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._keys: dict[str, SigningKey] = {}
        self._loaded_at = self._ask_at = float("-inf")
        self._renewal: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> SigningKey:
        """Return the key `key_id`.

        Raises:
            UnauthenticatedError: the directory has no such key.
            SignInUnavailableError: the directory's keys are not known at the moment.
        """
        is_renewing = self._renewal is not None and not self._renewal.done()
        may_ask = is_renewing or self._clock.monotonic() >= self._ask_at
        if (key_id not in self._keys or self._age() > RENEW_SECONDS) and may_ask:
            await asyncio.wait({self._renew()}, timeout=self._patience_seconds)
        if self._age() > KEEP_SECONDS:
            raise SignInUnavailableError("the signing keys are not known")
        if key_id not in self._keys:
            raise UnauthenticatedError
        return self._keys[key_id]

    async def keep_fresh(self) -> None:
        """Renew the keys for as long as the server runs."""
        while True:
            await asyncio.wait({self._renew()})
            is_fresh = self._age() < RENEW_SECONDS
            await asyncio.sleep(RENEW_SECONDS if is_fresh else ASK_AGAIN_AFTER_FAILURE_SECONDS)

    def _age(self) -> float:
        return self._clock.monotonic() - self._loaded_at

    def _renew(self) -> "asyncio.Task[None]":
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._load())
        return self._renewal

    async def _load(self) -> None:
        """Download the keys; those that are known stay where that fails."""
        self._ask_at = self._clock.monotonic() + ASK_AGAIN_AFTER_FAILURE_SECONDS
        try:
            self._keys = _read_keys(await self._download())
        except SignInUnavailableError:
            logger.warning("signing_keys_not_renewed", known_keys=len(self._keys))
            return
        self._loaded_at = self._clock.monotonic()
        self._ask_at = self._loaded_at + ASK_AGAIN_SECONDS


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
