"""An OpenID provider as its clients meet it: discovery, codes and refresh for tokens, claims."""

import hashlib
import hmac
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self
from urllib.parse import quote_plus, urlencode

import aiohttp
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import BaseModel, Field

from data_models.clock import Clock
from data_models.errors import SignInUnavailableError, UnauthenticatedError
from data_models.http_answers import Bounds, Refusal, ask, fetch
from data_models.values import read_value
from services.access.signing_keys import SigningKeys, download_keys, read_form, verified_claims

LOGIN_SECONDS = 600
"""How long a user may take at the provider's page."""


class Begun(BaseModel):
    """A sign-in that has begun.

    Attributes:
        issuer: Where the user is; "" where there is one place only.
    """

    issuer: str = ""
    state: str
    nonce: str
    verifier: str

    @classmethod
    def draw(cls, *, issuer: str = "") -> Self:
        """Return one that nobody can guess."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(issuer=issuer, state=state, nonce=nonce, verifier=verifier)


class BrowserSeal:
    """Encrypts what browsers keep for one purpose.

    Args:
        secret: The client's.
    """

    def __init__(self, *, secret: str, purpose: bytes, clock: Clock) -> None:
        self._fernet = Fernet(derived_key(secret.encode(), salt=b"", purpose=purpose))
        self._clock = clock

    def seal(self, text: str) -> str:
        """Return `text` for a browser to keep; it can be opened for some time from now."""
        return self._fernet.encrypt_at_time(text.encode(), self._seconds()).decode()

    def open(self, sealed: str, *, seconds: int) -> str:
        """Return what was sealed at most `seconds` ago.

        Raises:
            UnauthenticatedError: it was not sealed here, or longer ago.
        """
        try:
            return self._fernet.decrypt_at_time(sealed, seconds, self._seconds()).decode()
        except (InvalidToken, UnicodeError):
            raise UnauthenticatedError from None

    def begun(self, kept: str, *, state: str) -> Begun:
        """Return the sign-in that this browser began, of which `state` came back.

        Raises:
            UnauthenticatedError: it began none, not this one, or longer ago than `LOGIN_SECONDS`.
        """
        opened = self.open(kept, seconds=LOGIN_SECONDS)
        found = read_value(opened, Begun, refusal=UnauthenticatedError())
        if not hmac.compare_digest(found.state.encode(), state.encode(errors="surrogatepass")):
            raise UnauthenticatedError
        return found

    def _seconds(self) -> int:
        return int(self._clock.now().timestamp())


def derived_key(secret: bytes, *, salt: bytes, purpose: bytes) -> bytes:
    """Return a Fernet key for one purpose."""
    kdf = HKDF(algorithm=SHA256(), length=32, salt=salt, info=purpose)
    return urlsafe_b64encode(kdf.derive(secret))


DISCOVERY_SECONDS = 24 * 3_600.0
_BOUNDS = Bounds(8.0, 1_000_000)
_UNAVAILABLE = Refusal(SignInUnavailableError, "the provider")


class Endpoints(BaseModel):
    """What the provider says of itself, as far as it matters here."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str | None = None
    scopes_supported: list[str] = []
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


class Tokens(BaseModel, populate_by_name=True, hide_input_in_errors=True):
    """What a grant brings; a refresh may leave out what stays as it was.

    Attributes:
        patient: Id of the Patient whose chart the user has open, where a record system says so.
        encounter: Likewise of the Encounter that is open there.
        expires_in: Seconds for which the access token is good.
        hub_url: Where a record system tells who is open there (FHIRcast), and `hub_topic` in
            which of its sessions.
    """

    id_token: str | None = None
    access_token: str | None = None
    refresh_token: str | None = None
    patient: str | None = None
    encounter: str | None = None
    expires_in: float | None = None
    hub_url: str | None = Field(default=None, alias="hub.url")
    hub_topic: str | None = Field(default=None, alias="hub.topic")


