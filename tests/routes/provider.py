"""An OpenID provider on loopback that checks what its clients send, as real ones do."""

import secrets
from base64 import b64decode
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.clock import Clock
from services.access.sign_in.oidc_provider import challenge_of
from tests.keys import key_row, signed

CLIENT, SECRET = "rounds client", "s€cret: with/signs"


@dataclass
class _Code:
    challenge: str
    nonce: str
    redirect_uri: str


class Provider:
    """Signs in whoever is sent to it, with `claims`; every code and refresh token serves once.

    Attributes:
        claims: Put into each ID token; None leaves a claim out.
        forged: Sign with a key that is not published.
        refreshable: Whether refresh tokens are given and taken.
        is_public: Whether the client has no secret.
        up: Otherwise the token endpoint answers 503.
    """

    def __init__(self, *, clock: Clock, redirect_uri: str) -> None:
        self._clock = clock
        self._redirect_uri = redirect_uri
        self._codes: dict[str, _Code] = {}
        self._refresh: set[str] = set()
        self.claims: dict[str, Any] = {}
        self.forged = False
        self.refreshable = True
        self.up = True
        self.is_public = False
        self.refreshes = 0
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._configuration)
        app.router.add_get("/keys", self._keys)
        app.router.add_post("/token", self._token)
        self.server = TestServer(app)

    @property
    def issuer(self) -> str:
        """As it calls itself."""
        return str(self.server.make_url("")).rstrip("/")

    def sign_in(self, url: str) -> dict[str, str]:
        """Do what a user does at `url`; return the query that the browser comes back with."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(f"{self.issuer}/authorize?")
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["redirect_uri"] == self._redirect_uri
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self._codes[code] = _Code(asked["code_challenge"], asked["nonce"], asked["redirect_uri"])
        return {"state": asked["state"], "code": code}

    async def _configuration(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "end_session_endpoint": f"{self.issuer}/end",
                "scopes_supported": ["openid", "profile", "offline_access"],
            }
        )

    async def _keys(self, _: web.Request) -> web.Response:
        return web.json_response({"keys": [key_row("one")]})

    async def _token(self, request: web.Request) -> web.Response:
        if not self.up:
            return web.Response(status=503)
        form = {name: str(value) for name, value in (await request.post()).items()}
        if not self._knows(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        nonce = self._nonce_of(form)
        if nonce is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(self._tokens(nonce))

    def _knows(self, request: web.Request, form: dict[str, str]) -> bool:
        if self.is_public:
            return form.get("client_id") == CLIENT and "Authorization" not in request.headers
        scheme, _, pair = request.headers.get("Authorization", "").partition(" ")
        name, _, secret = b64decode(pair).decode().partition(":")
        return (scheme, unquote_plus(name), unquote_plus(secret)) == ("Basic", CLIENT, SECRET)

    def _nonce_of(self, form: dict[str, str]) -> str | None:
        """Return the nonce of a grant that holds, empty for a refresh, None if it does not."""
        if form.get("grant_type") == "refresh_token":
            self.refreshes += 1
            known = form["refresh_token"] in self._refresh and self.refreshable
            self._refresh.discard(form["refresh_token"])
            return "" if known else None
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or form.get("redirect_uri") != code.redirect_uri:
            return None
        is_holder = challenge_of(form.get("code_verifier", "")) == code.challenge
        return code.nonce if is_holder else None

    def _tokens(self, nonce: str) -> dict[str, str]:
        refresh = secrets.token_urlsafe(16)
        self._refresh.add(refresh)
        now = int(self._clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "ada",
            "name": "Ada",
            "iat": now,
            "exp": now + 3_600,
        } | ({"nonce": nonce} if nonce else {})
        token = signed(claims | self.claims, key="two" if self.forged else "one", kid="one")
        return {"id_token": token, "access_token": "at-secret", "refresh_token": refresh}


def query_of(answer: dict[str, str]) -> str:
    """Return `answer` as a query string."""
    return urlencode(answer)
