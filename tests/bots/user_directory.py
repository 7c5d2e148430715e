"""Where users sign in, on loopback: a directory that acts for them, and the token service."""

from base64 import b64decode
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from bots.token_service import SignInConfig
from data_models.clock import Clock
from services.access.access_factory import on_behalf_for
from services.access.on_behalf import OnBehalf
from settings import Settings
from tests.basis import basis_of
from tests.given_settings import given_settings
from tests.services.access.directory import TENANT, USER, Directory

APP_ID = "99999999-8888-7777-6666-555555555555"
SECRET = "app~secret"
CONNECTION = "rounds-sso"
GRAPH = "https://graph.microsoft.com/.default"
ADA = f"entra:{TENANT}:{USER}"
CONSENT = {
    "error": "invalid_grant",
    "error_codes": [65001],
    "suberror": "consent_required",
    "error_description": "AADSTS65001: the user has not consented",
}


class UserDirectory(Directory):
    """Signs users' tokens, exchanges them, and is the Bot Framework's token service as well."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(now=clock.now())
        self.exchanges: list[dict[str, str]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refusals: list[tuple[int, dict[str, Any]]] = []
        self.seconds = 3_600.0
        self.codes: dict[str, str] = {}
        self.signed_in: str | None = None
        self.is_down = False
        router = self.server.app.router
        router.add_post("/{tenant}/oauth2/v2.0/token", self._exchange)
        router.add_get("/api/usertoken/GetToken", self._get_token)
        router.add_get("/api/botsignin/GetSignInResource", self._resource)

    @property
    def origin(self) -> str:
        return str(self.server.make_url("/")).rstrip("/")

    @property
    def config(self) -> SignInConfig:
        return SignInConfig(connection=CONNECTION, url=self.origin, app_id=APP_ID)

    def proof(self, **changes: Any) -> str:
        """Return a user's token for the bot's application, but for `changes`."""
        usual = {"iss": f"{self.origin}/{TENANT}/v2.0", "aud": f"api://botid-{APP_ID}"}
        return self.token(**{**usual, **changes})

    def settings(self, **more: Any) -> Settings:
        """Return what an operator sets for it."""
        values: dict[str, Any] = {
            "MicrosoftAppId": APP_ID,
            "MicrosoftAppPassword": SECRET,
            "MicrosoftAppTenantId": TENANT,
            "BOT_SIGN_IN_CONNECTION": CONNECTION,
            "BOT_TOKEN_SERVICE_URL": self.origin,
            "ENTRA_AUTHORITY": self.origin,
            "ASSISTANT_BACKEND": "graph",
            "GRAPH_ON_BEHALF": "true",
        }
        return given_settings(**{**values, **more})

    def on_behalf(self, *, session: aiohttp.ClientSession, clock: Clock, **more: Any) -> OnBehalf:
        """Return what the server makes of those settings."""
        found = on_behalf_for(basis_of(self.settings(**more), session, clock=clock))
        assert found is not None
        return found

    async def _exchange(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.exchanges.append({"path": request.path, **form})
        if self.refusals:
            status, body = self.refusals.pop(0)
            return web.json_response(body, status=status)
        number = len(self.exchanges)
        return web.json_response(
            {"token_type": "Bearer", "access_token": f"ada-{number}", "expires_in": self.seconds}
        )

    async def _get_token(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, dict(request.query)))
        if self.is_down:
            return web.json_response({}, status=503)
        code = request.query.get("code")
        token = self.signed_in if code is None else self.codes.pop(code, None)
        if token is None:
            return web.json_response({}, status=404)
        return web.json_response({"connectionName": CONNECTION, "token": token})

    async def _resource(self, request: web.Request) -> web.Response:
        state = orjson.loads(b64decode(request.query["state"]))
        self.asked.append((request.path, state))
        if self.is_down:
            return web.json_response({}, status=503)
        exchange = {"id": "exchange-1", "uri": f"api://botid-{APP_ID}", "providerId": "p"}
        link = f"{self.origin}/signin"
        return web.json_response({"signInLink": link, "tokenExchangeResource": exchange})
