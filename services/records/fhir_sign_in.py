"""How Rounds signs in to a FHIR server: a token, an application of its own, a managed identity."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import aiohttp
import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import BaseModel, ValidationError
from yarl import URL

from data_models.clock import Clock
from data_models.errors import (
    ConfigurationError,
    RecordsRefusedError,
    RecordsUnavailableError,
    RecordsUnreadableError,
)
from data_models.http_answers import first_bytes

_SECONDS: Final = 10.0
_ANSWER_LIMIT_BYTES: Final = 100_000
_ASSERTION_LIFE: Final = timedelta(minutes=4)
"""SMART allows five minutes."""
_RENEW_BEFORE_SECONDS: Final = 60.0
_ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True, slots=True)
class Issued:
    """A token and for how long it is valid."""

    token: str
    seconds: float


SignIn: TypeAlias = Callable[[], Awaitable[Issued]]
"""Has a new token issued.

Raises:
    RecordsRefusedError: the server of tokens does not know us.
    RecordsUnavailableError: it does not answer.
    RecordsUnreadableError: what it answers holds no token.
"""


class TokenSource(Protocol):
    """Has the token that a client shows."""

    async def token(self) -> str:
        """Return it.

        Raises:
            RecordsError: there is none just now.
        """
        ...

    def note_refusal(self, token: str) -> bool:
        """Take note that the server did not take `token`; tell whether another may help."""
        ...


class Tokens:
    """The token of one client: kept, renewed before its end or after a refusal, once at a time."""

    def __init__(self, *, sign_in: SignIn, clock: Clock) -> None:
        self._sign_in = sign_in
        self._clock = clock
        self._token = ""
        self._renew_at = float("-inf")
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """Return a token that is not about to end.

        Raises:
            RecordsError: see `SignIn`.
        """
        async with self._lock:
            if self._clock.monotonic() >= self._renew_at:
                issued = await self._sign_in()
                kept = max(issued.seconds - _RENEW_BEFORE_SECONDS, issued.seconds / 2)
                self._token, self._renew_at = issued.token, self._clock.monotonic() + kept
            return self._token

    def note_refusal(self, token: str) -> bool:
        """Take note that the server did not take `token`; tell whether another may help."""
        if token == self._token:
            self._renew_at = float("-inf")
        return True


class OwnToken:
    """A token that the operator set; nothing here can renew it."""

    def __init__(self, *, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        """Return it."""
        return self._token

    def note_refusal(self, token: str) -> bool:
        """Return False: there is no other."""
        return False


class SigningKey:
    """The private key of a client of SMART backend services: RSA or an elliptic curve."""

    def __init__(self, *, pem: bytes, key_id: str | None) -> None:
        """Take the key.

        Raises:
            ConfigurationError: it is no private key in PEM.
        """
        try:
            self._key: Any = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            problem = "FHIR_CLIENT_KEY_FILE: holds no private key in PEM without a password"
            raise ConfigurationError(problem) from None
        is_curve = isinstance(self._key, EllipticCurvePrivateKey)
        self._algorithm = "ES384" if is_curve else "RS384"
        self._headers = {"typ": "JWT", **({"kid": key_id} if key_id else {})}

    def signed(self, claims: dict[str, Any]) -> str:
        """Return a JWT of the claims."""
        return jwt.encode(claims, self._key, algorithm=self._algorithm, headers=self._headers)


@dataclass(frozen=True, slots=True, repr=False)
class Client:
    """What an application signs in with: a secret, or a key (SMART backend services).

    Attributes:
        token_url: Where tokens are issued; None: where the FHIR server says.
    """

    client_id: str
    scope: str
    token_url: str | None = None
    secret: str | None = None
    key: SigningKey | None = None


class ClientCredentials:
    """A `SignIn` by OAuth 2 client credentials, with a secret or a signed assertion."""

    def __init__(
        self, *, client: Client, base_url: URL, session: aiohttp.ClientSession, clock: Clock
    ) -> None:
        self._client = client
        self._base_url = base_url
        self._session = session
        self._clock = clock
        self._timeout = aiohttp.ClientTimeout(total=_SECONDS)

    async def __call__(self) -> Issued:
        """See `SignIn`."""
        url = self._client.token_url or await self._discover()
        form = {"grant_type": "client_credentials", "scope": self._client.scope}
        signed: dict[str, str] = {}
        if self._client.key is not None:
            form["client_assertion_type"] = _ASSERTION_TYPE
            form["client_assertion"] = self._client.key.signed(self._claims(url))
        else:
            proof = aiohttp.encode_basic_auth(self._client.client_id, self._client.secret or "")
            signed = {"Authorization": proof}
        status, data = await self._ask("POST", url, data=form, headers=signed)
        if status in (400, 401, 403):
            raise RecordsRefusedError(f"the server of tokens answered {status}")
        return _issued(status, data)

    def _claims(self, url: str) -> dict[str, Any]:
        now = self._clock.now()
        return {
            "iss": self._client.client_id,
            "sub": self._client.client_id,
            "aud": url,
            "jti": secrets.token_urlsafe(24),
            "iat": int(now.timestamp()),
            "exp": int((now + _ASSERTION_LIFE).timestamp()),
        }

    async def _discover(self) -> str:
        address = self._base_url / ".well-known" / "smart-configuration"
        status, data = await self._ask("GET", str(address))
        try:
            found = _Configuration.model_validate_json(data)
        except ValidationError:
            raise RecordsUnreadableError(f"smart-configuration: answered {status}") from None
        url = URL(found.token_endpoint)
        is_safe = url.scheme == "https" or url.origin() == self._base_url.origin()
        if not is_safe:
            raise RecordsUnreadableError("smart-configuration: token_endpoint is not https")
        return found.token_endpoint

    async def _ask(
        self, method: str, url: str, *, data: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        try:
            async with self._session.request(
                method, url, data=data, allow_redirects=False,
                headers={"Accept": "application/json", **(headers or {})}, timeout=self._timeout,
            ) as answer:  # fmt: skip
                body = await first_bytes(answer.content, limit_bytes=_ANSWER_LIMIT_BYTES)
                return answer.status, body
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = f"the server of tokens did not answer ({type(error).__name__})"
            # Not `from error`: aiohttp's errors may hold the request, and so the secret.
            raise RecordsUnavailableError(reason) from None


class _Configuration(BaseModel):
    token_endpoint: str


class _Answer(BaseModel):
    access_token: str
    expires_in: float = 300.0


def _issued(status: int, data: bytes) -> Issued:
    if status != 200:
        raise RecordsUnavailableError(f"the server of tokens answered {status}")
    try:
        found = _Answer.model_validate_json(data)
    except ValidationError:
        # `from None`: the cause may quote the token.
        raise RecordsUnreadableError("the server of tokens gave none") from None
    if not (found.access_token.isascii() and found.access_token.isprintable()):
        raise RecordsUnreadableError("the server of tokens gave one that no header can carry")
    return Issued(found.access_token, found.expires_in)


def key_in(path: Path, *, key_id: str | None) -> SigningKey:
    """Return the key of a file.

    Raises:
        ConfigurationError: the file cannot be read or holds no key.
    """
    try:
        pem = path.read_bytes()
    except OSError:
        raise ConfigurationError("FHIR_CLIENT_KEY_FILE: cannot be read") from None
    return SigningKey(pem=pem, key_id=key_id)
