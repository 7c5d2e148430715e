"""Tokens for Microsoft Graph: the users' own, or the application's."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import aiohttp
import orjson

from data_models.clock import Clock
from data_models.errors import (
    AssistantBusyError,
    AssistantNotGrantedError,
    AssistantRefusedError,
    AssistantSignInError,
    AssistantUnavailableError,
    OnBehalfRefusedError,
    SignInNeededError,
    SignInUnavailableError,
)
from services.access.on_behalf import OnBehalf
from services.assistant.graph_wire import GraphLimits, read_bounded_body, wait_asked

RENEW_BEFORE_SECONDS = 300.0
_ANSWER_LIMIT_BYTES = 100_000


class OwnToken:
    """One user's delegated token, as an operator set it; nothing here can renew it."""

    def __init__(self, *, token: str) -> None:
        self._token = token
        self._is_refused = False

    async def token(self, principal_id: str) -> str:
        """Return the token.

        Raises:
            AssistantRefusedError: it was refused: the user or the operator has to sign in.
        """
        if self._is_refused:
            raise AssistantRefusedError("the delegated token has ended")
        return self._token

    def note_refusal(self, principal_id: str, token: str) -> None:
        """Take note that Graph did not take `token`."""
        self._is_refused = True


@dataclass(frozen=True, slots=True)
class AppCredential:
    """What an application signs in with.

    Attributes:
        url: The directory's token endpoint, `…/{tenant}/oauth2/v2.0/token`.
        scope: `https://graph.microsoft.com/.default` in the worldwide cloud.
    """

    url: str
    client_id: str
    client_secret: str
    scope: str

    def __repr__(self) -> str:
        return f"AppCredential(client_id={self.client_id!r})"


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and how long it lives."""

    text: str
    lifetime_seconds: float


TokenIssue: TypeAlias = Callable[[], Awaitable[IssuedToken]]
"""Has a new token of the application issued.

Raises:
    AssistantRefusedError: the application is not known, or its secret is wrong.
    AssistantUnavailableError: the token service did not answer.
"""


class AppTokens:
    """The application's token, one for all principals.

    It is kept, renewed `RENEW_BEFORE_SECONDS` before its end, and asked for once at a time.
    """

    def __init__(self, *, issue: TokenIssue, clock: Clock) -> None:
        self._issue = issue
        self._clock = clock
        self._token = ""
        self._renew_at = float("-inf")
        self._lock = asyncio.Lock()

    async def token(self, principal_id: str) -> str:
        """Return a token that is not about to end.

        Raises:
            AssistantError: see `TokenIssue`.
        """
        async with self._lock:
            if self._clock.monotonic() >= self._renew_at:
                issued = await self._issue()
                self._token = issued.text
                self._renew_at = self._clock.monotonic() + _kept_seconds(issued)
            return self._token

    def note_refusal(self, principal_id: str, token: str) -> None:
        """Take note that Graph did not take `token`; a newer one stays."""
        if self._token == token:
            self._renew_at = float("-inf")


class UserTokens:
    """Each principal's own token, which the directory gives on their behalf."""

    def __init__(self, *, on_behalf: OnBehalf, scope: str) -> None:
        self._on_behalf = on_behalf
        self._scope = scope

    async def token(self, principal_id: str) -> str:
        """Return the principal's token.

        Raises:
            AssistantSignInError: the user has to sign in first.
            AssistantNotGrantedError: the directory does not let us act for them.
            AssistantUnavailableError: it does not answer.
        """
        try:
            return await self._on_behalf.token(principal_id, self._scope)
        except SignInNeededError:
            raise AssistantSignInError("the user has not signed in") from None
        except OnBehalfRefusedError:
            raise AssistantNotGrantedError("the directory refused the application") from None
        except SignInUnavailableError:
            raise AssistantUnavailableError("the directory gave no token of the user") from None

    def note_refusal(self, principal_id: str, token: str) -> None:
        """Take note that Graph did not take `token`; a newer one stays."""
        self._on_behalf.note_refusal(principal_id, self._scope, token)


GraphTokens: TypeAlias = OwnToken | AppTokens | UserTokens
"""Gives tokens by `principal_id`."""


class CredentialIssue:
    """A `TokenIssue` by the client credentials flow."""

    def __init__(
        self, *, credential: AppCredential, session: aiohttp.ClientSession, limits: GraphLimits
    ) -> None:
        self._credential = credential
        self._session = session
        self._limits = limits

    async def __call__(self) -> IssuedToken:
        """See `TokenIssue`."""
        form = {
            "client_id": self._credential.client_id,
            "client_secret": self._credential.client_secret,
            "scope": self._credential.scope,
            "grant_type": "client_credentials",
        }
        try:
            async with self._session.post(
                self._credential.url,
                data=form,
                allow_redirects=False,
                timeout=self._limits.timeout(),
            ) as answer:
                data = await read_bounded_body(answer, limit_bytes=_ANSWER_LIMIT_BYTES)
                _check(answer.status, answer.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = f"the token service did not answer ({type(error).__name__})"
            # Not `from error`: aiohttp's errors may hold the request, and so the secret.
            raise AssistantBusyError(reason) from None
        return _issued(data)


def _kept_seconds(issued: IssuedToken) -> float:
    """Return how long a token is used: half of its life where the margin is longer than that."""
    life = issued.lifetime_seconds
    return max(life - RENEW_BEFORE_SECONDS, life / 2)


def _check(status: int, retry_after: str | None) -> None:
    if status == 429 or status >= 500:
        reason = f"the token service answered {status}"
        raise AssistantBusyError(reason, wait_seconds=wait_asked(retry_after))
    if status != 200:
        raise AssistantRefusedError(f"the token service answered {status}")


def _issued(data: bytes) -> IssuedToken:
    try:
        body: Any = orjson.loads(data)
        text, seconds = str(body["access_token"]), float(body["expires_in"])
    except (ValueError, TypeError, KeyError):
        # `from None`: the cause may quote the token.
        raise AssistantUnavailableError("the token service's answer holds no token") from None
    # What a header cannot carry is no token either.
    if not (text.isascii() and text.isprintable() and text):
        raise AssistantUnavailableError("the token service's answer holds no token")
    return IssuedToken(text, seconds)
