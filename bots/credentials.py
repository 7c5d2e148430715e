"""The bot's own tokens, which its replies carry."""

import asyncio
from collections.abc import Callable
from functools import partial

import requests
from botframework.connector.auth import AppCredentials, MicrosoftAppCredentials
from botframework.connector.auth.managedidentity_app_credentials import (
    ManagedIdentityAppCredentials,
)

from bots.config import Registration
from bots.tokens import NoTokens, TokenSource
from data_models.clock import Clock
from data_models.errors import ChannelUnavailableError

KEEP_SECONDS = 300.0


class AppTokens:
    """Tokens of the bot's app registration; botbuilder asks for them and keeps them."""

    def __init__(self, *, credentials: Callable[[], AppCredentials], clock: Clock) -> None:
        """`credentials` makes them anew: those that exist give the token they have kept."""
        self._make = credentials
        self._credentials = credentials()
        self._clock = clock
        self._token: str | None = None
        self._ask_at = float("-inf")
        self._lock = asyncio.Lock()

    async def token(self) -> str | None:
        """See `TokenSource.token`."""
        async with self._lock:
            if self._token is None or self._clock.monotonic() >= self._ask_at:
                self._token = await asyncio.to_thread(self._ask)
                self._ask_at = self._clock.monotonic() + KEEP_SECONDS
        return self._token

    def renew(self) -> None:
        """See `TokenSource.renew`."""
        self._credentials, self._token = self._make(), None

    def _ask(self) -> str:
        """Ask the directory; this blocks, so it runs in a thread."""
        try:
            return str(self._credentials.get_access_token())
        except (PermissionError, KeyError, ValueError, requests.RequestException):
            # Not `from error`: the directory's answer may quote the request.
            raise ChannelUnavailableError("the directory gave the bot no token") from None


def token_source(bot: Registration, clock: Clock) -> TokenSource:
    """Return where replies of `bot` get their tokens, for its kind of app registration."""
    if not bot.app_id:
        return NoTokens()
    if bot.app_type == "UserAssignedMSI":
        return AppTokens(
            credentials=partial(ManagedIdentityAppCredentials, bot.app_id), clock=clock
        )
    credentials = partial(
        MicrosoftAppCredentials,
        bot.app_id,
        bot.app_password,
        channel_auth_tenant=bot.directory,
    )
    return AppTokens(credentials=credentials, clock=clock)
