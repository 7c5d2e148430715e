"""A small Entra ID on loopback: real keys, real tokens, real HTTP."""

import asyncio
from datetime import datetime
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.keys import key_row, signed

TENANT = "11111111-2222-3333-4444-555555555555"
AUDIENCE = "api://rounds"
USER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
AUTHORITY = "https://login.example"
PATH = f"/{TENANT}/discovery/v2.0/keys"


class Directory:
    """Signs tokens and serves the keys they are signed with."""

    def __init__(self, *, now: datetime) -> None:
        self._now = now
        self.published = ["one"]
        self.downloads = 0
        self.status = 200
        self.delay_seconds = 0.0
        self.key_issuer: str | None = None
        app = web.Application()
        app.router.add_get(PATH, self._keys)
        self.server = TestServer(app)

    @property
    def url(self) -> str:
        return str(self.server.make_url(PATH))

    def token(
        self,
        *,
        key: str = "one",
        alg: str = "RS256",
        header: dict[str, Any] | None = None,
        **changes: Any,
    ) -> str:
        """Return a good token, but for `changes`; a claim changed to None is left out."""
        claims = {
            "iss": f"{AUTHORITY}/{TENANT}/v2.0",
            "aud": AUDIENCE,
            "exp": int(self._now.timestamp()) + 3_600,
            "nbf": int(self._now.timestamp()),
            "tid": TENANT,
            "oid": USER,
            "scp": "openid access_as_user",
            "name": "Ada",
        } | changes
        return signed(claims, key=key, alg=alg, **(header or {}))

    async def _keys(self, request: web.Request) -> web.Response:
        self.downloads += 1
        await asyncio.sleep(self.delay_seconds)
        rows = [key_row(name, issuer=self.key_issuer) for name in self.published]
        return web.json_response({"keys": rows}, status=self.status)
