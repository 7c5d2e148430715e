"""How this server signs in to others: a token, an application of its own, its platform's identity.

Whoever asks says as what a failure counts (`TokenErrors`); no error holds a secret or a token.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import aiohttp
import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import BaseModel, Field
from yarl import URL

from data_models.clock import Clock
from data_models.errors import BusyError, ConfigurationError, RoundsError
from data_models.http_answers import Bounds, HttpAnswer, ask, seconds_asked
from data_models.values import read_value

_BOUNDS: Final = Bounds(seconds=10.0, limit_bytes=100_000, connect_seconds=2.0)
_ASSERTION_LIFE: Final = timedelta(minutes=4)
"""SMART allows five minutes."""
_RENEW_BEFORE_SECONDS: Final = 300.0
_ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True, slots=True)
class TokenErrors:
    """What the failures of a sign-in are to whoever needs the token.

    Attributes:
        refused: The application is not known, or its secret or key is wrong.
        unreadable: What the server of tokens answers holds no token.
    """

    refused: Callable[[str], RoundsError]
    busy: type[BusyError]
    unreadable: Callable[[str], RoundsError]


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and for how long it is valid."""

    text: str = field(repr=False)
    seconds: float

    @property
    def kept_seconds(self) -> float:
        """For how long it is used: half of its life where the margin is longer than that."""
        return max(self.seconds - _RENEW_BEFORE_SECONDS, self.seconds / 2)


SignIn: TypeAlias = Callable[[], Awaitable[IssuedToken]]
"""Has a new token issued.

Raises:
    RoundsError: one of its `TokenErrors`.
"""


class TokenSource(Protocol):
    """Has the token that a client shows."""

    async def token(self) -> str:
        """Return it.

        Raises:
            RoundsError: there is none just now.
        """
        ...

    def note_refusal(self, token: str) -> bool:
        """Take note that the server did not take `token`; tell whether another may help."""
        ...


async def ask_signed(
    source: TokenSource | None, send: Callable[[str], Awaitable[HttpAnswer]]
) -> HttpAnswer:
    """Return what `send` gives with a token ("": there is none), or with a new one after a 401."""
    if source is None:
        return await send("")
    token = await source.token()
    answer = await send(token)
    if answer.status == 401 and source.note_refusal(token):
        # It ran out, was revoked, or its key was changed.
        return await send(await source.token())
    return answer


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
            RoundsError: see `SignIn`.
        """
        async with self._lock:
            if self._clock.monotonic() >= self._renew_at:
                issued = await self._sign_in()
                self._token = issued.text
                self._renew_at = self._clock.monotonic() + issued.kept_seconds
            return self._token

    def note_refusal(self, token: str) -> bool:
        """Take note that the server did not take `token`; a newer one stays."""
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
        token_url: Where tokens are issued; None: where the FHIR server at `base_url` says.
        is_secret_posted: Whether the secret goes into the form, as Entra ID's clients do it.
    """

    client_id: str
    scope: str
    token_url: str | None = None
    base_url: URL | None = None
    secret: str | None = None
    is_secret_posted: bool = False
    key: SigningKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientCredentials:
    """A `SignIn` by OAuth 2 client credentials, with a secret or a signed assertion."""

    client: Client
    errors: TokenErrors
    session: aiohttp.ClientSession
    clock: Clock

    async def __call__(self) -> IssuedToken:
        """See `SignIn`."""
        url = self.client.token_url or await self._discover()
        form, headers = self._signed(url)
        answer = await self._ask("POST", url, data=form, **headers)
        if answer.status != 200:
            raise self.errors.refused(f"the server of tokens answered {answer.status}")
        refusal = self.errors.unreadable("the server of tokens gave none")
        found = read_value(answer.body, _Answer, refusal=refusal)
        if not (found.access_token.isascii() and found.access_token.isprintable()):
            raise self.errors.unreadable("the token is one that no header can carry")
        return IssuedToken(found.access_token, found.expires_in)

    def _signed(self, url: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the form, and the headers that prove who sends it where the form does not."""
        client = self.client
        form = {"grant_type": "client_credentials", "scope": client.scope}
        if client.key is not None:
            form["client_assertion_type"] = _ASSERTION_TYPE
            form["client_assertion"] = client.key.signed(self._claims(url))
            return form, {}
        if client.is_secret_posted:
            return {**form, "client_id": client.client_id, "client_secret": client.secret or ""}, {}
        proof = aiohttp.encode_basic_auth(client.client_id, client.secret or "")
        return form, {"Authorization": proof}

    def _claims(self, url: str) -> dict[str, Any]:
        now = self.clock.now()
        return {
            "iss": self.client.client_id,
            "sub": self.client.client_id,
            "aud": url,
            "jti": secrets.token_urlsafe(24),
            "iat": int(now.timestamp()),
            "exp": int((now + _ASSERTION_LIFE).timestamp()),
        }

    async def _discover(self) -> str:
        if (base_url := self.client.base_url) is None:
            raise self.errors.unreadable("nobody says where tokens are issued")
        address = base_url / ".well-known" / "smart-configuration"
        answer = await self._ask("GET", str(address))
        refusal = self.errors.unreadable(f"smart-configuration: answered {answer.status}")
        found = read_value(answer.body, _Configuration, refusal=refusal)
        url = URL(found.token_endpoint)
        is_safe = url.scheme == "https" or url.origin() == base_url.origin()
        if not is_safe:
            raise self.errors.unreadable("smart-configuration: token_endpoint is not https")
        return found.token_endpoint

    async def _ask(self, method: str, url: str, *, data: Any = None, **headers: str) -> HttpAnswer:
        headers["Accept"] = "application/json"
        try:
            answer = await ask(self.session, method, url, _BOUNDS, data=data, headers=headers)
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = f"the server of tokens did not answer ({type(error).__name__})"
            # Not `from error`: aiohttp's errors may hold the request, and so the secret.
            raise self.errors.busy(reason) from None
        if answer.status == 429 or answer.status >= 500:
            seconds = seconds_asked(answer.headers, now=self.clock.now())
            reason = f"the server of tokens answered {answer.status}"
            raise self.errors.busy(reason, wait_seconds=seconds)
        return answer


class _Configuration(BaseModel):
    token_endpoint: str


class _Answer(BaseModel):
    access_token: str = Field(min_length=1)
    expires_in: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedIdentity:
    """A `SignIn` by an identity that the platform has, as Azure has it.

    Attributes:
        client_id: Of the one identity that is meant; None: whichever signs in here.
    """

    scope: str
    refused: Callable[[str], RoundsError]
    clock: Clock
    client_id: str | None = None

    async def __call__(self) -> IssuedToken:
        """See `SignIn`; the credential's connections live no longer than one question."""
        # 0.4 s, only where the machine itself signs in.
        from azure.core.exceptions import AzureError
        from azure.identity.aio import DefaultAzureCredential, ManagedIdentityCredential

        own = self.client_id
        try:
            async with (
                ManagedIdentityCredential(client_id=own) if own else DefaultAzureCredential()
            ) as credential:
                found = await credential.get_token(self.scope)
        except AzureError as error:
            reason = f"the managed identity gave no token ({type(error).__name__})"
            # `from None`: the cause lists tenants and endpoints that were tried.
            raise self.refused(reason) from None
        return IssuedToken(found.token, found.expires_on - self.clock.now().timestamp())


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
