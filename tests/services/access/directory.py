"""A small Entra ID on loopback: real keys, real tokens, real HTTP."""

import asyncio
import json
from datetime import datetime
from typing import Any

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.keys import rsa_key

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
        claims = {name: value for name, value in claims.items() if value is not None}
        headers = {"kid": key} | (header or {})
        if alg == "none":
            return jwt.encode(claims, "", algorithm=alg, headers=headers)
        secret = rsa_key(key) if alg.startswith("RS") else "k" * 32
        return jwt.encode(claims, secret, algorithm=alg, headers=headers)

    async def _keys(self, request: web.Request) -> web.Response:
        self.downloads += 1
        await asyncio.sleep(self.delay_seconds)
        rows = [self._row(name) for name in self.published]
        return web.json_response({"keys": rows}, status=self.status)

    def _row(self, name: str) -> dict[str, Any]:
        row: dict[str, Any] = json.loads(
            jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key(name).public_key())
        )
        return row | {"kid": name, "use": "sig", "issuer": self.key_issuer}
