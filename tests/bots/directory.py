"""A small Bot Framework sign-in on loopback: real keys, real tokens, real HTTP.

It also gives bots the tokens that their replies carry, to each its own by its own password.
"""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Any

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.errors import ChannelUnavailableError
from tests.keys import key_row, signed

APP_ID = "99999999-8888-7777-6666-555555555555"
TENANT = "11111111-2222-3333-4444-555555555555"
USER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
SERVICE_URL = "https://smba.trafficmanager.net/emea/"

_ENDORSEMENTS = {"one": ["msteams"], "two": ["msteams"], "webchat": ["webchat"]}


class ChannelDirectory:
    """Signs channels' tokens and serves the keys they are signed with."""

    def __init__(self, *, now: datetime) -> None:
        self._now = now
        self.published = ["one", "webchat", "plain"]
        self.downloads = 0
        self.status = 200
        self.delay_seconds = 0.0
        self.hurry = asyncio.Event()
        """Ends all delays."""
        self.keys_url = ""
        self.audience = APP_ID
        self.passwords = {APP_ID: "team-password"}
        self.granted: list[str] = []
        app = web.Application()
        app.router.add_get("/openid", self._metadata)
        app.router.add_get("/keys", self._keys)
        self.server = TestServer(app)

    @property
    def url(self) -> str:
        return str(self.server.make_url("/openid"))

    def token(self, *, key: str = "one", alg: str = "RS256", **changes: Any) -> str:
        """Return a good token, but for `changes`; a claim changed to None is left out."""
        claims = {
            "iss": "https://api.botframework.com",
            "aud": self.audience,
            "exp": int(self._now.timestamp()) + 3_600,
            "nbf": int(self._now.timestamp()) - 60,
            "serviceurl": SERVICE_URL,
        } | changes
        return signed(claims, key=key, alg=alg)

    def forged(self) -> str:
        """Return a token that names one key and is signed with another."""
        claims = jwt.decode(self.token(), options={"verify_signature": False})
        return signed(claims, key="two", kid="one")

    def grant(self, app_id: str, password: str) -> str:
        """Return a token for a bot's replies.

        Raises:
            ChannelUnavailableError: the password is not that bot's.
        """
        if self.passwords.get(app_id) != password:
            raise ChannelUnavailableError("the server of tokens answered 401")
        self.granted.append(app_id)
        return f"token of {app_id}"

    async def _metadata(self, request: web.Request) -> web.Response:
        self.downloads += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(self.hurry.wait(), self.delay_seconds)
        keys_url = self.keys_url or str(self.server.make_url("/keys"))
        return web.json_response({"jwks_uri": keys_url}, status=self.status)

    async def _keys(self, request: web.Request) -> web.Response:
        keys = [key_row(one, endorsements=_ENDORSEMENTS.get(one)) for one in self.published]
        return web.json_response({"keys": keys})
