"""The Bot Framework's token service: what users signed in with, and where they sign in."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from yarl import URL

from bots.reference import Reference
from data_models.errors import ChannelUnavailableError, SignInUnavailableError
from data_models.http_answers import Bounds, ask
from data_models.values import read_value
from services.own_sign_in import TokenSource

_BOUNDS = Bounds(8.0, 100_000, connect_seconds=2.0)


@dataclass(frozen=True, slots=True)
class SignInConfig:
    """How users sign in to the team's bot.

    Attributes:
        connection: Name of the bot's OAuth connection.
        url: Address of the token service.
    """

    connection: str
    url: str
    app_id: str


@dataclass(frozen=True, slots=True)
class ChannelUser:
    """A user as the channel names them."""

    id: str
    channel_id: str


class SignInResource(BaseModel, alias_generator=to_camel, hide_input_in_errors=True):
    """Where a user signs in, and what the channel may exchange without asking them."""

    sign_in_link: str
    token_exchange_resource: dict[str, Any] | None = None


class _Token(BaseModel, alias_generator=to_camel, hide_input_in_errors=True):
    connection_name: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenService:
    """Asks the token service as the team's bot; the caller owns `session`."""

    config: SignInConfig
    tokens: TokenSource
    session: aiohttp.ClientSession

    async def token_of(self, user: ChannelUser, *, code: str | None = None) -> str | None:
        """Return what the user signed in with, None if they did not.

        Args:
            user: Who is asked for.
            code: What the sign-in page gave the channel, once.

        Raises:
            SignInUnavailableError: the service does not answer, or not as expected.
        """
        asked = {
            "userId": user.id,
            "connectionName": self.config.connection,
            "channelId": user.channel_id,
            **({} if code is None else {"code": code}),
        }
        status, data = await self._ask("/api/usertoken/GetToken", asked)
        if status == 404:
            return None
        found = read_value(data, _Token, refusal=_unlike(status))
        return found.token if found.connection_name == self.config.connection else None

    async def sign_in_resource(self, reference: Reference) -> SignInResource:
        """Return where the user of `reference` signs in.

        Raises:
            SignInUnavailableError: the service does not answer, or not as expected.
        """
        state = {
            "connectionName": self.config.connection,
            "conversation": {name: reference.get(name) for name in _CONVERSATION},
            "msAppId": self.config.app_id,
        }
        asked = {"state": b64encode(orjson.dumps(state)).decode()}
        status, data = await self._ask("/api/botsignin/GetSignInResource", asked)
        return read_value(data, SignInResource, refusal=_unlike(status))

    async def _ask(self, path: str, query: dict[str, str]) -> tuple[int, bytes]:
        url = URL(f"{self.config.url}{path}").with_query(query)
        try:
            token = await self.tokens.token()
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            status, _, data = await ask(self.session, "GET", url, _BOUNDS, headers=headers)
        except (aiohttp.ClientError, TimeoutError, ChannelUnavailableError):
            # Not `from error`: the address may hold a code.
            raise SignInUnavailableError("the token service did not answer") from None
        if status == 401:
            self.tokens.note_refusal(token)
        if status not in (200, 404):
            raise _unlike(status)
        return status, data


_CONVERSATION = ("activityId", "user", "bot", "conversation", "channelId", "locale", "serviceUrl")


def _unlike(status: int) -> SignInUnavailableError:
    return SignInUnavailableError(f"the token service answered {status}")