@dataclass(slots=True, kw_only=True)
class OidcProvider:
    """One provider, for one client that it knows by id and secret.

    Attributes:
        issuer: Exactly as the provider writes it in its tokens; with `is_smart` the address of a
            FHIR server, which says by itself who signs its tokens.
        client_secret: None for a client that has none; PKCE alone ties a code to it then.
        session: Reaches only hosts that may be called, and follows no redirect.
    """

    issuer: str
    client_id: str
    client_secret: str | None
    session: aiohttp.ClientSession
    clock: Clock
    is_smart: bool = False
    _endpoints: Endpoints | None = field(default=None, init=False)
    _keys: SigningKeys | None = field(default=None, init=False)
    _found_at: float = field(default_factory=lambda: float("-inf"), init=False)

    async def sign_in_url(
        self, begun: Begun, *, redirect_uri: str, more: Mapping[str, str] | None = None
    ) -> str:
        """Return where the browser signs its user in; `more` is asked too, or instead.

        Raises:
            SignInUnavailableError: the provider says nothing usable of itself.
        """
        found = await self._discover()
        offline = ["offline_access"] if "offline_access" in found.scopes_supported else []
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(["openid", "profile", *offline]),
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge_of(begun.verifier),
            "code_challenge_method": "S256",
        } | dict(more or {})
        return _with_query(found.authorization_endpoint, asked)

    async def sign_out_url(self, *, back: str) -> str | None:
        """Return where the browser signs its user out of the provider too, if it says so."""
        found = await self._discover()
        if found.end_session_endpoint is None:
            return None
        asked = {"client_id": self.client_id, "post_logout_redirect_uri": back}
        return _with_query(found.end_session_endpoint, asked)

    async def redeem(self, *, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Return the tokens for `code`.

        Raises:
            UnauthenticatedError: the provider refuses the code.
            SignInUnavailableError: it does not answer.
        """
        return await self._grant(
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_uri,
                "code_verifier": verifier,
            }
        )

    async def refresh(self, refresh_token: str) -> Tokens:
        """Return new tokens; raises as `redeem` does."""
        return await self._grant({"grant_type": "refresh_token", "refresh_token": refresh_token})

    async def claims_of(self, id_token: str | None, *, nonce: str | None) -> dict[str, Any]:
        """Return the verified claims of `id_token`.

        Args:
            id_token: As the token endpoint gave it.
            nonce: The one that the sign-in began with; None for a refresh, which has none.

        Raises:
            UnauthenticatedError: it is not this provider's, not for this client, not its time,
                or of another sign-in.
            SignInUnavailableError: the provider's keys are not known at the moment.
        """
        form = read_form(id_token or "", now=self.clock.now())
        await self._discover()
        if self._keys is None or self._endpoints is None:
            raise SignInUnavailableError("the provider's keys are not known")
        key = await self._keys.find(form.key_id)
        claims = verified_claims(
            id_token or "",
            key.key,
            audience=self.client_id,
            issuer=self._endpoints.issuer,
            also=("sub",),
        )
        others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (others or "azp" in claims) and claims.get("azp") != self.client_id:
            raise UnauthenticatedError
        if nonce is not None and claims.get("nonce") != nonce:
            raise UnauthenticatedError
        if not isinstance(claims["sub"], str) or not claims["sub"].strip():
            raise UnauthenticatedError
        return claims

    async def _discover(self) -> Endpoints:
        fresh = self.clock.monotonic() - self._found_at < DISCOVERY_SECONDS
        if self._endpoints is not None and fresh:
            return self._endpoints
        says = "smart-configuration" if self.is_smart else "openid-configuration"
        url = f"{self.issuer.rstrip('/')}/.well-known/{says}"
        data = await fetch(self.session, "GET", url, _BOUNDS, refusal=_UNAVAILABLE)
        found = read_value(data, Endpoints, refusal=_UNAVAILABLE("says nothing usable"))
        if found.issuer != self.issuer and not self.is_smart:
            raise SignInUnavailableError("OIDC_ISSUER is not what the provider calls itself")
        download = partial(download_keys, self.session, found.jwks_uri)
        self._keys = SigningKeys(download=download, clock=self.clock)
        self._endpoints, self._found_at = found, self.clock.monotonic()
        return found

    async def _grant(self, form: dict[str, str]) -> Tokens:
        found = await self._discover()
        headers = {"Accept": "application/json"}
        if self.client_secret is None:
            form = form | {"client_id": self.client_id}
        elif "client_secret_basic" in found.token_endpoint_auth_methods_supported:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form = form | {"client_id": self.client_id, "client_secret": self.client_secret}
        try:
            answer = await ask(
                self.session, "POST", found.token_endpoint, _BOUNDS, data=form, headers=headers
            )
        except (aiohttp.ClientError, TimeoutError):
            # Not `from error`: it may hold the request, and so a secret.
            raise _UNAVAILABLE("did not answer") from None
        if answer.status == 400:
            raise UnauthenticatedError
        if answer.status != 200:
            raise _UNAVAILABLE(f"answered {answer.status}")
        return read_value(answer.body, Tokens, refusal=_UNAVAILABLE("gives no tokens as expected"))


def challenge_of(verifier: str) -> str:
    """Return the PKCE challenge (S256) of `verifier`."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _with_query(url: str, asked: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}"
